//! `cargo xtask web`: the page with hot reload, against a daemon that runs.

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
    if !is_installed("npm") {
        bail!("npm is needed: install Node 20 or newer (on Debian: apt-get install nodejs npm)");
    }
    let web = root().join("web");
    let npm = |words: &[&str]| {
        let mut command = std::process::Command::new("npm");
        command.args(words).current_dir(&web).env("FLIGHTDECK_URL", &args.url);
        command.status().with_context(|| format!("cannot run npm {}", words.join(" ")))
    };
    if !web.join("node_modules").exists() && !npm(&["install", "--no-audit", "--no-fund"])?.success() {
        bail!("npm install failed in {}", web.display());
    }
    Ok(npm(&["run", "dev"])?.success())
}
