//! Prompts typed ahead: they wait, are absorbed, or become the next turn after an Esc. The client takes its whole queue out at
//! once.

use std::time::Duration;

use anyhow::Result;

use crate::e2e::expect::{idle, interrupted, working};
use crate::e2e::stage::{ClientSeat, DRAWN, Stage};

const SHOWN: Duration = Duration::from_secs(20);

/// Types prompts ahead; waits until each one is on the card, so that they keep their order.
pub(super) fn type_ahead(s: &mut Stage, t: &ClientSeat, prompts: &[&str]) -> Result<()> {
    for prompt in prompts {
        let heard = s.heard(t, "UserPromptSubmit")?;
        t.tui.submit(prompt)?;
        s.must_hear(t, "UserPromptSubmit", heard + 1)?;
    }
    t.tui.wait_text("queued messages|to send now", DRAWN)?;
    Ok(())
}

pub(super) fn absorbed(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    type_ahead(s, &t, &["SCRIPT:hello q1", "SCRIPT:hello q2"])?;
    s.see(&t, "two wait", working().board(&["acting"]))?;
    s.see_card(&t, "two are queued, three turns, the last message", |card| {
        card["queued_prompts"] == 2
            && card["turn_count"] == 3
            && card["last_user_message"] == "SCRIPT:hello q2"
    })?;
    s.go()?;
    s.see(&t, "absorbed, and done once", idle())?;
    s.see_card(&t, "an empty queue", |card| card["queued_prompts"] == 0 && card["turn_count"] == 3)
}

/// The first turn is over: the client writes no transcript before it.
pub(super) fn taken_back(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    s.prompt(&t, "SCRIPT:until two")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    type_ahead(s, &t, &["SCRIPT:hello q1", "SCRIPT:hello q2"])?;
    s.see_card(&t, "two are queued", |card| card["queued_prompts"] == 2 && card["turn_count"] == 4)?;
    t.tui.press(&["Up"])?;
    t.tui.wait_no_text("to send now", SHOWN)?;
    s.see_card(&t, "none is queued, and the last message is the prompt that was sent", |card| {
        card["queued_prompts"] == 0
            && card["turn_count"] == 2
            && card["last_user_message"] == "SCRIPT:until two"
    })?;
    let heard = s.heard(&t, "UserPromptSubmit")?;
    t.tui.press(&["Enter"])?;
    s.must_hear(&t, "UserPromptSubmit", heard + 1)?;
    s.see_card(&t, "both are queued as one", |card| card["queued_prompts"] == 1 && card["turn_count"] == 3)?;
    s.go()?;
    s.see(&t, "absorbed, and done", idle())?;
    s.see_card(&t, "three prompts were sent", |card| {
        let last = card["last_user_message"].as_str().unwrap_or_default();
        card["queued_prompts"] == 0 && card["turn_count"] == 3 && last.contains("q1") && last.contains("q2")
    })
}

pub(super) fn esc_in_call(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:sleep one")?;
    t.tui.wait_text(r"\$ timeout 45", SHOWN)?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    type_ahead(s, &t, &["SCRIPT:hello q1", "SCRIPT:hello q2", "SCRIPT:until q3"])?;
    s.see_card(&t, "three are queued", |card| card["queued_prompts"] == 3)?;
    t.tui.press(&["Escape"])?;
    t.tui.wait_text("until test -e go", SHOWN)?;
    s.see(&t, "the queued turn runs another command", working().board(&["acting"]))?;
    s.see_card(&t, "the interrupted command is gone", |card| {
        let label = card["agent_state"]["label"].as_str().unwrap_or_default();
        label.contains("until test -e go") && card["queued_prompts"] == 0 && card["turn_count"] == 4
    })?;
    s.go()?;
    s.see(&t, "done", idle())
}

pub(super) fn esc_while_writing(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:slow one")?;
    t.tui.wait_text("Line 00", SHOWN)?;
    type_ahead(s, &t, &["SCRIPT:hello q1", "SCRIPT:hello q2", "SCRIPT:slow q3"])?;
    s.see(&t, "three wait", working().board(&["thinking"]))?;
    s.see_card(&t, "three are queued", |card| card["queued_prompts"] == 3 && card["turn_count"] == 4)?;
    t.tui.press(&["Escape"])?;
    t.tui.wait_text(r"Interrupted(?s:.*)Line 00", SHOWN)?;
    s.see(&t, "the queued turn writes", working().board(&["thinking"]))?;
    s.see_card(&t, "an empty queue", |card| card["queued_prompts"] == 0)?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted too", interrupted())
}

pub(super) fn esc_after(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    type_ahead(s, &t, &["SCRIPT:hello q1", "SCRIPT:slow q2"])?;
    s.go()?;
    t.tui.wait_text("Line 00", SHOWN)?;
    s.see(&t, "absorbed, it writes", working().board(&["thinking"]))?;
    s.see_card(&t, "an empty queue", |card| card["queued_prompts"] == 0)?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted", interrupted())
}

pub(super) fn own_turn(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:writes one")?;
    t.tui.wait_text("Line 00", SHOWN)?;
    type_ahead(s, &t, &["SCRIPT:hello q1", "SCRIPT:until q2"])?;
    s.see_card(&t, "two are queued", |card| card["queued_prompts"] == 2)?;
    s.lab.api().end_writing();
    t.tui.wait_text("until test -e go", SHOWN)?;
    s.see(&t, "they became the next turn", working().board(&["acting"]))?;
    s.see_card(&t, "an empty queue", |card| card["queued_prompts"] == 0 && card["turn_count"] == 3)?;
    s.go()?;
    s.see(&t, "done", idle())?;
    s.must_hear(&t, "Stop", 2)
}
