//! Puts an event that no daemon took into the spool.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use flightdeck_core::record::EventId;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::process::{Resource, getrlimit};

use super::frame::Stamp;
use super::limits::{BOUNDS_ALWAYS_FROM_BYTES, BOUNDS_EVERY, BOUNDS_EVERY_BYTES};
use crate::inlet::spool::{self, Bounds};
use crate::private_folder;

/// The file is whole or not there: written under a temporary name, then renamed. Not synced: it must survive us, and a
/// machine that loses power loses the session too.
pub(crate) fn write(dir: &Path, stamp: &Stamp, frame: &[u8]) -> io::Result<()> {
    let folder = private_folder::open_or_create(dir)?;
    fits_file_limit(frame)?;
    let name = spool::file_name(stamp.fired_ns, stamp.id);
    let temp = format!(".{name}");
    let written = create(&folder, &temp).and_then(|file| {
        write_all(&file, frame)?;
        Ok(rustix::fs::renameat(&folder, &temp, &folder, &name)?)
    });
    if written.is_err() {
        // It may not even have been made.
        let _ = rustix::fs::unlinkat(&folder, &temp, AtFlags::empty());
    }
    match look(stamp.id, frame.len()) {
        Look::AtSizes => spool::enforce_bounds(dir, stamp.fired_at(), Bounds::default())?,
        Look::AtNames => spool::enforce_count_and_age(dir, stamp.fired_at(), Bounds::default())?,
        Look::Away => 0,
    };
    written
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    AtSizes,
    AtNames,
    Away,
}

/// Whether this event looks at the bounds; its id is as good as a die.
fn look(id: EventId, bytes: usize) -> Look {
    let events_a_look = (BOUNDS_EVERY_BYTES / bytes.max(1)) as u128;
    if bytes >= BOUNDS_ALWAYS_FROM_BYTES || id.0.is_multiple_of(events_a_look) {
        Look::AtSizes
    } else if id.0.is_multiple_of(BOUNDS_EVERY) {
        Look::AtNames
    } else {
        Look::Away
    }
}

/// Over its limit (`ulimit -f`) a process is not told but killed, so look first.
fn fits_file_limit(frame: &[u8]) -> io::Result<()> {
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < frame.len() as u64 => Err(io::ErrorKind::FileTooLarge.into()),
        _ => Ok(()),
    }
}

fn create(folder: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?)
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(file, bytes))?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_at_every_size_is_rare_unless_few_events_would_fill_the_spool() {
        let looks = |bytes: usize, wanted: Look| {
            (1..=100_000).filter(|id| look(EventId(*id), bytes) == wanted).count()
        };
        assert_eq!((looks(2048, Look::AtSizes), looks(2048, Look::AtNames)), (12, 1550));
        assert_eq!(looks(512 * 1024, Look::AtSizes), 100_000 / 32);
        assert_eq!(looks(BOUNDS_ALWAYS_FROM_BYTES, Look::AtSizes), 100_000);
        assert_eq!(looks(usize::MAX, Look::AtSizes), 100_000);
    }
}
