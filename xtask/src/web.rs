//! `cargo xtask web`: the page with hot reload, against a daemon that runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Parser;

use crate::workspace::{is_installed, root};

#[derive(Parser, Debug)]
pub(crate) struct Args {
    /// The daemon's address, as it printed it
    #[arg(long, default_value = "http://127.0.0.1:47892")]
    url: String,
}

pub(crate) fn run(args: &Args) -> Result<bool> {
    let web = with_modules()?;
    let status = npm(&web).args(["run", "dev"]).env("FLIGHTDECK_URL", &args.url).status();
    Ok(status.context("cannot run npm run dev")?.success())
}

/// The folder of the page, with what it is built and tested with.
pub(crate) fn with_modules() -> Result<PathBuf> {
    modules(false)
}

/// The same as its lock file says now.
pub(crate) fn with_fresh_modules() -> Result<PathBuf> {
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

pub(crate) fn npm(dir: &Path) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(dir);
    command
}
