//! Finds sessions that neither a hook nor the registry reported (an old client, a container): their transcript grows. A copied
//! or restored file also changes, but has no line of the last minute.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use flightdeck_core::limits::QUIET_AFTER;
use flightdeck_core::time::Timestamp;

use super::locate::LocatedTranscript;

/// Most files that wait to be checked: a restored backup touches thousands, and none of them is a live session.
const WAITING_MAX: usize = 256;
/// Bytes at the end of a file in which its newest timestamp is searched.
const END_BYTES: u64 = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct UnhookedSessions {
    due: BTreeMap<PathBuf, Instant>,
}

impl UnhookedSessions {
    /// A transcript that is not followed changed. Only a main transcript counts; older clients wrote a subagent's beside it.
    pub(super) fn note_change(&mut self, path: &Path, at: Instant) {
        let main = LocatedTranscript::from_path(path)
            .is_some_and(|t| t.agent.is_empty() && !t.session_id.starts_with("agent-"));
        if main && self.due.len() < WAITING_MAX {
            self.due.entry(path.to_owned()).or_insert(at);
        }
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.values().min().copied()
    }

    pub(super) fn take_due(&mut self, now: Instant) -> Vec<PathBuf> {
        let ready: Vec<_> = self.due.iter().filter(|(_, at)| **at <= now).map(|(p, _)| p.clone()).collect();
        ready.iter().for_each(|path| _ = self.due.remove(path));
        ready
    }
}

/// When the newest line of the transcript was written, if that is so recent that the session must be active.
pub(super) fn recent_activity(path: &Path, now: Timestamp) -> Option<Timestamp> {
    let at = newest_timestamp(path).ok().flatten()?;
    (at + QUIET_AFTER > now).then_some(at)
}

/// The last `timestamp` in the file. Inside a text its quotes would be escaped, so it does not match.
fn newest_timestamp(path: &Path) -> io::Result<Option<Timestamp>> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Ok(None);
    }
    let from = about.len().saturating_sub(END_BYTES);
    let mut end = vec![0; (about.len() - from) as usize];
    file.read_exact_at(&mut end, from)?;
    const KEY: &[u8] = b"\"timestamp\":\"";
    let time = |start: usize| {
        let rest = end.get(start + KEY.len()..)?;
        let time = rest.get(..memchr::memchr(b'"', rest)?)?;
        Timestamp::parse(std::str::from_utf8(time).ok()?)
    };
    Ok(memchr::memmem::rfind(&end, KEY).and_then(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagents_file_is_not_a_session_in_any_folder() {
        let mut unhooked = UnhookedSessions::default();
        let now = Instant::now();
        for path in ["/p/-w/agent-a7.jsonl", "/p/-w/s/subagents/agent-a7.jsonl"] {
            unhooked.note_change(Path::new(path), now);
            assert_eq!(unhooked.next_due(), None, "{path}");
        }
        unhooked.note_change(Path::new("/p/-w/s.jsonl"), now);
        assert_eq!(unhooked.next_due(), Some(now));
    }

    #[test]
    fn only_a_file_with_a_line_of_the_last_minute_is_an_active_session() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let now = Timestamp::parse("2026-11-15T10:01:00.000Z").unwrap();
        let wrote = |text: &str| {
            std::fs::write(&path, text).unwrap();
            recent_activity(&path, now)
        };
        let line = |time: &str| format!("{{\"type\":\"user\",\"timestamp\":\"{time}\",\"cwd\":\"/w\"}}\n");
        let recent = Timestamp::parse("2026-11-15T10:00:30.000Z");
        assert_eq!(wrote(&line("2026-11-15T10:00:30.000Z")), recent);
        assert_eq!(wrote(&(line("2026-11-15T10:00:30.000Z") + "{\"type\":\"mode\"}\n")), recent);
        assert_eq!(wrote(&line("2026-11-15T09:00:30.000Z")), None);
        assert_eq!(
            wrote("{\"type\":\"user\",\"text\":\"\\\"timestamp\\\":\\\"2026-11-15T10:00:30.000Z\\\"\"}\n"),
            None
        );
        assert_eq!(wrote(&("x".repeat(200_000) + &line("2026-11-15T10:00:30.000Z"))), recent);
        assert_eq!(wrote("\"timestamp\":\"torn"), None);
        assert_eq!(recent_activity(&dir.path().join("gone.jsonl"), now), None);
    }
}
