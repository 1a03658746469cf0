//! Every way a session ends.

use anyhow::Result;

use crate::e2e::expect::{exited, idle, working};
use crate::e2e::stage::{DRAWN, Seat, Stage};

fn one_turn(s: &mut Stage, name: &str) -> Result<Seat> {
    let t = s.open(name)?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    Ok(t)
}

pub(super) fn exit(s: &mut Stage) -> Result<()> {
    let t = one_turn(s, "a")?;
    t.tui.submit("/exit")?;
    s.see(&t, "closed by /exit", exited())
}

pub(super) fn ctrl_c(s: &mut Stage) -> Result<()> {
    let t = one_turn(s, "a")?;
    t.tui.press(&["C-c"])?;
    t.tui.wait_text("again to exit", DRAWN)?;
    t.tui.press(&["C-c"])?;
    s.see(&t, "closed by Ctrl-C", exited())
}

pub(super) fn ctrl_d(s: &mut Stage) -> Result<()> {
    let t = one_turn(s, "a")?;
    t.tui.press(&["C-d"])?;
    t.tui.wait_text("again to exit", DRAWN)?;
    t.tui.press(&["C-d"])?;
    s.see(&t, "closed by Ctrl-D", exited())
}

pub(super) fn signals(s: &mut Stage) -> Result<()> {
    for signal in ["TERM", "HUP", "INT"] {
        let t = one_turn(s, signal)?;
        t.tui.signal(signal)?;
        s.see(&t, &format!("closed by {signal}"), exited())?;
    }
    Ok(())
}

pub(super) fn terminal(s: &mut Stage) -> Result<()> {
    // A second terminal keeps the tmux server alive.
    let other = s.open("b")?;
    let t = one_turn(s, "a")?;
    t.tui.close_terminal()?;
    t.tui.wait_gone(DRAWN)?;
    s.see(&t, "its terminal is gone", exited())?;
    s.see(&other, "the other is untouched", idle())
}

pub(super) fn kill(s: &mut Stage) -> Result<()> {
    let t = one_turn(s, "a")?;
    t.tui.signal("KILL")?;
    s.see(&t, "killed while idle", exited())?;
    let t = s.open("b")?;
    s.prompt(&t, "SCRIPT:hang one")?;
    s.see(&t, "thinks", working().board(&["thinking"]))?;
    t.tui.signal("KILL")?;
    s.see(&t, "killed in the middle of a turn", exited())
}
