//! Finds programs on the PATH, and says what to type to run this binary.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Opens an address in the person's browser.
pub(crate) const BROWSER_OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// The file that a shell would run for this name.
pub(crate) fn on_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).map(|dir| dir.join(name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// What to type to run this binary: its name if the PATH leads to it, else its path. `cargo run` adds nothing to the PATH.
pub(crate) fn called(binary: &Path, path: Option<&OsStr>) -> String {
    const NAME: &str = "flightdeck";
    let found = path.and_then(|path| on_path(NAME, path));
    let is_it = |found: PathBuf| found.canonicalize().ok() == binary.canonicalize().ok();
    match binary.to_str() {
        // A path that is not UTF-8 cannot be shown.
        None => NAME.to_owned(),
        Some(_) if found.is_some_and(is_it) => NAME.to_owned(),
        Some(text) => shell_word(text),
    }
}

/// One word for a shell, with quotes only if it needs them.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@".contains(c));
    if plain { text.to_owned() } else { quoted(text) }
}

/// In single quotes only the single quote is special to a POSIX shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn the_name_is_enough_only_if_the_path_leads_to_this_binary() {
        let folder = tempfile::tempdir().unwrap();
        let [built, bin, other] = ["built", "bin", "it's another"].map(|name| folder.path().join(name));
        for dir in [&built, &bin, &other] {
            fs::create_dir(dir).unwrap();
        }
        let program = |dir: &Path, mode| {
            let file = dir.join("flightdeck");
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            file
        };
        let ours = program(&built, 0o755);
        let theirs = program(&other, 0o644);
        symlink(&ours, bin.join("flightdeck")).unwrap();
        let path = |dirs: &[&Path]| std::env::join_paths(dirs).unwrap();
        let whole = ours.to_str().unwrap();

        assert_eq!(called(&ours, None), whole);
        assert_eq!(called(&ours, Some(&path(&[]))), whole);
        // A file that is not executable is skipped, and a link counts as its target.
        assert_eq!(called(&ours, Some(&path(&[&other, &bin]))), "flightdeck");
        fs::set_permissions(&theirs, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(called(&ours, Some(&path(&[&other, &bin]))), whole);
        let text = called(&theirs, None);
        assert!(text.starts_with('\'') && text.ends_with(r"/it'\''s another/flightdeck'"), "{text}");
    }
}
