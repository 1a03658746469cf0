//! Asks the fold what an effort says to a hook. A verdict fails open: if no effort applies, or if the verdict takes too long, the hook
//! prints nothing and the tool call continues.

use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use flightdeck_core::effort::exempt::is_exempt;
use flightdeck_core::effort::{
    Carries, CarriesFiles, EffortChange, GivenByVerdict, HookQuestion, HookVerdict, Judged,
};
use flightdeck_core::ids::SessionId;
use flightdeck_core::log::effort_facts::EffortFacts;
use flightdeck_core::log::hook_question::hook_question;
use flightdeck_core::log::record::{Record, Source};
use flightdeck_core::wire::lenient::{borrowed_text, object};

use super::App;
use super::real_dirs::FOUND_WITHIN;
use crate::clock;
use crate::engine::{NotStored, Stopped};
use crate::ingest::PrepareHook;
use crate::skills::directives::SearchRoot;
use crate::store::Appended;

/// Longest wait for the verdict of the fold.
const JUDGED_WITHIN: Duration = Duration::from_millis(15);
/// Longest wait for the contents of files. If the disk is slower, the verdict names the files and leaves their contents out.
const DISK_WITHIN: Duration = Duration::from_millis(10);
/// Longest time for a whole verdict after the event is stored. Together with the lookup before it, the hook needs less than 50 ms.
const ANSWERED_WITHIN: Duration = Duration::from_millis(35);
const _: () =
    assert!(FOUND_WITHIN.as_millis() + ANSWERED_WITHIN.as_millis() < flightdeck_hook::ACK_WITHIN.as_millis());

/// A verdict that is about to be written to the hook. It is recorded in the log after the hook has received it. If the hook gave up waiting
/// or the daemon crashed before that, the next hook gets the verdict again.
#[derive(Debug)]
pub struct EffortVerdict {
    /// What the hook prints.
    pub json: Vec<u8>,
    given: GivenByVerdict,
    session_id: SessionId,
}

/// The result of asking for a verdict.
#[derive(Debug, Default)]
pub(super) struct AnsweredHook {
    /// What the effort says, if one applies.
    pub judged: Option<Judged>,
    pub verdict: Option<EffortVerdict>,
    /// The files in it whose text is in the verdict.
    pub files: Vec<PlacedFile>,
}

/// A file that the agent is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlacedFile {
    /// The path of the file as the effort names it.
    pub file: String,
    /// The content of the file, or the request to read the file.
    pub text: String,
}

impl PrepareHook for App {
    fn prepare<'a>(&'a self, record: &'a mut Record) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(self.prepare_for_efforts(record))
    }
}

impl App {
    /// Adds what efforts need to a hook's record. Does nothing while no effort is active.
    pub(super) async fn prepare_for_efforts(&self, record: &mut Record) {
        if !self.engine.has_efforts() {
            return;
        }
        let named = record.envelope.project_dir.clone();
        let dir = named.or_else(|| borrowed_text(&record.payload, "cwd").map(str::to_owned));
        if let Some(dir) = dir {
            let real = self.real_dirs.find(&dir).await;
            record.envelope.dir_unknown = real.is_none();
            record.envelope.real_dir = real.filter(|real| *real != dir);
        }
        record.envelope.exempt = self.is_exempt(record);
    }

    fn is_exempt(&self, record: &Record) -> bool {
        let p = &record.payload;
        if record.name != "PreToolUse" || borrowed_text(p, "tool_name") != Some("Bash") {
            return false;
        }
        let command = object(p, "tool_input").and_then(|input| borrowed_text(input, "command"));
        let exempt = self.exempt_commands();
        command.is_some_and(|command| is_exempt(command, self.registrar.program(), &exempt))
    }

    /// The question of a hook that waits for a verdict. `None` while no effort is active.
    pub(super) fn question(&self, record: &Record) -> Option<HookQuestion> {
        if !self.engine.has_efforts() {
            return None;
        }
        hook_question(record, &self.registrar.command_for_agents())
    }

    /// Appends the event of a hook, and answers the hook if that is possible in time.
    pub(super) async fn append_and_answer(
        &self,
        record: Record,
        question: HookQuestion,
    ) -> Result<(Vec<Appended>, AnsweredHook), NotStored> {
        let (session_id, carries) = (question.session_id.clone(), question.carries);
        match touched_file(&record) {
            None => {
                let (appended, verdict) = self.engine.append_and_judge(record, question).await?;
                let answer = self.answer(verdict.given(), carries, &session_id);
                Ok((appended, in_time(answer, &session_id).await))
            }
            // Directives around the file are looked for once the event is stored. The verdict contains them.
            Some(file) => {
                let appended = self.engine.append(vec![record]).await?;
                let answer = async {
                    self.find_directives(&session_id, file).await;
                    self.answer(self.engine.judge(question), carries, &session_id).await
                };
                Ok((appended, in_time(answer, &session_id).await))
            }
        }
    }

