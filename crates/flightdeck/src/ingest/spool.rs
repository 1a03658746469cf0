//! Reads spooled events. Files that will never parse are moved to `rejected/`. Naming, listing and bounds are the hook's.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flightdeck_core::log::record::EventId;
use flightdeck_core::time::Timestamp;
pub use flightdeck_hook::spool::{SpoolBounds, SpoolFile, TEMP_AGE_MAX, enforce_bounds, list, remove};
use flightdeck_hook::spool::{dropped_count, list_open};
use rustix::fs::{Mode, OFlags};

use crate::frame::{EventFrame, FRAME_BYTES_MAX, FrameError};
use crate::private_folder;

/// The folder inside the spool for files that were set aside.
pub const REJECTED: &str = "rejected";
/// Enough refused files to see what went wrong; more would only repeat it.
pub const REJECTED_FILES_MAX: usize = 100;
/// Most bytes of refused files.
pub const REJECTED_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Hook and daemon are built from the same source, but the hook cannot import the core's bound.
const _: () = assert!(flightdeck_hook::HOOK_BODY_BYTES_MAX == flightdeck_core::limits::HOOK_BODY_BYTES_MAX);

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A disk error: worth another try.
    #[error("cannot read {path}")]
    Io { path: PathBuf, source: io::Error },
    /// The content is damaged: [`set_aside`] the file.
    #[error("{path} holds no event")]
    Poison { path: PathBuf, source: FrameError },
    #[error("{path} is larger than any event")]
    TooLarge { path: PathBuf },
    #[error("{path} holds the command {cmd}, not an event")]
    NotAHook { path: PathBuf, cmd: String },
}

impl ReadError {
    pub fn is_poison(&self) -> bool {
        !matches!(self, Self::Io { .. })
    }
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpoolStats {
    pub files: usize,
    pub bytes: u64,
    pub oldest: Option<Timestamp>,
    /// Dropped by the bounds since the spool was created.
    pub dropped: u64,
    pub rejected: usize,
}

pub fn file_name(fired_ns: u64, id: EventId) -> String {
    flightdeck_hook::spool::file_name(fired_ns, id.0)
}

/// The event in a file. The file stays until [`remove`].
pub fn read(file: &SpoolFile) -> Result<EventFrame, ReadError> {
    let path = || file.path.clone();
    let bytes = read_bounded(&file.path).map_err(|source| ReadError::Io { path: path(), source })?;
    let bytes = bytes.ok_or_else(|| ReadError::TooLarge { path: path() })?;
    let frame = EventFrame::parse(&bytes).map_err(|source| ReadError::Poison { path: path(), source })?;
    if frame.cmd == "hook" { Ok(frame) } else { Err(ReadError::NotAHook { path: path(), cmd: frame.cmd }) }
}

fn read_bounded(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    if !private_folder::is_our_file(&rustix::fs::fstat(&file)?) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut bytes = Vec::new();
    let most = FRAME_BYTES_MAX as u64 + 1;
    std::fs::File::from(file).take(most).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= FRAME_BYTES_MAX).then_some(bytes))
}

/// Moves a file that will never parse to `rejected/`, where a person can look at it.
pub fn set_aside(file: &SpoolFile) -> io::Result<()> {
    let (Some(dir), Some(name)) = (file.path.parent(), file.path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let rejected = dir.join(REJECTED);
    private_folder::refuse_link(&rejected)?;
    let folder = private_folder::open_or_create(&rejected)?;
    rustix::fs::renameat(rustix::fs::CWD, &file.path, &folder, name)?;
    let any_age = std::time::Duration::MAX;
    let bounds = SpoolBounds { files: REJECTED_FILES_MAX, bytes: REJECTED_BYTES_MAX, age: any_age };
    let files = list_open(&folder, &rejected)?;
    remove(&files[..bounds.surplus(&files, 0)])
}

pub fn stats(dir: &Path) -> io::Result<SpoolStats> {
    let files = list(dir)?;
    Ok(SpoolStats {
        files: files.len(),
        bytes: files.iter().map(|f| f.bytes).sum(),
        oldest: files.first().map(fired_at),
        dropped: dropped_count(dir),
        rejected: list(&dir.join(REJECTED))?.len(),
    })
}

fn fired_at(file: &SpoolFile) -> Timestamp {
    Timestamp::from_millis(i64::try_from(file.fired_ms()).unwrap_or(i64::MAX))
}

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
