//! Esc in every phase. No hook fires for any of these: the screen is checked today, the board with the registry.

use std::time::Duration;

use anyhow::Result;

use crate::e2e::expect::{idle, interrupted, plan as plan_ready, question as asks, working};
use crate::e2e::stage::Stage;

/// The screen shows only the prompt, back in its box; the board knows more.
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
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted", interrupted())
}
