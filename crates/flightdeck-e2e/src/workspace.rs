//! The folders of the workspace, and running programs in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
}

pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The cargo that started this program, else `cargo` on the path.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The output of a program; `None` if it is not installed, fails or prints nothing.
pub fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

pub fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
}

pub fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|v| v == "true")
}

/// Only root can install missing packages; other users are told what to install.
fn is_root() -> bool {
    output_of("id", &["-u"]).is_some_and(|uid| uid == "0")
}

/// Installs a package. False if this user may not, or if there is no apt-get.
pub fn install(package: &str) -> Result<bool> {
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
    // A fresh image has no package lists yet.
    Command::new("apt-get").args(["update", "-qq"]).output()?;
    Ok(install()?)
}

/// Builds the binary with the features of the whole workspace, as the tests are built. Built alone, nearly every crate would
/// have other features and be built a second time. `bench` and `soak` measure the release build.
pub fn build_for_tests() -> Result<PathBuf> {
    if !cargo().args(["test", "--workspace", "--no-run", "--quiet"]).status()?.success() {
        bail!("the tests do not build");
    }
    Ok(target().join("debug/flightdeck").canonicalize()?)
}

/// Runs a program that must succeed, and returns what it printed.
pub fn succeed(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}
