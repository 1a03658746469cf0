//! The tree that the tarball and the Debian package have in common: `bin/` and `share/`.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::succeed;
use crate::workspace::root;

/// Where each shell looks for completions, below the prefix.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/flightdeck"),
    ("zsh", "share/zsh/vendor-completions/_flightdeck"),
    ("fish", "share/fish/vendor_completions.d/flightdeck.fish"),
];

/// The binary, its manual pages and completions, and the licence.
pub(super) fn stage(binary: &Path, tree: &Path) -> Result<()> {
    let program = tree.join("bin/flightdeck");
    fs::create_dir_all(tree.join("bin"))?;
    fs::copy(binary, &program)?;
    let pages = tree.join("share/man/man1");
    succeed(Command::new(&program).env_clear().args(["man", "--dir"]).arg(&pages))?;
    for page in fs::read_dir(&pages)? {
        succeed(Command::new("gzip").arg("-9n").arg(page?.path()))?;
    }
    for (shell, path) in COMPLETIONS {
        let script = succeed(Command::new(&program).env_clear().args(["completions", shell]))?;
        write(&tree.join(path), script.as_bytes())?;
    }
    let documents = tree.join("share/doc/flightdeck");
    write(&documents.join("copyright"), &fs::read(root().join("LICENSE"))?)?;
    write(&documents.join("README.md"), &fs::read(root().join("README.md"))?)?;
    write(&documents.join("scripts.md"), &fs::read(root().join("docs/scripts.md"))?)
}

/// Writes a file and the folders above it.
pub(super) fn write(path: &Path, text: &[u8]) -> Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    Ok(fs::write(path, text)?)
}
