//! What a run needs besides cargo: the pinned client, tmux, our own binary.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use flightdeck_sim::client::PINNED;

/// The client's binary; installed below `target/` if it is not there yet. Also sees to tmux.
pub(super) fn tools(given: Option<&Path>) -> Result<PathBuf> {
    tmux()?;
    match given {
        Some(path) => path.canonicalize().with_context(|| format!("no client at {}", path.display())),
        None => client(),
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
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
    println!("installing tmux");
    let apt = |args: &[&str]| run(Command::new("apt-get").args(args));
    apt(&["install", "-y", "-qq", "tmux"])
        .or_else(|_| apt(&["update", "-qq"]).and_then(|()| apt(&["install", "-y", "-qq", "tmux"])))
        .context("tmux is missing and cannot be installed")
}

/// Our own binary, freshly built.
pub(super) fn flightdeck() -> Result<PathBuf> {
    run(Command::new("cargo").args(["build", "--quiet", "-p", "flightdeck"]).current_dir(workspace()))
        .context("cannot build flightdeck")?;
    Ok(target().join("debug/flightdeck").canonicalize()?)
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    if !status.success() {
        bail!("{:?} ended with {status}", command.get_program());
    }
    Ok(())
}
