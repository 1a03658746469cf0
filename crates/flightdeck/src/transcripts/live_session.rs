//! The transcripts of one live session: the read positions, and how to read one step further. Uses no clock and no channels.

use flightdeck_core::ids::{AgentId, SessionId};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flightdeck_core::usage::enrichment::{CountedMessage, Enrichment, TranscriptFile, TranscriptFold};
use flightdeck_core::usage::session_files::AgentNote;

use super::agent_notes::AgentNotes;
use super::fast_scan::title;
use super::line_reader::{LineReader, ReadOutcome, ReadPosition};
use super::locate::{LocatedTranscript, born_at, subagents_folder};
use super::standalone_scan::empty_session;
use crate::store::{FileRead, SessionRead, TitledBy, TranscriptBatch};

#[derive(Debug)]
pub struct LiveSession {
    pub session_id: SessionId,
    pub main: PathBuf,
    fold: TranscriptFold,
    files: BTreeMap<PathBuf, (AgentId, ReadPosition)>,
    /// The client's notes about its subagents.
    notes: AgentNotes,
    /// The next batch replaces everything that is stored of this session.
    anew: bool,
}

/// The result of one step.
#[derive(Debug)]
pub struct ReadStep {
    pub batch: TranscriptBatch,
    /// Bytes that were read.
    pub bytes: u64,
    /// There is more to read.
    pub more: bool,
}

impl LiveSession {
    /// Resumes from the stored state. If only the costs were indexed, everything is read again for the card.
    pub fn new(session_id: &SessionId, main: &Path, stored: Option<TranscriptBatch>) -> Self {
        let known = stored.as_ref().and_then(|s| serde_json::from_str(s.known.as_deref()?).ok());
        let mut live = Self {
            session_id: session_id.to_owned(),
            main: main.to_owned(),
            fold: TranscriptFold::default(),
            files: BTreeMap::new(),
            notes: AgentNotes::default(),
            anew: known.is_none(),
        };
        if let (Some(known), Some(stored)) = (known, stored) {
            live.fold = TranscriptFold::resume(known, stored.counted);
            let place =
                |f: &FileRead| ReadPosition { dev: f.dev, inode: f.inode, read_to: f.read_to, mark: f.mark };
            live.files =
                stored.files.iter().map(|f| (f.path.clone().into(), (f.agent.clone(), place(f)))).collect();
        }
        live
    }

    pub fn known(&self) -> &Enrichment {
        self.fold.enrichment()
    }

    pub fn agent_notes(&mut self) -> BTreeMap<String, AgentNote> {
        self.notes.read(&subagents_folder(&self.main))
    }

    /// Reads new lines until `bytes_max` are read; the last chunk is read to its end. `None` if there are none.
    pub fn step(&mut self, reader: &mut LineReader, bytes_max: u64) -> io::Result<Option<ReadStep>> {
        let mut counted = BTreeMap::new();
        let mut changed = Vec::new();
        let mut bytes = 0;
        let mut more = false;
        for (path, agent) in self.transcripts() {
            let from = self.files.get(&path).map_or(ReadPosition::default(), |(_, place)| *place);
            if bytes >= bytes_max {
                more = true;
                break;
            }
            let found = match self.read(reader, &path, &agent, from, bytes_max - bytes, &mut counted) {
                // An unreadable subagent's file must not stop the others.
                Err(error) if path != self.main => {
                    tracing::warn!(%error, path = %path.display(), "could not read a subagent's transcript; it is tried again at the next change");
                    continue;
                }
                found => found?,
            };
            match found {
                // Usage that was counted stays counted: the person paid for it.
                ReadOutcome::Gone => {}
                ReadOutcome::Replaced => return self.start_again(reader, bytes_max),
                ReadOutcome::Read(place) => {
                    bytes += place.read_to - from.read_to;
                    more |= fs::metadata(&path).is_ok_and(|m| m.len() > place.read_to) && bytes >= bytes_max;
                    if place != from {
                        self.files.insert(path.clone(), (agent, place));
                        changed.push(path);
                    }
                }
            }
        }
        if changed.is_empty() {
            return Ok(None);
        }
        let batch = self.batch(&changed, counted.into_values().collect());
        self.anew = false;
        Ok(Some(ReadStep { batch, bytes, more }))
    }

