//! One live session's transcripts: where reading stands, and one step further. No clock and no channels in here.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flightdeck_core::enrichment::{Counted, Enrichment, Fold, From};

use super::direct::unknown;
use super::file::{Found, Place, Reader};
use super::gather::title;
use super::names::{Transcript, born_at, subagents_of};
use crate::store::{FileRead, SessionRead, TitledBy, TranscriptBatch};

/// Bytes read before what was found is stored: a large file is read in steps, in bounded memory.
const STEP_BYTES: u64 = 32 * 1024 * 1024;

#[derive(Debug)]
pub struct Live {
    pub session_id: String,
    pub main: PathBuf,
    fold: Fold,
    files: BTreeMap<PathBuf, (String, Place)>,
    /// Nothing of it is stored yet, or what is stored is not what it is now.
    anew: bool,
}

/// What one step found.
#[derive(Debug)]
pub struct Step {
    pub batch: TranscriptBatch,
    /// There is more to read.
    pub more: bool,
}

impl Live {
    /// Goes on from what the store remembers. Where only the costs were read, everything is read again for the card.
    pub fn new(session_id: &str, main: &Path, stored: Option<TranscriptBatch>) -> Self {
        let known = stored.as_ref().and_then(|s| serde_json::from_str(s.known.as_deref()?).ok());
        let mut live = Self {
            session_id: session_id.to_owned(),
            main: main.to_owned(),
            fold: Fold::default(),
            files: BTreeMap::new(),
            anew: known.is_none(),
        };
        if let (Some(known), Some(stored)) = (known, stored) {
            live.fold = Fold::resume(known, stored.counted);
            let place = |f: &FileRead| Place { dev: f.dev, inode: f.inode, read_to: f.read_to, mark: f.mark };
            live.files =
                stored.files.iter().map(|f| (f.path.clone().into(), (f.agent.clone(), place(f)))).collect();
        }
        live
    }

    pub fn known(&self) -> &Enrichment {
        self.fold.known()
    }

    /// Reads what is new, up to a bound. `None` if there is nothing.
    pub fn step(&mut self, reader: &mut Reader) -> io::Result<Option<Step>> {
        let mut counted = BTreeMap::new();
        let mut changed = Vec::new();
        let mut budget = STEP_BYTES;
        let mut more = false;
        for (path, agent) in self.transcripts() {
            let from = self.files.get(&path).map_or(Place::default(), |(_, place)| *place);
            if budget == 0 {
                more = true;
                break;
            }
            let found = match self.read(reader, &path, &agent, from, budget, &mut counted) {
                // One subagent's file must not stop the session's own.
                Err(error) if path != self.main => {
                    tracing::warn!(%error, path = %path.display(), "a subagent's transcript cannot be read now");
                    continue;
                }
                found => found?,
            };
            match found {
                // What was counted stays counted: the person paid for it.
                Found::Gone => {}
                Found::Replaced => return self.start_again(reader),
                Found::Read(place) => {
                    let read = place.read_to - from.read_to;
                    budget = budget.saturating_sub(read);
                    more |= fs::metadata(&path).is_ok_and(|m| m.len() > place.read_to) && budget == 0;
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
        Ok(Some(Step { batch, more }))
    }

    /// A file is not what it was: its old lines must not count beside its new ones.
    fn start_again(&mut self, reader: &mut Reader) -> io::Result<Option<Step>> {
        tracing::info!(session = self.session_id, "a transcript was written anew and is read again");
        self.fold = Fold::default();
        self.files.clear();
        self.anew = true;
        self.step(reader)
    }

    /// The main file and every subagent's that is there now.
    fn transcripts(&self) -> Vec<(PathBuf, String)> {
        let mut all = vec![(self.main.clone(), String::new())];
        let below = super::names::list(&subagents_of(&self.main));
        let mut agents: Vec<_> = below.into_iter().map(|l| (l.transcript.path, l.transcript.agent)).collect();
        agents.sort();
        all.append(&mut agents);
        all
    }

    fn read(
        &mut self,
        reader: &mut Reader,
        path: &Path,
        agent: &str,
        from: Place,
        budget: u64,
        counted: &mut BTreeMap<u128, Counted>,
    ) -> io::Result<Found> {
        let source = if agent.is_empty() { From::Main } else { From::Agent(agent) };
        let bytes = std::cell::Cell::new(0_u64);
        let each = |line: &[u8]| {
            bytes.set(bytes.get() + line.len() as u64 + 1);
            counted.extend(self.fold.take(source, line).map(|c| (c.key.0, c)));
        };
        reader.read_on(path, from, each, || bytes.get() >= budget)
    }

    fn batch(&self, changed: &[PathBuf], counted: Vec<Counted>) -> TranscriptBatch {
        let known = self.fold.known();
        let titles = [
            (&known.custom_title, TitledBy::Person),
            (&known.ai_title, TitledBy::Model),
            (&known.first_prompt, TitledBy::FirstPrompt),
        ];
        let mut titles = titles.into_iter().filter_map(|(text, by)| Some(title(text.as_deref()?, by)));
        let nothing = unknown(&self.session_id);
        let session = SessionRead {
            cwd: known.cwd.clone(),
            title: titles.next(),
            // By its messages, as history counts: who began first owns what a fork copied.
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

/// Whether a hint about `path` is about a session's transcripts.
pub fn session_of(path: &Path) -> Option<String> {
    Transcript::of(path).map(|t| t.session_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel lets nobody read it, not even root.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_unreadable_file_of_a_subagent_does_not_stop_the_session() {
        let folder = tempfile::tempdir().unwrap();
        let main = folder.path().join("s.jsonl");
        fs::write(&main, "{\"type\":\"ai-title\",\"aiTitle\":\"Mine\"}\n").unwrap();
        let subagents = subagents_of(&main);
        fs::create_dir_all(&subagents).unwrap();
        let unreadable = Path::new("/sys/bus/platform/uevent");
        assert!(unreadable.is_file() && fs::read(unreadable).is_err());
        std::os::unix::fs::symlink(unreadable, subagents.join("agent-a.jsonl")).unwrap();
        fs::write(subagents.join("agent-b.jsonl"), "{}\n").unwrap();
        let mut live = Live::new("s", &main, None);
        let step = live.step(&mut Reader::default()).unwrap().unwrap();
        let read: Vec<_> = step.batch.files.iter().map(|f| f.agent.as_str()).collect();
        assert_eq!((read, live.known().ai_title.as_deref()), (vec!["", "b"], Some("Mine")));
    }
}
