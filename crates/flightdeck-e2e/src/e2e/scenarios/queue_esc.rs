//! Esc with a prompt in the client's queue, where no hook and no registry entry says that the next turn begins: in a dialog, beside
//! a background agent, and while the turn waits for an agent. The client continues with its queue at once.

use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::edges::{agent_works, with_agent_beside};
use super::queue::type_ahead;
use crate::e2e::expect::{Expect, idle, interrupted, permission, question, working};
use crate::e2e::stage::{ClientSeat, Stage};

const SHOWN: Duration = Duration::from_secs(20);
/// The queued turn writes below the interrupted one.
const WRITES_AFTER_ESC: &str = r"Interrupted(?s:.*)Line 00";
/// The timeout for which no request is held: the daemon ends a hold five seconds before it.
const NOT_HELD: &str = "5";

fn refused_and_gone_on(card: &Value) -> bool {
    card["asks"][0]["resolution"]["how"] == "refused_in_terminal" && card["queued_prompts"] == 0
}

/// The first call of a batch runs while a prompt is typed ahead; the second one asks. The queue is absorbed only after the batch.
fn esc_in_dialog(s: &mut Stage, name: &str, script: &str, dialog: Expect) -> Result<()> {
    let t = s.open(name)?;
    s.prompt(&t, &format!("SCRIPT:{script} one"))?;
    t.tui.wait_text("until test -e go", SHOWN)?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    type_ahead(s, &t, &["SCRIPT:slow q1"])?;
    s.go()?;
    s.see(&t, "asks with a prompt in the queue", dialog)?;
    s.see_card(&t, "one waits", |card| card["queued_prompts"] == 1)?;
    s.answer(&t, &["Escape"])?;
    t.tui.wait_text("Line 00", SHOWN)?;
    s.see(&t, "the queued turn writes", working().board(&["thinking"]))?;
    s.see_card(&t, "refused, and none waits", refused_and_gone_on)?;
    s.see(&t, "it still writes", working().board(&["thinking"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted too", interrupted())?;
    std::fs::remove_file(s.lab.cwd().join("go"))?;
    Ok(())
}

pub(super) fn in_dialog(s: &mut Stage) -> Result<()> {
    esc_in_dialog(s, "a", "untilwrite", permission("Write"))?;
    esc_in_dialog(s, "b", "untilask", question())?;
    s.run(&["hooks", "install", "--hold-seconds", NOT_HELD])?;
    println!("  not held:");
    esc_in_dialog(s, "c", "untilwrite", permission("Write"))?;
    esc_in_dialog(s, "d", "untilask", question())
}

/// Esc with a prompt in the queue. The registry stays busy for the agent.
fn esc_beside_agent(s: &mut Stage, t: &ClientSeat, queued: &str, after: &str, board: &Expect) -> Result<()> {
    type_ahead(s, t, &[queued])?;
    s.see_card(t, "one waits", |card| card["queued_prompts"] == 1)?;
    t.tui.press(&["Escape"])?;
    t.tui.wait_text(after, SHOWN)?;
    s.see_card(t, "none waits, and the agent works on", |card| {
        card["queued_prompts"] == 0 && agent_works(card)
    })?;
    s.see(t, "the queued turn runs", board.clone())?;
    s.see(t, "it still runs", board.clone())
}

/// Esc with nothing in the queue. Then the agent reports.
fn esc_again_beside_agent(s: &mut Stage, t: &ClientSeat) -> Result<()> {
    t.tui.press(&["Escape"])?;
    s.see(t, "interrupted too", interrupted())?;
    s.see_card(t, "the agent works on", agent_works)?;
    s.go()?;
    s.must_hear(t, "Stop", 1)?;
    // The interruption is still the last thing on the screen that its reader knows.
    s.see(t, "Claude has read the agent's report", interrupted().board(&["idle"]))
}

pub(super) fn beside_agent_in_call(s: &mut Stage) -> Result<()> {
    let t = with_agent_beside(s)?;
    let runs = working().board(&["acting"]);
    esc_beside_agent(s, &t, "SCRIPT:sleepagain q1", r"\$ timeout 44|Sleep again", &runs)?;
    esc_again_beside_agent(s, &t)
}

pub(super) fn beside_agent_while_writing(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:agentandslow one")?;
    t.tui.wait_text("Line 00", SHOWN)?;
    s.must_hear(&t, "SubagentStart", 1)?;
    let writes = working().board(&["thinking"]);
    s.see(&t, "it writes, beside an agent", writes.clone())?;
    esc_beside_agent(s, &t, "SCRIPT:slow q1", WRITES_AFTER_ESC, &writes)?;
    // No hook has named the queued turn yet.
    esc_beside_agent(s, &t, "SCRIPT:slow q2", "slow q2(?s:.*)Line 00", &writes)?;
    esc_again_beside_agent(s, &t)
}

/// The agent ends with the turn that waits for it, and no hook says so.
pub(super) fn on_agent(s: &mut Stage) -> Result<()> {
    let foreground = [("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1")];
    let t = s.open_with("a", &["--permission-mode", "default"], &foreground)?;
    s.prompt(&t, "SCRIPT:subsleepy one")?;
    t.tui.wait_text(r"timeout 45|Sleep a while|Sleeping", SHOWN)?;
    s.must_hear(&t, "SubagentStart", 1)?;
    s.see_card(&t, "an agent works", agent_works)?;
    type_ahead(s, &t, &["SCRIPT:writes q1"])?;
    t.tui.press(&["Escape"])?;
    t.tui.wait_text(WRITES_AFTER_ESC, SHOWN)?;
    s.see(&t, "the queued turn writes", working().board(&["thinking"]))?;
    s.see_card(&t, "none waits, and no agent works", |card| {
        card["queued_prompts"] == 0 && !agent_works(card)
    })?;
    s.see(&t, "it still writes", working().board(&["thinking"]))?;
    s.lab.api().end_writing();
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "done", idle())
}
