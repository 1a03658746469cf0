//! Errors of the settings commands: what failed, where, and what to do.

use std::io;
use std::path::PathBuf;

use super::version::Version;

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error(
        "neither CLAUDE_CONFIG_DIR nor HOME is set: set one to say where Claude Code keeps settings.json"
    )]
    NoConfigDir,

    #[error(
        "{path}, line {line}, column {column}: {what}. Claude Code reads strict JSON only and ignores the whole file; \
         {fix}, then run this again. Nothing was changed"
    )]
    Syntax { path: PathBuf, line: usize, column: usize, what: String, fix: &'static str },

    #[error("{path} is not UTF-8 at byte {byte}: save it as UTF-8, then run this again. Nothing was changed")]
    NotUtf8 { path: PathBuf, byte: usize },

    #[error(
        "{path}, line {line}: {place} is {found} where Claude Code expects {expected}: correct it, then run this again. \
         Nothing was changed"
    )]
    WrongType { path: PathBuf, line: usize, place: String, found: &'static str, expected: &'static str },

    #[error(
        "{path}, line {line}: {place} is there twice and Claude Code obeys only the last: join them, then run this \
         again. Nothing was changed"
    )]
    Duplicate { path: PathBuf, line: usize, place: String },

    #[error("{path} is {found}, not a file: move it away, then run this again. Nothing was changed")]
    NotAFile { path: PathBuf, found: &'static str },

    #[error("{path} is read-only: make it writable (chmod u+w), then run this again. Nothing was changed")]
    ReadOnly { path: PathBuf },

    #[error(
        "{path} is a link to {target}, whose folder does not exist: create the folder or remove the link, then run \
         this again. Nothing was changed"
    )]
    DanglingLink { path: PathBuf, target: PathBuf },

    #[error("{path} leads through more than {max} links: it seems to point at itself. Nothing was changed")]
    LinkLoop { path: PathBuf, max: usize },

    #[error("{path} has {bytes} bytes, more than the {max} a settings file may have. Nothing was changed")]
    TooLarge { path: PathBuf, bytes: u64, max: u64 },

    #[error(
        "{path} belongs to another user or group, and replacing it would change its owner: run this as its owner. Nothing was \
         changed"
    )]
    OtherOwner { path: PathBuf },

    #[error(
        "another program held {path} for {seconds} s: run this again when it is done. Nothing was changed"
    )]
    Locked { path: PathBuf, seconds: u64 },

    #[error("{path} kept changing while we edited it ({tries} tries): run this again. Nothing was changed")]
    KeepsChanging { path: PathBuf, tries: u32 },

    #[error(
        "the edit of {path} did not read back as intended ({why}): please report this. Nothing was changed"
    )]
    SelfCheck { path: PathBuf, why: String },

    /// The message contains the cause, so the cause is not a `source`; otherwise it would be printed twice.
    #[error("cannot {doing} {path}: {cause}. Nothing was changed")]
    Io { doing: &'static str, path: PathBuf, cause: io::Error },

    #[error(
        "{path}, line {line}: \"statusLine\" is not a command that we can wrap: correct or remove it, or install without \
         --statusline. Nothing was changed"
    )]
    OddStatusLine { path: PathBuf, line: usize },

    #[error(
        "the path {path} is not UTF-8, so settings.json cannot contain it: move the file to a UTF-8 path"
    )]
    PathNotUtf8 { path: PathBuf },

    #[error(
        "another Flightdeck home, {home}, is registered in {path}; this one gets no hook events. To have them here \
         instead, run `flightdeck hooks install` with this home. Nothing was changed"
    )]
    OtherHome { path: PathBuf, home: PathBuf },

    #[error("Claude Code {version} has no hooks at all: update it, then run this again. Nothing was changed")]
    NoHooks { version: Version },

    #[error(
        "Claude Code {version} has no http hooks and would ignore the whole file: use --via shim, or update to {needs}"
    )]
    NoHttpHooks { version: Version, needs: Version },
}

impl SettingsError {
    /// For `map_err`: `doing` is the operation that failed on `path`.
    pub(super) fn io(doing: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::Io { doing, path, cause }
    }
}
