//! Writes the daemon's log file, with a size limit so that it cannot fill the disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

/// Largest log file. Then a new file begins, and one old file is kept.
const LOG_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Starts logging. `filter` is a tracing filter (`FLIGHTDECK_LOG`); the default is `info`.
pub(crate) fn start(folder: &Path, filter: Option<&str>) -> io::Result<PathBuf> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let path = folder.join("flightdeck.log");
    let filter = EnvFilter::try_new(filter.unwrap_or("info")).unwrap_or_else(|_| EnvFilter::new("info"));
    let writer = Mutex::new(Rotating::open(&path)?);
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(writer)
        // tracing would print these errors to standard error and panic if that is a file on the same full disk.
        .log_internal_errors(false)
        .finish();
    // Fails in tests that start several daemons in one process; all of them then use the first log.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(path)
}

struct Rotating {
    path: PathBuf,
    file: File,
    written: u64,
}

impl Rotating {
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        Ok(Self { path: path.to_owned(), written: file.metadata()?.len(), file })
    }

    fn rotate(&mut self) -> io::Result<()> {
        std::fs::rename(&self.path, self.path.with_extension("log.1"))?;
        *self = Self::open(&self.path)?;
        Ok(())
    }
}

impl Write for Rotating {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written >= LOG_BYTES_MAX {
            self.rotate()?;
        }
        let n = self.file.write(bytes)?;
        self.written += n as u64;
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The last lines of the log, for `doctor`.
pub(crate) fn tail(path: &Path, lines: usize) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let all: Vec<_> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].iter().map(|l| (*l).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_is_renamed_and_a_new_one_begins() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("flightdeck.log");
        let mut log = Rotating::open(&path).unwrap();
        log.written = LOG_BYTES_MAX;
        log.write_all(b"new\n").unwrap();
        assert_eq!(tail(&path, 5), ["new"]);
        assert!(dir.path().join("flightdeck.log.1").exists());
    }
}
