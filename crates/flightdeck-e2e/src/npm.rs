//! The page's npm project: its folder with its modules installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{is_installed, root};

/// The page's folder. Installs the modules if there are none.
pub fn with_modules() -> Result<PathBuf> {
    modules(false)
}

/// The page's folder, with the modules as the lock file now lists them.
pub fn with_fresh_modules() -> Result<PathBuf> {
    modules(true)
}

fn modules(fresh: bool) -> Result<PathBuf> {
    if !is_installed("npm") {
        bail!("npm is needed: install Node 20.19 or newer (Debian 13 has it: apt-get install nodejs npm)");
    }
    let web = root().join("web");
    if fresh || !web.join("node_modules").exists() {
        let args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=5"];
        if !npm(&web).args(args).status().context("cannot run npm install")?.success() {
            bail!("npm install failed in {}", web.display());
        }
    }
    Ok(web)
}

pub fn npm(dir: &Path) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(dir);
    command
}
