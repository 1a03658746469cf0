//! Esc in every phase. No hook fires for it: the board learns it from the registry.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::e2e::expect::{idle, interrupted, plan as plan_ready, question as asks, working};
use crate::e2e::stage::{ClientSeat, Stage};

/// The screen shows only the prompt back in its box; the board also shows the interruption.
const BACK_IN_THE_BOX: &[&str] = &["interrupted"];

pub(super) fn before_token(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hang one")?;
    s.see(&t, "thinks", working().board(&["thinking"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted before a word", idle().board(BACK_IN_THE_BOX))?;
    t.tui.press(&["C-u"])?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "goes on", idle())
}

pub(super) fn streaming(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:slow one")?;
    t.tui.wait_text("Line 00", Duration::from_secs(20))?;
    s.see(&t, "writes", working().board(&["thinking"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted", interrupted())?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "goes on", idle())
}

pub(super) fn tool(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:sleep one")?;
    t.tui.wait_text(r"\$ timeout 45", Duration::from_secs(20))?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted", interrupted())?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "goes on", idle())
}

pub(super) fn question(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:ask one")?;
    s.see(&t, "asks", asks())?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "refused", interrupted())
}

pub(super) fn plan(s: &mut Stage) -> Result<()> {
    let t = s.open_with("a", &["--permission-mode", "plan"], &[])?;
    s.prompt(&t, "SCRIPT:plan one")?;
    s.see(&t, "shows its plan", plan_ready())?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "refused", interrupted())
}

pub(super) fn retry(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:err500 one")?;
    t.tui.wait_text("Retrying in", Duration::from_secs(20))?;
    s.see(&t, "waits to try again", working().board(&["thinking"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "given up", idle().board(BACK_IN_THE_BOX))
}

pub(super) fn foreground_agent(s: &mut Stage) -> Result<()> {
    let foreground = [("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1")];
    let t = s.open_with("a", &["--permission-mode", "default"], &foreground)?;
    s.prompt(&t, "SCRIPT:subsleepy one")?;
    t.tui.wait_text(r"timeout 45|Sleep a while|Sleeping", Duration::from_secs(20))?;
    s.see(&t, "an agent works", working().board(&["delegating", "acting"]))?;
    s.must_hear(&t, "SubagentStart", 1)?;
    s.see_card(&t, "an agent works there too", |card| card["sub_agents"][0]["state"] == "working")?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted", interrupted())?;
    s.see_card(&t, "no agent works on", |card| {
        card["sub_agents"].as_array().into_iter().flatten().map(|agent| &agent["state"]).eq(["done"])
    })
}

/// A hook of the person keeps the client waiting; our hook for the same event has already ended.
pub(super) fn pre_tool_hook(s: &mut Stage) -> Result<()> {
    let t = open_with_a_slow_hook(s, "PreToolUse")?;
    s.prompt(&t, "SCRIPT:bash one")?;
    t.tui.wait_text("PreToolUse", Duration::from_secs(20))?;
    s.see(&t, "the hook runs", working().board(&["acting"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted", interrupted())
}

/// Claude has already replied, so Esc interrupts no turn and only ends the waiting.
pub(super) fn stop_hook(s: &mut Stage) -> Result<()> {
    let t = open_with_a_slow_hook(s, "Stop")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    t.tui.wait_text("Hello from the stub model", Duration::from_secs(20))?;
    // Our Stop hook fires at once; a second later the client is still busy.
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "the hook runs", working().board(&["thinking"]))?;
    s.see_past(&t, "Claude has answered", "The turn ended.")?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "the hook is ended", interrupted().board(&["idle"]))
}

fn open_with_a_slow_hook(s: &Stage, event: &str) -> Result<ClientSeat> {
    let mut settings = s.lab.settings()?;
    settings["permissions"] = json!({"allow": ["Bash"]});
    settings["hooks"][event] = json!([{"hooks": [{"type": "command", "command": "sleep 30"}]}]);
    s.lab.write_settings(&settings)?;
    s.install_hooks()?;
    s.open("a")
}
