//! The row about the page: a Playwright run that writes its samples down, against the daemon that is measured.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Measured;
use crate::web;
use crate::workspace::target;

pub(super) const ROW: &str = "page";

/// As long as the promise says. `LOAD_SECONDS` gives another length, to try it.
const SECONDS: &str = "60";

pub(super) fn measure(binary: &Path) -> Result<Measured> {
    let folder = web::with_modules()?;
    let written = target().join("bench/page.json");
    if let Some(parent) = written.parent() {
        std::fs::create_dir_all(parent)?;
    }
    // What an earlier run left would be taken for ours.
    if written.exists() {
        std::fs::remove_file(&written)?;
    }
    let mut playwright = Command::new("npx");
    playwright.args([
        "--no-install",
        "playwright",
        "test",
        "--project",
        "load",
        "--no-deps",
        "--workers",
        "1",
    ]);
    playwright.current_dir(folder).env("FLIGHTDECK_BIN", binary).env("LOAD_RESULT", &written);
    if std::env::var_os("LOAD_SECONDS").is_none() {
        playwright.env("LOAD_SECONDS", SECONDS);
    }
    let output = playwright.stdin(Stdio::null()).output().context("cannot run npx")?;
    if !output.status.success() {
        bail!("the browser run failed:\n{}", String::from_utf8_lossy(&output.stdout).trim());
    }
    let text = std::fs::read(&written).with_context(|| format!("it wrote no {}", written.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is not understood", written.display()))
}