    /// A file was replaced: its old lines must not count beside its new ones.
    fn start_again(&mut self, reader: &mut LineReader, bytes_max: u64) -> io::Result<Option<ReadStep>> {
        tracing::info!(
            session = %self.session_id,
            "a transcript was replaced; all transcripts of the session are read again"
        );
        self.fold = TranscriptFold::default();
        self.files.clear();
        self.anew = true;
        self.step(reader, bytes_max)
    }

    /// The main file and the file of every subagent.
    fn transcripts(&self) -> Vec<(PathBuf, AgentId)> {
        let mut all = vec![(self.main.clone(), AgentId::default())];
        let below = super::locate::list(&subagents_folder(&self.main));
        let mut agents: Vec<_> = below.into_iter().map(|l| (l.transcript.path, l.transcript.agent)).collect();
        agents.sort();
        all.append(&mut agents);
        all
    }

    fn read(
        &mut self,
        reader: &mut LineReader,
        path: &Path,
        agent: &AgentId,
        from: ReadPosition,
        budget: u64,
        counted: &mut BTreeMap<u128, CountedMessage>,
    ) -> io::Result<ReadOutcome> {
        let source = if agent.is_empty() { TranscriptFile::Main } else { TranscriptFile::Agent(agent) };
        let bytes = std::cell::Cell::new(0_u64);
        let each = |line: &[u8]| {
            bytes.set(bytes.get() + line.len() as u64 + 1);
            counted.extend(self.fold.count_line(source, line).map(|c| (c.key.0, c)));
        };
        reader.read_new_lines(path, from, each, || bytes.get() >= budget)
    }

    fn batch(&self, changed: &[PathBuf], counted: Vec<CountedMessage>) -> TranscriptBatch {
        let known = self.fold.enrichment();
        let titles = [
            (&known.custom_title, TitledBy::Person),
            (&known.ai_title, TitledBy::Model),
            (&known.first_prompt, TitledBy::FirstPrompt),
        ];
        let mut titles = titles.into_iter().filter_map(|(text, by)| Some(title(text.as_deref()?, by)));
        let nothing = empty_session(&self.session_id);
        let session = SessionRead {
            cwd: known.cwd.clone(),
            title: titles.next(),
            // The time of the first message, as in history: the session that began first owns the messages that a fork copied.
            first_at: counted.iter().map(|c| c.at).min().unwrap_or(nothing.first_at),
            born_at: fs::metadata(&self.main).map_or(nothing.born_at, |m| born_at(&m)),
            last_at: counted.iter().map(|c| c.at).max().unwrap_or_default(),
            ..nothing
        };
        TranscriptBatch {
            anew: self.anew,
            session,
            files: changed.iter().filter_map(|path| self.file_read(path)).collect(),
            known: serde_json::to_string(known).ok(),
            counted,
        }
    }

    fn file_read(&self, path: &Path) -> Option<FileRead> {
        let (agent, place) = self.files.get(path)?;
        Some(FileRead {
            path: path.to_str()?.to_owned(),
            session_id: self.session_id.clone(),
            agent: agent.clone(),
            dev: place.dev,
            inode: place.inode,
            read_to: place.read_to,
            mark: place.mark,
        })
    }
}

/// The session that a path belongs to, if it is that of a transcript.
pub fn session_id_of(path: &Path) -> Option<SessionId> {
    LocatedTranscript::from_path(path).map(|t| t.session_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel refuses to read the file in this test, even to root.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_unreadable_file_of_a_subagent_does_not_stop_the_session() {
        let folder = tempfile::tempdir().unwrap();
        let main = folder.path().join("s.jsonl");
        fs::write(&main, "{\"type\":\"ai-title\",\"aiTitle\":\"Mine\"}\n").unwrap();
        let subagents = subagents_folder(&main);
        fs::create_dir_all(&subagents).unwrap();
        let unreadable = Path::new("/sys/bus/platform/uevent");
        assert!(unreadable.is_file() && fs::read(unreadable).is_err());
        std::os::unix::fs::symlink(unreadable, subagents.join("agent-a.jsonl")).unwrap();
        fs::write(subagents.join("agent-b.jsonl"), "{}\n").unwrap();
        let mut live = LiveSession::new(&"s".into(), &main, None);
        let step = live.step(&mut LineReader::default(), u64::MAX).unwrap().unwrap();
        let read: Vec<_> = step.batch.files.iter().map(|f| f.agent.as_str()).collect();
        assert_eq!((read, live.known().ai_title.as_deref()), (vec!["", "b"], Some("Mine")));
    }
}
