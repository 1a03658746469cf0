//! Finds transcripts. The path names the session: `<slug>/<session>.jsonl`, and for a subagent
//! `<slug>/<session>/subagents/agent-<agent>.jsonl`.

use flightdeck_core::ids::{AgentId, SessionId};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flightdeck_core::limits::SESSION_ID_BYTES_MAX;
use flightdeck_core::time::Timestamp;

/// Levels of folders below `projects` that are searched: slug, session, `subagents`, and some to spare.
const DEPTH_MAX: usize = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedTranscript {
    pub path: PathBuf,
    pub session_id: SessionId,
    /// The subagent whose file it is. Empty for the main file.
    pub agent: AgentId,
}

/// A transcript on disk.
#[derive(Clone, Debug)]
pub struct ListedTranscript {
    pub transcript: LocatedTranscript,
    pub bytes: u64,
    pub changed_at: Timestamp,
    pub born_at: Timestamp,
    pub dev: u64,
    pub inode: u64,
}

impl LocatedTranscript {
    /// `None` if the path is not that of a transcript, or not UTF-8.
    pub fn from_path(path: &Path) -> Option<Self> {
        let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
        path.to_str()?;
        let subagents = path.ancestors().find(|a| a.file_name().is_some_and(|n| n == "subagents"));
        let (session, agent) = match (subagents.and_then(Path::parent), stem.strip_prefix("agent-")) {
            (Some(session), Some(agent)) => (session.file_name()?.to_str()?, agent),
            _ => (stem, ""),
        };
        (!session.is_empty() && session.len() <= SESSION_ID_BYTES_MAX).then(|| Self {
            path: path.to_owned(),
            session_id: session.into(),
            agent: agent.into(),
        })
    }
}

/// Where the client writes a session that was started in a folder. In the slug every character but letters and digits is `-`.
pub fn main_path(projects: &Path, started_in: &str, session_id: &SessionId) -> Option<PathBuf> {
    let plain = session_id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let slug: String = started_in.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    (plain && !session_id.is_empty()).then(|| projects.join(slug).join(format!("{session_id}.jsonl")))
}

/// The path that a hook reported, if a transcript can be there.
pub fn reported_path(reported: Option<&str>) -> Option<PathBuf> {
    reported.filter(|path| path.ends_with(".jsonl") && path.starts_with('/')).map(PathBuf::from)
}

/// The main transcript with the same file name in any project's folder; the newest if there are copies.
pub fn find_main(projects: &Path, guess: &Path) -> Option<PathBuf> {
    let name = guess.file_name()?;
    let folders = fs::read_dir(projects).ok()?.flatten();
    let found = folders.filter_map(|folder| stat_transcript(&folder.path().join(name)).ok().flatten());
    found.max_by_key(|listed| listed.changed_at).map(|listed| listed.transcript.path)
}

/// Where the subagents of a main transcript write.
pub fn subagents_folder(main: &Path) -> PathBuf {
    main.with_extension("").join("subagents")
}

/// Every transcript below a folder, in no order. Skips what cannot be read: it may be readable the next time.
pub fn list(folder: &Path) -> Vec<ListedTranscript> {
    let mut found = Vec::new();
    // The depth ends the search if a link leads back up.
    visit(folder, DEPTH_MAX, &mut found);
    found
}

fn visit(folder: &Path, depth: usize, found: &mut Vec<ListedTranscript>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        let is_jsonl = path.extension().is_some_and(|e| e == "jsonl");
        if kind.is_dir() || (kind.is_symlink() && !is_jsonl && path.is_dir()) {
            if depth > 1 {
                visit(&path, depth - 1, found);
            }
        } else if is_jsonl && let Ok(listed) = stat_transcript(&path) {
            found.extend(listed);
        }
    }
}

/// `None` if the path is not that of a transcript.
pub fn stat_transcript(path: &Path) -> io::Result<Option<ListedTranscript>> {
    let about = fs::metadata(path)?;
    let Some(transcript) = LocatedTranscript::from_path(path).filter(|_| about.is_file()) else {
        return Ok(None);
    };
    Ok(Some(ListedTranscript {
        transcript,
        bytes: about.len(),
        changed_at: Timestamp::from_millis(about.mtime().saturating_mul(1000)),
        born_at: born_at(&about),
        dev: about.dev(),
        inode: about.ino(),
    }))
}

/// When the file was created; the last change where the file system does not know.
pub fn born_at(about: &Metadata) -> Timestamp {
    let born = about.created().or_else(|_| about.modified()).ok();
    let since = born.and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    Timestamp::from_millis(since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_the_session_and_the_agent() {
        let of = |p: &str| LocatedTranscript::from_path(Path::new(p)).map(|t| (t.session_id, t.agent));
        let named = |s: &str, a: &str| Some((s.into(), a.into()));
        assert_eq!(of("/p/-home/s-1.jsonl"), named("s-1", ""));
        assert_eq!(of("/p/-home/s-1/subagents/agent-a7.jsonl"), named("s-1", "a7"));
        assert_eq!(of("/p/-home/s-1/subagents/deep/agent-a7.jsonl"), named("s-1", "a7"));
        assert_eq!(of("/p/-home/agent-old.jsonl"), named("agent-old", ""));
        assert_eq!(of("/p/-home/s-1/subagents/agent-a7.meta.json"), None);
        assert_eq!(
            main_path(Path::new("/p"), "/home/dev/my.work", &"s-1".into()).as_deref(),
            Some(Path::new("/p/-home-dev-my-work/s-1.jsonl"))
        );
        assert_eq!(main_path(Path::new("/p"), "/home", &"../s".into()), None);
        assert_eq!(subagents_folder(Path::new("/p/x/s.jsonl")), Path::new("/p/x/s/subagents"));
    }
}
