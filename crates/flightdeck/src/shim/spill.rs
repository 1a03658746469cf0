//! Puts an event that no daemon took into the spool.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::process::{Resource, getrlimit};

use super::frame::Stamp;
use super::limits::{BOUNDS_ALWAYS_FROM_BYTES, BOUNDS_EVERY};
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
    if stamp.id.0.is_multiple_of(BOUNDS_EVERY) || frame.len() >= BOUNDS_ALWAYS_FROM_BYTES {
        spool::enforce_bounds(dir, stamp.fired_at(), Bounds::default())?;
    }
    written
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
