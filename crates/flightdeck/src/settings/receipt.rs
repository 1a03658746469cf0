//! Receipts and backups of settings files. With the receipt, uninstall restores the file byte for byte.

use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use flightdeck_core::fnv::Fnv;
use serde::{Deserialize, Serialize};

use super::error::SettingsError;

/// Backups kept of one settings file; a backup is made only if something changes.
pub const BACKUPS_MAX: usize = 20;

/// How long a registration lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Until `hooks uninstall`.
    Permanent,
    /// Until the daemon stops. A permanent registration stays permanent.
    WhileDaemonRuns,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Receipt {
    pub(super) path: PathBuf,
    /// The install created the file.
    pub(super) made_file: bool,
    /// The install created the folder.
    pub(super) made_folder: bool,
    /// The person installed it, so a daemon that stops does not remove it.
    pub(super) for_good: bool,
    /// The status line is wrapped too.
    #[serde(default)]
    pub(super) status_line: bool,
    /// `None` after another program has written to the file.
    pub(super) exact: Option<ExactTexts>,
}

/// The text before and after the install. Valid while the file still equals `after`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ExactTexts {
    pub(super) before: Option<String>,
    pub(super) after: String,
}

/// The folder with receipts and backups.
#[derive(Clone, Debug)]
pub(super) struct ReceiptFolder {
    pub(super) folder: PathBuf,
}

impl ReceiptFolder {
    pub(super) fn receipt(&self, real: &Path) -> Option<Receipt> {
        let text = fs::read(self.receipt_path(real)).ok()?;
        // Without a readable receipt only the byte-for-byte restore is lost.
        let receipt: Receipt = serde_json::from_slice(&text).ok()?;
        (receipt.path == real).then_some(receipt)
    }

    /// Replaces the receipt of a file; `None` removes it.
    pub(super) fn save_receipt(&self, real: &Path, receipt: Option<&Receipt>) -> Result<(), SettingsError> {
        let path = self.receipt_path(real);
        let Some(receipt) = receipt else {
            // There may be none.
            let _ = fs::remove_file(&path);
            return Ok(());
        };
        let temp = path.with_extension("tmp");
        let save = || {
            self.make_folder()?;
            // Left over from a crash. The lock on the settings keeps a second writer out.
            let _ = fs::remove_file(&temp);
            write_private(&temp, &serde_json::to_vec(receipt)?)?;
            fs::rename(&temp, &path)
        };
        save().map_err(SettingsError::io("write", &path))
    }

    /// Saves a backup of a settings file and deletes the oldest ones.
    pub(super) fn back_up(&self, real: &Path, text: &str) -> Result<PathBuf, SettingsError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let path = self.folder.join(format!("{}{now:020}.json", self.backup_prefix(real)));
        let save = || self.make_folder().and_then(|()| write_private(&path, text.as_bytes()));
        save().map_err(SettingsError::io("write the backup", &path))?;
        for old in self.backups(real).iter().rev().skip(BACKUPS_MAX) {
            // A backup too many does no harm.
            let _ = fs::remove_file(old);
        }
        Ok(path)
    }

    /// The backups, oldest first.
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

/// Writes a file that only the owner can read, because settings may contain keys; synced to disk.
fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A name of fixed length for each settings file.
fn name_of(real: &Path) -> String {
    format!("{:016x}", Fnv::hash_bytes(real.as_os_str().as_bytes()))
}
