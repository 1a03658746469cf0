//! Every way a session ends.

use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::e2e::expect::{exited, idle, working};
use crate::e2e::stage::{ClientSeat, DRAWN, Stage};

/// From the second key press to the end of the client, including its hooks.
const LEAVES: Duration = Duration::from_secs(10);
const TRIES_TO_LEAVE: usize = 3;

fn one_turn(s: &mut Stage, name: &str) -> Result<ClientSeat> {
    let t = s.open(name)?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    Ok(t)
}

/// The session ends with a SessionEnd hook, not only by the process table.
fn see_goodbye(s: &mut Stage, t: &ClientSeat, step: &str, why: fn(&Value) -> bool) -> Result<()> {
    s.see(t, step, exited())?;
    s.must_hear(t, "SessionEnd", 1)?;
    s.see_card(t, "and why", why)
}

fn by_the_person(card: &Value) -> bool {
    card["end_reason"] == "prompt_input_exit"
}

fn from_outside(card: &Value) -> bool {
    card["end_reason"] == "other"
}

pub(super) fn exit(s: &mut Stage) -> Result<()> {
    let t = one_turn(s, "a")?;
    t.tui.submit("/exit")?;
    see_goodbye(s, &t, "closed by /exit", by_the_person)
}

/// The client exits after two presses within a second. On a busy machine the second press may be late and then counts as
/// a first one.
fn press_twice(t: &ClientSeat, key: &str) -> Result<()> {
    for _ in 0..TRIES_TO_LEAVE {
        t.tui.press(&[key])?;
        t.tui.wait_text("again to exit", DRAWN)?;
        t.tui.press(&[key])?;
        if t.tui.wait_gone(LEAVES).is_ok() {
            return Ok(());
        }
        println!("  the second {key} came too late; once more");
    }
    bail!("{key} twice does not end it")
}

pub(super) fn ctrl_c(s: &mut Stage) -> Result<()> {
    let t = one_turn(s, "a")?;
    press_twice(&t, "C-c")?;
    see_goodbye(s, &t, "closed by Ctrl-C", by_the_person)
}

pub(super) fn ctrl_d(s: &mut Stage) -> Result<()> {
    let t = one_turn(s, "a")?;
    press_twice(&t, "C-d")?;
    see_goodbye(s, &t, "closed by Ctrl-D", by_the_person)
}

pub(super) fn signals(s: &mut Stage) -> Result<()> {
    for signal in ["TERM", "HUP", "INT"] {
        let t = one_turn(s, signal)?;
        t.tui.signal(signal)?;
        see_goodbye(s, &t, &format!("closed by {signal}"), from_outside)?;
    }
    Ok(())
}

pub(super) fn terminal(s: &mut Stage) -> Result<()> {
    // A second terminal keeps the tmux server alive.
    let other = s.open("b")?;
    let t = one_turn(s, "a")?;
    t.tui.close_terminal()?;
    t.tui.wait_gone(DRAWN)?;
    see_goodbye(s, &t, "its terminal is gone", from_outside)?;
    s.see(&other, "the other is untouched", idle())
}

pub(super) fn kill(s: &mut Stage) -> Result<()> {
    let t = one_turn(s, "a")?;
    t.tui.signal("KILL")?;
    s.see(&t, "killed while idle", exited())?;
    s.see_card(&t, "without a word of its own", |card| card["end_reason"] == "process_died")?;
    let t = s.open("b")?;
    s.prompt(&t, "SCRIPT:hang one")?;
    s.see(&t, "thinks", working().board(&["thinking"]))?;
    t.tui.signal("KILL")?;
    s.see(&t, "killed in the middle of a turn", exited())
}
