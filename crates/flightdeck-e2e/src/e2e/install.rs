//! Installs what a run needs besides cargo: the pinned client, tmux, our own binary.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use flightdeck_sim::client::PINNED;

use crate::workspace::{cargo, install, target};

/// The client's binary, for a path or a version; installed below `target/` if needed. Installs tmux too.
pub(super) fn tools(given: Option<&Path>) -> Result<PathBuf> {
    tmux()?;
    match given.map(|given| (given, version_in(given))) {
        None => client(PINNED),
        Some((_, Some(version))) => client(version),
        Some((path, None)) => path.canonicalize().with_context(|| format!("no client at {}", path.display())),
    }
}

/// The version, if a version was given: `2.1.330`.
fn version_in(given: &Path) -> Option<&str> {
    let text = given.to_str()?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    (text.split('.').count() == 3 && text.split('.').all(is_number)).then_some(text)
}

fn client(version: &str) -> Result<PathBuf> {
    let folder = if version == PINNED { "client".to_owned() } else { format!("client-{version}") };
    let prefix = target().join("e2e").join(folder);
    let platform = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "linux-x64",
        ("linux", "aarch64") => "linux-arm64",
        ("macos", "aarch64") => "darwin-arm64",
        ("macos", "x86_64") => "darwin-x64",
        (os, arch) => bail!("no client is published for {os} on {arch}"),
    };
    let package = prefix.join(format!("node_modules/@anthropic-ai/claude-code-{platform}"));
    if version_of(&package).as_deref() != Some(version) {
        println!("installing Claude Code {version} into {}", prefix.display());
        std::fs::create_dir_all(&prefix)?;
        run(Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=5", "--prefix"])
            .arg(&prefix)
            .arg(format!("@anthropic-ai/claude-code@{version}")))
        .with_context(|| format!("cannot install Claude Code {version} by npm"))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_told_from_a_path() {
        assert_eq!(version_in(Path::new("2.1.330")), Some("2.1.330"));
        for path in ["/usr/bin/claude", "./2.1.330", "2.1", "2.1.", "claude"] {
            assert_eq!(version_in(Path::new(path)), None, "{path}");
        }
    }
}
