//! Installs programs that single rows need.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{install, is_installed, target};

/// The version of ccusage that our promise names.
const CCUSAGE: &str = "20.0.24";

/// The native program, without the node process that its package starts it from.
pub(super) fn ccusage() -> Result<PathBuf> {
    let platform = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "linux-x64",
        ("linux", "aarch64") => "linux-arm64",
        ("macos", "aarch64") => "darwin-arm64",
        ("macos", "x86_64") => "darwin-x64",
        (os, arch) => bail!("no ccusage is published for {os} on {arch}"),
    };
    let prefix = target().join("bench/ccusage").join(CCUSAGE);
    let program = prefix.join(format!("node_modules/@ccusage/ccusage-{platform}/bin/ccusage"));
    if !program.exists() {
        std::fs::create_dir_all(&prefix)?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"]).arg(&prefix);
        let installed = npm.arg(format!("ccusage@{CCUSAGE}")).output().context("cannot run npm")?;
        if !installed.status.success() {
            bail!("ccusage cannot be installed: {}", String::from_utf8_lossy(&installed.stderr).trim());
        }
    }
    // The package makes it executable at the first start through node, which is skipped here.
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))
        .with_context(|| format!("npm installed no {}", program.display()))?;
    program.canonicalize().with_context(|| format!("npm installed no {}", program.display()))
}

/// Counts the daemon's system calls.
pub(super) fn strace() -> Result<()> {
    if is_installed("strace") || install("strace")? {
        return Ok(());
    }
    bail!("strace is needed (on Debian: apt-get install strace)")
}
