//! Our hooks are removed and returned in each phase of a turn: "You interrupted" is said only if the person did.

use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::context::Reloads;
use crate::e2e::expect::{idle, interrupted, permission, working};
use crate::e2e::stage::{ClientSeat, Stage};

const SHOWN: Duration = Duration::from_secs(20);

/// Removes the hooks and waits until the client has read its settings again: it says so with the old set of hooks.
fn remove_hooks(s: &mut Stage, t: &ClientSeat) -> Result<()> {
    let heard = s.heard(t, "ConfigChange")?;
    s.run(&["hooks", "uninstall"])?;
    s.must_hear(t, "ConfigChange", heard + 1)
}

fn ended_away(card: &Value) -> bool {
    card["agent_state"]["label"] == "Ended while Flightdeck was away"
}

/// Puts the hooks back and waits until the client has read its settings again.
fn return_hooks(s: &Stage, reloads: &Reloads) -> Result<()> {
    let before = reloads.count();
    s.install_hooks()?;
    reloads.wait_for_more_than(before)
}

pub(super) fn gone_idle(s: &mut Stage) -> Result<()> {
    let reloads = Reloads::of_next_client(s)?;
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    remove_hooks(s, &t)?;
    s.prompt(&t, "SCRIPT:writes two")?;
    s.see(&t, "writes, by the registry", working().board(&["thinking"]).by_registry())?;
    s.lab.api().end_writing();
    s.see(&t, "answered unheard", idle().by_registry())?;
    return_hooks(s, &reloads)?;
    s.prompt(&t, "SCRIPT:sleep three")?;
    t.tui.wait_text(r"\$ timeout 45", SHOWN)?;
    s.see(&t, "a command runs, and is heard", working().board(&["acting"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted", interrupted())
}

pub(super) fn gone_thinking(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:writes one")?;
    t.tui.wait_text("Line 00", SHOWN)?;
    remove_hooks(s, &t)?;
    s.lab.api().end_writing();
    s.see(&t, "answered unheard", idle().by_registry())?;
    s.see_card(&t, "not interrupted", |card| {
        let stopped = card["agent_state"]["label"] == "Waiting for your next prompt";
        ended_away(card) || stopped
    })
}

pub(super) fn gone_tool(s: &mut Stage) -> Result<()> {
    let reloads = Reloads::of_next_client(s)?;
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    remove_hooks(s, &t)?;
    s.go()?;
    s.see(&t, "ended unheard", idle().by_registry())?;
    s.see_card(&t, "and says so", ended_away)?;
    return_hooks(s, &reloads)?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "heard again", idle())?;
    s.must_hear(&t, "Stop", 1)
}

pub(super) fn gone_dialog(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bash one")?;
    s.see(&t, "asks", permission("Bash"))?;
    remove_hooks(s, &t)?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "allowed and ended unheard", idle().by_registry())?;
    s.see_card(&t, "the request closed meanwhile", |card| {
        card["asks"][0]["resolution"]["how"] == "closed_while_away"
    })
}

pub(super) fn gone_esc(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:sleep one")?;
    t.tui.wait_text(r"\$ timeout 45", SHOWN)?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    remove_hooks(s, &t)?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted, by the transcript", interrupted().by_registry())
}

pub(super) fn returned_tool(s: &mut Stage) -> Result<()> {
    let reloads = Reloads::of_next_client(s)?;
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    remove_hooks(s, &t)?;
    return_hooks(s, &reloads)?;
    s.go()?;
    s.see(&t, "ended, and not by the person", idle().by_registry())
}

pub(super) fn daemon_down(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    remove_hooks(s, &t)?;
    s.kill_daemon()?;
    s.go()?;
    t.tui.wait_text("It is there", SHOWN)?;
    s.restart()?;
    s.see(&t, "ended while no daemon ran", idle().by_registry())?;
    s.see_card(&t, "and says so", ended_away)
}
