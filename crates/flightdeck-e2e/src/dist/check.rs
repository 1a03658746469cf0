//! Looks into the packages and runs what is in them.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::{Packages, VERSION, succeed};
use crate::e2e;
use crate::testkit::{TestHome, until};

/// Files that both packages must have, below the prefix.
const EXPECTED: [&str; 6] = [
    "bin/flightdeck",
    "share/man/man1/flightdeck.1.gz",
    "share/man/man1/flightdeck-wait.1.gz",
    "share/bash-completion/completions/flightdeck",
    "share/zsh/vendor-completions/_flightdeck",
    "share/doc/flightdeck/copyright",
];

pub fn check_packages(packages: &Packages) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let unpacked = folder.path().join("tar");
    fs::create_dir(&unpacked)?;
    let strip = ["--strip-components=1", "-xzf"];
    succeed(Command::new("tar").arg("-C").arg(&unpacked).args(strip).arg(&packages.tarball))?;
    has_what_is_expected(&unpacked)?;
    if let Some(debian) = &packages.debian {
        let unpacked = folder.path().join("deb");
        succeed(Command::new("dpkg-deb").arg("--extract").arg(debian).arg(&unpacked))?;
        has_what_is_expected(&unpacked.join("usr"))?;
        ensure!(
            unpacked.join("usr/share/flightdeck/plugin/hooks/hooks.json").exists(),
            "no plugin in the package"
        );
        let owners = succeed(Command::new("dpkg-deb").arg("--contents").arg(debian))?;
        ensure!(owners.lines().all(|line| line.contains("root/root")), "a file is not root's:\n{owners}");
    }
    let binary = unpacked.join("bin/flightdeck");
    hooks_are_silent_without_the_program(&packages.plugin)?;
    hooks_reach_the_daemon(&packages.plugin, &binary)
}

fn has_what_is_expected(prefix: &Path) -> Result<()> {
    for path in EXPECTED {
        ensure!(prefix.join(path).exists(), "{} is missing", prefix.join(path).display());
    }
    let version = succeed(Command::new(prefix.join("bin/flightdeck")).env_clear().arg("--version"))?;
    ensure!(version == format!("flightdeck {VERSION}\n"), "it says {version:?}");
    Ok(())
}

/// The commands of the plugin, each with its event.
fn commands(plugin: &Path) -> Result<Vec<(String, String)>> {
    let json: Value = serde_json::from_slice(&fs::read(plugin.join("hooks/hooks.json"))?)?;
    let events = json["hooks"].as_object().context("no hooks")?;
    let command = |groups: &Value| Some(groups[0]["hooks"][0]["command"].as_str()?.to_owned());
    events
        .iter()
        .map(|(event, groups)| Some((event.clone(), command(groups)?)))
        .collect::<Option<_>>()
        .context("a hook has no command")
}

/// A hook as the client runs it: a shell with the payload on stdin.
fn run_hook(home: &TestHome, command: &str, path: &str, event: &str) -> Result<Output> {
    let mut shell = home.bare(Path::new("/bin/sh"));
    shell.args(["-c", command]).env("PATH", path).env("FLIGHTDECK_HOME", home.flightdeck_home());
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let payload = format!(r#"{{"session_id":"from-the-plugin","hook_event_name":"{event}","cwd":"/w"}}"#);
    // Without the program the shell may end before it has read the payload.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(payload.as_bytes()));
    Ok(child.wait_with_output()?)
}

fn hooks_are_silent_without_the_program(plugin: &Path) -> Result<()> {
    let home = TestHome::try_new(Path::new("/nonexistent"), "fd")?;
    for (event, command) in commands(plugin)? {
        let output = run_hook(&home, &command, "/usr/bin:/bin", &event)?;
        let silent = output.stdout.is_empty() && output.stderr.is_empty() && output.status.success();
        ensure!(silent, "without flightdeck on the PATH, the hook of {event} says {output:?}");
    }
    Ok(())
}

fn hooks_reach_the_daemon(plugin: &Path, binary: &Path) -> Result<()> {
    let home = TestHome::try_new(binary, "fd")?;
    let daemon = home.try_up(&["--no-hooks"])?;
    let folder = binary.parent().context("the binary has no folder")?;
    let (event, command) = commands(plugin)?
        .into_iter()
        .find(|(event, _)| event == "SessionStart")
        .context("no SessionStart")?;
    let output = run_hook(&home, &command, &format!("{}:/usr/bin:/bin", folder.display()), &event)?;
    ensure!(output.status.success() && output.stderr.is_empty(), "the hook says {output:?}");
    until("the plugin's event is on the board", || {
        daemon.board().iter().any(|card| card["id"] == "from-the-plugin").then_some(())
    });
    Ok(())
}

/// Lets the real client validate the plugin. The client only reads files for that.
pub(super) fn plugin_with_client(plugin: &Path) -> Result<()> {
    let client = e2e::client()?;
    let home = TestHome::try_new(Path::new("/nonexistent"), "fd")?;
    let output = home.bare(&client).args(["plugin", "validate"]).arg(plugin).output()?;
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("the client refuses the plugin:\n{said}");
    }
    println!("{}", said.trim());
    Ok(())
}
