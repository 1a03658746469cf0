//! Whether an effort is active on this home. If so, the client must wait for our reply to tool calls.
//!
//! The daemon knows this from its log. It writes a marker file into the home for `hooks status`, `repair` and `print`, which run without
//! a daemon, and for the next daemon before it has read the log.

use std::io;
use std::path::{Path, PathBuf};

/// Whether the handlers of this home should wait for verdicts about tool calls.
pub fn are_wanted(home: &Path) -> bool {
    marker(home).exists()
}

/// Writes or removes the marker file.
pub fn set_wanted(home: &Path, wanted: bool) -> io::Result<()> {
    let marker = marker(home);
    if wanted {
        return std::fs::write(marker, "");
    }
    match std::fs::remove_file(marker) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn marker(home: &Path) -> PathBuf {
    home.join("tool-verdicts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_is_set_and_removed_any_number_of_times() {
        let home = tempfile::tempdir().unwrap();
        assert!(!are_wanted(home.path()));
        for wanted in [false, true, true, false, false] {
            set_wanted(home.path(), wanted).unwrap();
            assert_eq!(are_wanted(home.path()), wanted);
        }
    }
}
