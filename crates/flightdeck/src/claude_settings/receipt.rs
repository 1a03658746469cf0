//! What we remember about a settings file between install and uninstall, so that uninstall can put it back to the byte.

use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use flightdeck_core::fnv::Fnv;
use serde::{Deserialize, Serialize};

use super::error::SettingsError;

/// Copies kept of one settings file; a copy is made only when something changes.
pub const BACKUPS_MAX: usize = 20;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Receipt {
    pub(super) path: PathBuf,
    /// There was no file before us.
    pub(super) made_file: bool,
    /// There was no folder before us.
    pub(super) made_folder: bool,
    /// The person asked for it, so a daemon that stops leaves it in place.
    pub(super) for_good: bool,
    /// The status line was wrapped too.
    #[serde(default)]
    pub(super) status_line: bool,
    /// `None` once somebody else has written to the file.
    pub(super) exact: Option<Exact>,
}

/// While the file still is `after`, `before` is what it was without us.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Exact {
    pub(super) before: Option<String>,
    pub(super) after: String,
}

/// The folder that holds receipts and backups.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    pub(super) folder: PathBuf,
}

impl Shelf {
    pub(super) fn receipt(&self, real: &Path) -> Option<Receipt> {
        let text = fs::read(self.receipt_path(real)).ok()?;
        // An unreadable receipt costs only the byte-exact restore.
        let receipt: Receipt = serde_json::from_slice(&text).ok()?;
        (receipt.path == real).then_some(receipt)
    }

    /// Replaces the receipt of a file, or removes it.
    pub(super) fn put_receipt(&self, real: &Path, receipt: Option<&Receipt>) -> Result<(), SettingsError> {
        let path = self.receipt_path(real);
        let Some(receipt) = receipt else {
            // It may never have been there.
            let _ = fs::remove_file(&path);
            return Ok(());
        };
        let temp = path.with_extension("tmp");
        let save = || {
            self.make_folder()?;
            // Left over from a crash; two writers are kept apart by the lock on the settings.
            let _ = fs::remove_file(&temp);
            write_private(&temp, &serde_json::to_vec(receipt)?)?;
            fs::rename(&temp, &path)
        };
        save().map_err(SettingsError::io("write", &path))
    }

    /// Copies the text of a settings file away and forgets the oldest copies.
    pub(super) fn back_up(&self, real: &Path, text: &str) -> Result<PathBuf, SettingsError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let path = self.folder.join(format!("{}{now:020}.json", self.backup_prefix(real)));
        let save = || self.make_folder().and_then(|()| write_private(&path, text.as_bytes()));
        save().map_err(SettingsError::io("write the backup", &path))?;
        for old in self.backups(real).iter().rev().skip(BACKUPS_MAX) {
            // One copy too many does no harm.
            let _ = fs::remove_file(old);
        }
        Ok(path)
    }

    /// Oldest first.
    pub(super) fn backups(&self, real: &Path) -> Vec<PathBuf> {
        let prefix = self.backup_prefix(real);
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
        let mut paths: Vec<PathBuf> = ours.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    }

    fn receipt_path(&self, real: &Path) -> PathBuf {
        self.folder.join(format!("receipt-{}.json", name_of(real)))
    }

    fn backup_prefix(&self, real: &Path) -> String {
        format!("settings-{}-", name_of(real))
    }

    fn make_folder(&self) -> std::io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)
    }
}

/// Settings may hold keys: for the owner only, on the disk before we go on.
fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A fixed name for each settings file, however long its path.
fn name_of(real: &Path) -> String {
    format!("{:016x}", Fnv::of(real.as_os_str().as_bytes()))
}
