//! Sessions that neither a hook nor the registry told of (an old client, a container): a transcript that nobody follows
//! grows. What only looks so is passed over: a copied or restored file has no line of the last minute.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use flightdeck_core::limits::QUIET_AFTER;
use flightdeck_core::time::Timestamp;

use super::names::Transcript;

/// Files that may wait to be looked at: a restored backup touches thousands, and none of them is news.
const WAITING_MAX: usize = 256;
/// Bytes at the end of a file in which its newest time is looked for.
const END_BYTES: u64 = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct Strangers {
    due: BTreeMap<PathBuf, Instant>,
}

impl Strangers {
    /// A transcript that nobody follows changed. Only a main one tells of a session; older clients wrote a subagent's beside it.
    pub(super) fn heard(&mut self, path: &Path, at: Instant) {
        let main =
            Transcript::of(path).is_some_and(|t| t.agent.is_empty() && !t.session_id.starts_with("agent-"));
        if main && self.due.len() < WAITING_MAX {
            self.due.entry(path.to_owned()).or_insert(at);
        }
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.due.values().min().copied()
    }

    pub(super) fn take_due(&mut self, now: Instant) -> Vec<PathBuf> {
        let ready: Vec<_> = self.due.iter().filter(|(_, at)| **at <= now).map(|(p, _)| p.clone()).collect();
        ready.iter().for_each(|path| _ = self.due.remove(path));
        ready
    }
}

/// When its newest line was written, if that is so recent that somebody must be at work.
pub(super) fn at_work(path: &Path, now: Timestamp) -> Option<Timestamp> {
    let at = newest(path).ok().flatten()?;
    (at + QUIET_AFTER > now).then_some(at)
}

/// The last `timestamp` in the file. Inside a text its quotes would be escaped.
fn newest(path: &Path) -> io::Result<Option<Timestamp>> {
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
    fn a_subagents_file_is_no_session_wherever_it_lies() {
        let mut strangers = Strangers::default();
        let now = Instant::now();
        for path in ["/p/-w/agent-a7.jsonl", "/p/-w/s/subagents/agent-a7.jsonl"] {
            strangers.heard(Path::new(path), now);
            assert_eq!(strangers.next(), None, "{path}");
        }
        strangers.heard(Path::new("/p/-w/s.jsonl"), now);
        assert_eq!(strangers.next(), Some(now));
    }

    #[test]
    fn only_a_file_with_a_line_of_the_last_minute_is_somebody_at_work() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let now = Timestamp::parse("2026-11-15T10:01:00.000Z").unwrap();
        let wrote = |text: &str| {
            std::fs::write(&path, text).unwrap();
            at_work(&path, now)
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
        assert_eq!(at_work(&dir.path().join("gone.jsonl"), now), None);
    }
}
