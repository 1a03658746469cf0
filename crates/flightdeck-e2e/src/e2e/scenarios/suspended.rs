//! A machine that is suspended: client and daemon stand still at the same time and go on later. Then the daemon alone.

use std::fs;
use std::time::Duration;

use anyhow::Result;

use crate::e2e::expect::{idle, interrupted, permission, working};
use crate::e2e::stage::{ClientSeat, Stage};

const SHOWN: Duration = Duration::from_secs(20);
/// Longer than every time limit of a hook and of the registry's rules.
const SUSPENDED: Duration = Duration::from_secs(5);

/// Stops client and daemon, does something that does not need them, and continues them.
fn suspend(s: &Stage, t: &ClientSeat, meanwhile: impl FnOnce() -> Result<()>) -> Result<()> {
    s.signal_daemon("STOP")?;
    t.tui.signal("STOP")?;
    meanwhile()?;
    std::thread::sleep(SUSPENDED);
    t.tui.signal("CONT")?;
    s.signal_daemon("CONT")
}

/// The same for the daemon alone; the client works on.
fn without_daemon(s: &Stage, meanwhile: impl FnOnce() -> Result<()>) -> Result<()> {
    s.signal_daemon("STOP")?;
    let done = meanwhile();
    std::thread::sleep(SUSPENDED);
    s.signal_daemon("CONT")?;
    done
}

fn nothing() -> Result<()> {
    Ok(())
}

pub(super) fn machine(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    suspend(s, &t, nothing)?;
    s.see(&t, "suspended at rest", idle())?;

    s.prompt(&t, "SCRIPT:until two")?;
    s.see(&t, "asks", permission("Bash"))?;
    suspend(s, &t, nothing)?;
    s.see(&t, "suspended in the dialog", permission("Bash"))?;
    s.answer(&t, &["Enter"])?;
    t.tui.wait_text("until test -e go", SHOWN)?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    suspend(s, &t, || s.go())?;
    s.must_hear(&t, "Stop", 2)?;
    s.see(&t, "suspended while the command ended", idle())?;

    s.prompt(&t, "SCRIPT:slow three")?;
    t.tui.wait_text("Line 00", SHOWN)?;
    s.see(&t, "writes", working().board(&["thinking"]))?;
    suspend(s, &t, nothing)?;
    s.see(&t, "suspended while it wrote", working().board(&["thinking"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted", interrupted())
}

pub(super) fn daemon(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    without_daemon(s, || {
        s.prompt(&t, "SCRIPT:hello one")?;
        t.tui.wait_text("Hello from the stub", SHOWN).map(drop)
    })?;
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "a whole turn without the daemon", idle())?;

    s.prompt(&t, "SCRIPT:until two")?;
    s.see(&t, "asks", permission("Bash"))?;
    without_daemon(s, || s.answer(&t, &["Enter"]))?;
    s.see(&t, "allowed meanwhile", working().board(&["acting"]))?;
    s.see_card(&t, "in the terminal", |card| card["asks"][0]["resolution"]["how"] == "answered_in_terminal")?;
    without_daemon(s, || {
        s.go()?;
        t.tui.wait_text("It is there", SHOWN).map(drop)
    })?;
    s.see(&t, "ended meanwhile", idle())?;
    fs::remove_file(s.lab.cwd().join("go"))?;

    s.prompt(&t, "SCRIPT:until three")?;
    s.see(&t, "asks again", permission("Bash"))?;
    without_daemon(s, || s.answer(&t, &["Escape"]))?;
    s.see(&t, "refused meanwhile", interrupted())?;

    s.prompt(&t, "SCRIPT:slow four")?;
    t.tui.wait_text(r"four(?s:.*)Line 00", SHOWN)?;
    s.see(&t, "writes", working().board(&["thinking"]))?;
    without_daemon(s, || t.tui.press(&["Escape"]))?;
    s.see(&t, "interrupted meanwhile", interrupted())
}
