//! The row of the page: a Playwright run against the measured daemon writes its samples to a file.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Measured;
use crate::npm;
use crate::workspace::target;

pub(super) const ROW: &str = "page";

/// The length that the promise names. `LOAD_SECONDS` sets another one, for a trial.
const SECONDS: &str = "60";

pub(super) fn measure(binary: &Path) -> Result<Measured> {
    let folder = npm::with_modules()?;
    let written = target().join("bench/page.json");
    if let Some(parent) = written.parent() {
        std::fs::create_dir_all(parent)?;
    }
    // The file of an earlier run would be read as the result of this one.
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
