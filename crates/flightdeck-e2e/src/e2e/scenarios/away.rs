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
        let stopped = card["agent_state"]["label"] == "Finished";
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

pub(super) fn returned_writing(s: &mut Stage) -> Result<()> {
    let reloads = Reloads::of_next_client(s)?;
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:writes one")?;
    t.tui.wait_text("Line 00", SHOWN)?;
    remove_hooks(s, &t)?;
    return_hooks(s, &reloads)?;
    s.see(&t, "it still writes", working().board(&["thinking"]))?;
    s.lab.api().end_writing();
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "ended, and was heard", idle())?;
    s.see_card(&t, "as any turn", |card| card["agent_state"]["label"] == "Finished")
}

/// The first request is allowed in the terminal, the second one refused.
pub(super) fn returned_dialog(s: &mut Stage) -> Result<()> {
    let reloads = Reloads::of_next_client(s)?;
    let t = s.open("a")?;
    let allowed: fn(&Value) -> bool = |card| last_ask_ended(card, "answered_in_terminal");
    let refused: fn(&Value) -> bool = |card| last_ask_ended(card, "refused_in_terminal");
    for (prompt, key, was) in [("SCRIPT:bash one", "Enter", allowed), ("SCRIPT:bash two", "Escape", refused)]
    {
        s.prompt(&t, prompt)?;
        s.see(&t, "asks", permission("Bash"))?;
        remove_hooks(s, &t)?;
        return_hooks(s, &reloads)?;
        s.see(&t, "still asks", permission("Bash"))?;
        s.answer(&t, &[key])?;
        let end = if key == "Enter" { idle() } else { interrupted() };
        s.see(&t, &format!("{key} in the terminal"), end)?;
        s.see_card(&t, "and is known", was)?;
    }
    Ok(())
}

fn last_ask_ended(card: &Value, how: &str) -> bool {
    let last = card["asks"].as_array().and_then(|asks| asks.last());
    last.is_some_and(|ask| ask["resolution"]["how"] == how)
}

/// The second request follows the answer to the first one at once.
pub(super) fn gone_dialogs(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:twoperm one")?;
    s.see(&t, "asks", permission("Bash"))?;
    remove_hooks(s, &t)?;
    s.answer(&t, &["Enter"])?;
    t.tui.wait_text("touch p2", SHOWN)?;
    s.see_card(&t, "another request, and the first is closed", |card| {
        card["agent_state"]["state"] == "needs_permission"
            && card["agent_state"]["label"] == "Permission needed"
            && card["asks"][0]["resolution"]["how"] == "closed_while_away"
    })?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "allowed and ended unheard", idle().by_registry())?;
    s.see_card(&t, "and says so", ended_away)
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
