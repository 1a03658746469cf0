//! Installs the Debian package in a root that debootstrap makes, runs it there, and removes it again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use flightdeck_sim::client::wait_for;

use super::{VERSION, succeed};
use crate::workspace::{install, is_installed};

/// How long the daemon may take to start in the new root.
const START_MAX: Duration = Duration::from_secs(30);

pub(super) fn install_and_run(debian: &Path) -> Result<()> {
    if !is_installed("debootstrap") && !install("debootstrap")? {
        bail!("debootstrap is missing, and only root may install it");
    }
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root");
    println!("making a clean root with debootstrap");
    succeed(
        Command::new("debootstrap")
            .args(["--variant=minbase", "--include=libgcc-s1", &codename()?])
            .arg(&root),
    )?;
    let _proc = MountedProc::new(&root)?;
    fs::copy(debian, root.join("flightdeck.deb"))?;
    let inside = |args: &[&str]| {
        let mut command = Command::new("chroot");
        command
            .arg(&root)
            .args(args)
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", "/root");
        command
    };
    succeed(&mut inside(&["dpkg", "-i", "/flightdeck.deb"]))?;
    let version = succeed(&mut inside(&["flightdeck", "--version"]))?;
    ensure!(version == format!("flightdeck {VERSION}\n"), "it says {version:?}");
    let mut daemon =
        inside(&["flightdeck", "up", "--port", "0", "--no-hooks"]).stdout(Stdio::null()).spawn()?;
    let answers = until_it_answers(|| inside(&["flightdeck", "status", "--line"]));
    daemon.kill()?;
    daemon.wait()?;
    answers?;
    succeed(&mut inside(&["dpkg", "-r", "flightdeck"]))?;
    ensure!(!root.join("usr/bin/flightdeck").exists(), "the package leaves its binary behind");
    Ok(())
}

/// The process file system of the root, unmounted when it is dropped: the folder cannot be removed before.
struct MountedProc(PathBuf);

impl MountedProc {
    fn new(root: &Path) -> Result<Self> {
        let place = root.join("proc");
        succeed(Command::new("mount").args(["-t", "proc", "proc"]).arg(&place))?;
        Ok(Self(place))
    }
}

impl Drop for MountedProc {
    fn drop(&mut self) {
        // If it fails, the person sees that the folder could not be removed.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn until_it_answers(status: impl Fn() -> Command) -> Result<()> {
    let answers = || Ok((succeed(&mut status())? == "no sessions\n").then_some(()));
    wait_for("an answer of the daemon in the clean root", START_MAX, answers)
}

/// The Debian release of this machine: its libraries are those that the binary was built with.
fn codename() -> Result<String> {
    let release = fs::read_to_string("/etc/os-release")?;
    let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    name.map(|name| name.trim_matches('"').to_owned()).context("/etc/os-release has no VERSION_CODENAME")
}
