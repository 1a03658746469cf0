//! Turns that end without any action of the person.

use std::time::Duration;

use anyhow::{Result, ensure};
use flightdeck_sim::client::wait_for;
use serde_json::json;

use crate::e2e::expect::{error, idle, working};
use crate::e2e::stage::{DRAWN, Stage};

/// The client reminds the person after a minute.
const REMINDED: Duration = Duration::from_secs(90);

pub(super) fn print(s: &mut Stage) -> Result<()> {
    let done = s.lab.print("SCRIPT:hello say hello", &[], &[])?;
    ensure!(done.success && done.stdout.contains("Hello"), "{done:?}");
    let refused = s.lab.print("SCRIPT:bash may not", &["--permission-mode", "default"], &[])?;
    ensure!(refused.success, "{refused:?}");
    let mut ids: Vec<String> = s.lab.api().seen().into_iter().map(|r| r.session_id).collect();
    ids.dedup();
    ensure!(ids.len() == 2, "two sessions, seen {ids:?}");
    s.see_board(&ids[0], "said hello and ended", &["session_ended"])?;
    s.see_board(&ids[1], "was refused a tool and ended", &["session_ended"])?;
    s.must_hear_of(&ids[1], "PermissionRequest", 1)?;
    ids.iter()
        .try_for_each(|id| ["Stop", "SessionEnd"].iter().try_for_each(|hook| s.must_hear_of(id, hook, 1)))
}

pub(super) fn turn(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.see(&t, "fresh", idle())?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    s.prompt(&t, "SCRIPT:multi two")?;
    s.see(&t, "ran two commands", idle())?;
    s.prompt(&t, "SCRIPT:until three")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    s.go()?;
    s.see(&t, "and is done", idle())?;
    s.must_hear(&t, "PostToolUse", 3)?;
    s.must_hear(&t, "Stop", 3)?;
    s.see_card(&t, "three turns", |card| card["turn_count"] == 3)
}

pub(super) fn tool_failure(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:fail one")?;
    s.see(&t, "the command failed, Claude went on", idle())?;
    s.must_hear(&t, "PostToolUseFailure", 1)?;
    s.see_card(&t, "what failed", |card| card["last_failure"]["tool"] == "Bash")?;
    s.prompt(&t, "SCRIPT:badtool two")?;
    s.see(&t, "the tool does not exist", idle())?;
    // All hooks that fire for it.
    s.must_hear(&t, "PostToolBatch", 2)?;
    s.see_card(&t, "nothing failed in this turn", |card| card["last_failure"].is_null())
}

pub(super) fn queued_prompt(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    t.tui.submit("SCRIPT:hello queued")?;
    t.tui.wait_text("queued messages|to send now", DRAWN)?;
    s.see(&t, "the prompt waits in the queue", working().board(&["acting"]))?;
    s.see_card(&t, "one in the queue", |card| card["queued_prompts"] == 1)?;
    s.go()?;
    s.see(&t, "both are done", idle())?;
    s.must_hear(&t, "UserPromptSubmit", 2)?;
    s.see_card(&t, "none in the queue", |card| card["queued_prompts"] == 0)
}

pub(super) fn api_errors(s: &mut Stage) -> Result<()> {
    let t = s.open_with("a", &["--permission-mode", "default"], &[("CLAUDE_CODE_MAX_RETRIES", "1")])?;
    s.prompt(&t, "SCRIPT:err500 one")?;
    s.see(&t, "server error", error())?;
    s.must_hear(&t, "StopFailure", 1)?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "it works again", idle())?;
    s.prompt(&t, "SCRIPT:err429 three")?;
    s.see(&t, "rate limit", error())?;
    s.must_hear(&t, "StopFailure", 2)?;
    s.prompt(&t, "SCRIPT:err401 four")?;
    s.see(&t, "not authorised", error())?;
    s.must_hear(&t, "StopFailure", 3)?;
    s.prompt(&t, "SCRIPT:drop five")?;
    s.see(&t, "the stream was cut, which the client takes as an answer", idle())?;
    s.must_hear(&t, "Stop", 2)
}

pub(super) fn print_errors(s: &mut Stage) -> Result<()> {
    for (script, step) in [("err401", "not authorised"), ("err500", "server error"), ("err429", "rate limit")]
    {
        let failed =
            s.lab.print(&format!("SCRIPT:{script} one"), &[], &[("CLAUDE_CODE_MAX_RETRIES", "0")])?;
        ensure!(!failed.success, "{failed:?}");
        let id = s.lab.api().seen().last().map(|r| r.session_id.clone()).unwrap_or_default();
        s.see_board(&id, &format!("{step}, and ended"), &["session_ended"])?;
        // StopFailure is not required: the client usually exits before that hook ends.
        s.must_hear_of(&id, "SessionEnd", 1)?;
    }
    Ok(())
}

/// The person runs a command in the prompt box: the model gets its output, but no request.
pub(super) fn shell_command(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.see(&t, "fresh", idle())?;
    // The key `!` alone switches the box to commands.
    t.tui.press(&["!"])?;
    t.tui.submit("echo typed-by-$((40+2))")?;
    t.tui.wait_text("typed-by-42", DRAWN)?;
    s.see(&t, "the command ran, Claude is idle", idle())?;
    s.must_hear(&t, "Stop", 1)?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "goes on", idle())
}

pub(super) fn todos(s: &mut Stage) -> Result<()> {
    // Newer models do not get these tools.
    let offered = [("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1")];
    let t = s.open_with("a", &["--permission-mode", "default"], &offered)?;
    s.prompt(&t, "SCRIPT:todos one")?;
    s.see(&t, "made a list and did one of it", idle())?;
    s.must_hear(&t, "TaskCreated", 2)?;
    s.must_hear(&t, "TaskCompleted", 1)?;
    s.see_card(&t, "one of two is done", |card| {
        let statuses = card["progress_items"].as_array().into_iter().flatten().map(|item| &item["status"]);
        statuses.eq([&json!("completed"), &json!("pending")])
    })
}

pub(super) fn idle_notification(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    wait_for("the reminder", REMINDED, || Ok((s.heard(&t, "Notification")? > 0).then_some(())))?;
    s.see(&t, "still waiting after the reminder", idle())
}
