//! Where we are, and running programs there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The cargo that runs us, else the one on the path.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// What a program says, in one line; nothing if it is not there.
pub(crate) fn ask(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

pub(crate) fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
}

pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|v| v == "true")
}

/// Root can install what is missing; anybody else is told what to install.
fn is_root() -> bool {
    ask("id", &["-u"]).is_some_and(|uid| uid == "0")
}

/// True if it was; false where nobody here may.
pub(crate) fn install(package: &str) -> Result<bool> {
    if !(is_root() && is_installed("apt-get")) {
        return Ok(false);
    }
    println!("installing {package}");
    let output = apt_install(package)?;
    if !output.status.success() {
        bail!("apt-get install {package}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(true)
}

fn apt_install(package: &str) -> Result<Output> {
    let install = || Command::new("apt-get").args(["install", "-y", "-qq", package]).output();
    let first = install().context("cannot run apt-get")?;
    if first.status.success() {
        return Ok(first);
    }
    // An image without package lists knows no package.
    Command::new("apt-get").args(["update", "-qq"]).output()?;
    Ok(install()?)
}

/// The binary as the stories are built, with the features of the whole workspace: built alone, nearly every crate would
/// have others and be built a second time. What a person gets is the release build, which `bench` and `soak` measure.
pub(crate) fn build_for_stories() -> Result<PathBuf> {
    if !cargo().args(["test", "--workspace", "--no-run", "--quiet"]).status()?.success() {
        bail!("the stories do not build");
    }
    Ok(target().join("debug/flightdeck").canonicalize()?)
}