    async fn answer(
        &self,
        judged: impl Future<Output = Result<Option<Judged>, Stopped>>,
        carries: Carries,
        session_id: &SessionId,
    ) -> AnsweredHook {
        match tokio::time::timeout(JUDGED_WITHIN, judged).await {
            Ok(Ok(Some(judged))) => self.write_verdict(judged, carries, session_id.clone()).await,
            Ok(_) => AnsweredHook::default(),
            Err(_) => {
                tracing::warn!(session = %session_id, "a verdict was late; the call is allowed");
                AnsweredHook::default()
            }
        }
    }

    async fn write_verdict(
        &self,
        mut judged: Judged,
        carries: Carries,
        session_id: SessionId,
    ) -> AnsweredHook {
        let mut files = Vec::new();
        if carries.files == CarriesFiles::ByContent && !judged.verdict.files.is_empty() {
            let dir = self.workstream_of(&judged).await;
            files = self.place_files(dir, &mut judged.verdict).await;
            let placed: Vec<String> = files.iter().map(|placed| placed.file.clone()).collect();
            judged.keep_files(&placed);
        }
        let json = judged.verdict.to_json(judged.event.as_str());
        let json = json.and_then(|json| serde_json::to_vec(&json).ok());
        let verdict = json.map(|json| EffortVerdict { json, given: judged.given.clone(), session_id });
        AnsweredHook { judged: Some(judged), verdict, files }
    }

    async fn workstream_of(&self, judged: &Judged) -> Option<String> {
        let id = judged.effort.clone();
        let read = self.engine.read(move |fleet| fleet.effort(&id).map(|effort| effort.workstream.clone()));
        read.await.ok().flatten()
    }

    /// Records in the log what the hook received. Called after the hook has received it.
    pub async fn note_verdict(&self, verdict: EffortVerdict) {
        let EffortVerdict { given, session_id, .. } = verdict;
        if let Err(error) = self.note_given(session_id, given).await {
            tracing::warn!(%error, "could not record the verdict that an agent got; the agent gets it again");
        }
    }

    pub(super) async fn note_given(
        &self,
        session_id: SessionId,
        given: GivenByVerdict,
    ) -> Result<(), NotStored> {
        if !given.is_worth_noting() {
            return Ok(());
        }
        let Some((name, payload)) = EffortChange::VerdictGiven(given).into_record() else { return Ok(()) };
        let record = Record::noticed_here(Source::User, &name, &session_id, payload, clock::fresh_id());
        self.engine.append(vec![record]).await.map(drop)
    }
}

impl App {
    /// Adds files to the verdict: with their contents while there is room, the others by name only. Returns the files that were added.
    async fn place_files(&self, dir: Option<String>, verdict: &mut HookVerdict) -> Vec<PlacedFile> {
        let dir = PathBuf::from(dir.unwrap_or_default());
        let files = std::mem::take(&mut verdict.files);
        let paths: Vec<PathBuf> = files.iter().map(|file| dir.join(file)).collect();
        let root = SearchRoot::ProjectOf(dir);
        let read = tokio::time::timeout(DISK_WITHIN, self.files.read_texts(root, paths.clone())).await;
        let mut contents = read.unwrap_or_default();
        contents.resize(paths.len(), None);
        let names: Vec<String> =
            paths.iter().map(|path| format!("Read {} now and follow it.", path.display())).collect();
        let mut placed = Vec::new();
        for (n, (file, content)) in files.into_iter().zip(contents).enumerate() {
            // The content of one file must leave room for the names of the files after it.
            let after: usize = names.iter().skip(n + 1).map(|name| name.chars().count() + 2).sum();
            let whole = content.map(|content| format!("{}:\n{}", paths[n].display(), content.trim_end()));
            let text = whole.filter(|whole| whole.chars().count() + after <= verdict.room());
            let text = text.unwrap_or_else(|| names[n].clone());
            if verdict.push(text.clone()) {
                placed.push(PlacedFile { file, text });
            }
        }
        placed
    }
}

/// The answer to a hook whose event is stored, unless it takes too long.
async fn in_time(answer: impl Future<Output = AnsweredHook>, session_id: &SessionId) -> AnsweredHook {
    tokio::time::timeout(ANSWERED_WITHIN, answer).await.unwrap_or_else(|_| {
        tracing::warn!(session = %session_id, "a verdict took too long; the call is allowed");
        AnsweredHook::default()
    })
}

/// The file that a call read or changed.
fn touched_file(record: &Record) -> Option<String> {
    EffortFacts::from_record(record)?.file
}
