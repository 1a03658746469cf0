//! The client loads the plugin of `cargo xtask dist`. Its hooks reach the board if our program is on the PATH, and are silent if not.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::{Context, Result, ensure};

use crate::e2e::expect::idle;
use crate::e2e::stage::{ClientSeat, Stage};
use crate::plugin;

pub(super) fn loaded(s: &mut Stage) -> Result<()> {
    let binary = s.binary().context("a recorder has no program")?.to_owned();
    let programs = s.lab.dir().join("programs");
    plugin::write(&binary, &s.lab.dir().join("plugin"))?;
    fs::create_dir(&programs)?;
    symlink(&binary, programs.join("flightdeck"))?;
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let with = open(s, "with", &[("PATH", &path)])?;
    for hook in ["SessionStart", "UserPromptSubmit", "Stop"] {
        s.must_hear(&with, hook, 1)?;
    }
    s.see(&with, "its hooks are on the board", idle())?;

    let without = open(s, "without", &[])?;
    s.see(&without, "the registry has it on the board", idle())?;
    let events = s.heard_at_all(&without)?;
    ensure!(events == 0, "{events} hooks came without our program");
    let screen = without.tui.capture()?.to_lowercase();
    for word in ["flightdeck", "hook", "not found"] {
        ensure!(!screen.contains(word), "without our program the client shows {word:?}:\n{screen}");
    }
    println!("  without our program on the PATH the client shows nothing of the plugin");
    Ok(())
}

/// A client with the plugin, after one turn.
fn open(s: &Stage, name: &str, env: &[(&str, &str)]) -> Result<ClientSeat> {
    let plugin = s.lab.dir().join("plugin").display().to_string();
    let seat = s.open_with(name, &["--permission-mode", "default", "--plugin-dir", &plugin], env)?;
    s.prompt(&seat, "SCRIPT:hello one")?;
    seat.tui.wait_ready()?;
    Ok(seat)
}
