//! What a run needs besides cargo: the pinned client, tmux, our own binary.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use flightdeck_sim::client::PINNED;

use crate::workspace::{cargo, install, target};

/// The client's binary; installed below `target/` if it is not there yet. Also sees to tmux.
pub(super) fn tools(given: Option<&Path>) -> Result<PathBuf> {
    tmux()?;
    match given {
        Some(path) => path.canonicalize().with_context(|| format!("no client at {}", path.display())),
        None => client(),
    }
}

fn client() -> Result<PathBuf> {
    let prefix = target().join("e2e/client");
    let platform = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "linux-x64",
        ("linux", "aarch64") => "linux-arm64",
        ("macos", "aarch64") => "darwin-arm64",
        ("macos", "x86_64") => "darwin-x64",
        (os, arch) => bail!("no client is published for {os} on {arch}"),
    };
    let package = prefix.join(format!("node_modules/@anthropic-ai/claude-code-{platform}"));
    if version_of(&package).as_deref() != Some(PINNED) {
        println!("installing Claude Code {PINNED} into {}", prefix.display());
        std::fs::create_dir_all(&prefix)?;
        run(Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"])
            .arg(&prefix)
            .arg(format!("@anthropic-ai/claude-code@{PINNED}")))
        .context("cannot install the client by npm")?;
    }
    let binary = package.join("claude");
    if !binary.exists() {
        bail!("npm installed no binary at {}", binary.display());
    }
    Ok(binary.canonicalize()?)
}

fn version_of(package: &Path) -> Option<String> {
    let text = std::fs::read(package.join("package.json")).ok()?;
    let json: serde_json::Value = serde_json::from_slice(&text).ok()?;
    json["version"].as_str().map(str::to_owned)
}

fn tmux() -> Result<()> {
    if Command::new("tmux").arg("-V").output().is_ok_and(|o| o.status.success()) {
        return Ok(());
    }
    if !install("tmux").context("tmux is missing and cannot be installed")? {
        bail!("there is no tmux, and only root may install it (apt-get install tmux)");
    }
    Ok(())
}

/// Our own binary, freshly built.
pub(super) fn flightdeck() -> Result<PathBuf> {
    run(cargo().args(["build", "--quiet", "-p", "flightdeck"])).context("cannot build flightdeck")?;
    Ok(target().join("debug/flightdeck").canonicalize()?)
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    if !status.success() {
        bail!("{:?} ended with {status}", command.get_program());
    }
    Ok(())
}
