//! Subagents that fail, and background work that the person ends or begins.

use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use crate::e2e::expect::{agent_permission, background, idle, working};
use crate::e2e::stage::{ClientSeat, DRAWN, Stage};

const SHOWN: Duration = Duration::from_secs(20);

fn states(card: &Value) -> Vec<&str> {
    card["sub_agents"].as_array().into_iter().flatten().filter_map(|a| a["state"].as_str()).collect()
}

fn all_failed(card: &Value) -> bool {
    let mut labels = card["sub_agents"].as_array().into_iter().flatten().map(|a| a["label"].as_str());
    !states(card).is_empty()
        && states(card).iter().all(|state| *state == "failed")
        && labels.all(|label| label.is_some_and(|l| l.starts_with("general-purpose failed: ")))
        && card["background"]["agents"] == 0
}

pub(super) fn fails_early(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:subfail one")?;
    t.tui.wait_text("failed: Agent terminated", SHOWN)?;
    s.see(&t, "Claude reads of it", idle())?;
    s.must_hear(&t, "StopFailure", 1)?;
    s.see_card(&t, "the agent failed", all_failed)
}

pub(super) fn fails_late(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:subfaillate one")?;
    s.see(&t, "the agent works", background())?;
    s.go()?;
    t.tui.wait_text("failed: Agent terminated", SHOWN)?;
    s.see(&t, "Claude reads of it", idle())?;
    s.see_card(&t, "the agent failed", all_failed)
}

pub(super) fn fail_all(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:subfailall one")?;
    s.see(&t, "three agents work", background())?;
    s.see_card(&t, "three work", |card| states(card).len() == 3)?;
    s.go()?;
    s.must_hear(&t, "StopFailure", 3)?;
    s.see(&t, "Claude reads of it", idle())?;
    s.see_card(&t, "all failed", |card| states(card).len() == 3 && all_failed(card))
}

/// The outer agent ends its turn before the inner one, and goes on with the report of it.
pub(super) fn agent_in_agent(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:nested one")?;
    s.must_hear(&t, "SubagentStop", 1)?;
    t.tui.wait_text("Waiting for 2 background agents", SHOWN)?;
    s.see(&t, "both agents count", background())?;
    s.see_card(&t, "two work", |card| {
        card["agent_state"]["label"] == "Waiting on 2 background agents" && states(card) == ["working"; 2]
    })?;
    s.go()?;
    s.must_hear(&t, "SubagentStop", 3)?;
    s.see(&t, "Claude has read the report", idle())?;
    s.see_card(&t, "both are done", |card| states(card) == ["done"; 2])
}

/// The outer agent waits for the inner one already when the main agent ends its turn. The Stop lists only the inner one.
pub(super) fn agent_in_agent_first(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:nestedlast one")?;
    s.must_hear(&t, "SubagentStop", 1)?;
    s.see(&t, "the main agent still writes", working())?;
    s.lab.api().end_writing();
    s.must_hear(&t, "Stop", 1)?;
    t.tui.wait_text("Waiting for 2 background agents", SHOWN)?;
    s.see(&t, "both agents count", background())?;
    s.see_card(&t, "two work", |card| {
        card["agent_state"]["label"] == "Waiting on 2 background agents"
            && card["background"]["agents"] == 2
            && states(card) == ["working"; 2]
    })?;
    s.go()?;
    s.must_hear(&t, "SubagentStop", 3)?;
    s.see(&t, "Claude has read the report", idle())?;
    s.see_card(&t, "both are done", |card| card["background"]["agents"] == 0 && states(card) == ["done"; 2])
}

/// Opens the list of background work and stops what is selected. With one entry the client shows the entry itself.
fn stop_in_tasks(s: &Stage, t: &ClientSeat) -> Result<()> {
    t.tui.submit("/tasks")?;
    t.tui.wait_text("x to stop|stop · ", DRAWN)?;
    s.answer(t, &["x"])
}

pub(super) fn agent_stopped(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgagent one")?;
    s.see(&t, "the agent works on", background())?;
    stop_in_tasks(s, &t)?;
    s.must_hear(&t, "UserPromptSubmit", 2)?;
    s.must_hear(&t, "Stop", 2)?;
    s.see_card(&t, "no agent works, and no prompt was typed", |card| {
        !states(card).contains(&"working")
            && card["background"]["agents"] == 0
            && card["turn_count"] == 1
            && card["last_user_message"] == "SCRIPT:bgagent one"
    })
}

/// The list of running agents in the next Stop says which one was stopped.
pub(super) fn one_agent_stopped(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgagents one")?;
    s.see(&t, "two agents work on", background())?;
    s.see_card(&t, "two work", |card| states(card) == ["working", "working"])?;
    stop_in_tasks(s, &t)?;
    // The client delivers the notice once the list is closed.
    s.answer(&t, &["Escape"])?;
    s.must_hear(&t, "UserPromptSubmit", 2)?;
    s.must_hear(&t, "Stop", 2)?;
    s.see_card(&t, "one works on", |card| {
        let mut all = states(card);
        all.sort_unstable();
        all == ["done", "working"]
            && card["background"]["agents"] == 1
            && card["agent_state"]["state"] == "waiting_background"
    })?;
    s.go()?;
    s.must_hear(&t, "Stop", 3)?;
    s.see_card(&t, "both are done", |card| states(card) == ["done", "done"] && card["turn_count"] == 1)
}

/// Longest time to the first full minute, and a while for the client to notice it.
const NEXT_MINUTE: Duration = Duration::from_secs(150);

pub(super) fn scheduled_prompt(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:cron one")?;
    s.see(&t, "scheduled", idle())?;
    t.tui.wait_text("Hello from the stub", NEXT_MINUTE)?;
    s.must_hear(&t, "Stop", 2)?;
    s.see(&t, "the scheduled prompt is answered", idle())?;
    s.see_card(&t, "no person typed it", |card| {
        card["turn_count"] == 1 && card["last_user_message"] == "SCRIPT:cron one"
    })
}

pub(super) fn one_shell_killed(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgtwo one")?;
    s.see(&t, "two commands work on", idle())?;
    s.see_card(&t, "two in the background", |card| {
        card["background"]["shells"] == 2 && card["background"]["shells_min"] == 2
    })?;
    stop_in_tasks(s, &t)?;
    t.tui.wait_text("1 shell still running|1 shell", DRAWN)?;
    s.see_card(&t, "one is left", |card| {
        card["background"]["shells"] == 1 && card["background"]["shells_min"] == 1
    })
}

pub(super) fn ctrl_b(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    t.tui.wait_text("to run in background", SHOWN)?;
    // Inside tmux the client wants the key twice, because one is tmux's own.
    t.tui.press(&["C-b", "C-b"])?;
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "the turn went on", idle())?;
    s.see_card(&t, "a command in the background", |card| card["background"]["shells"] == 1)?;
    s.go()?;
    s.see_card(&t, "it ended", |card| card["background"]["shells"] == 0)
}

pub(super) fn permission_esc(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:subagent one")?;
    s.see(&t, "the agent asks", agent_permission("Bash"))?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "the agent went on without it", idle())?;
    s.see_card(&t, "refused in the terminal", |card| {
        card["asks"][0]["resolution"]["how"] == "refused_in_terminal"
    })
}
