//! Turns that run to their end by themselves.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::e2e::expect::{error, idle, working};
use crate::e2e::stage::{DRAWN, Stage};

pub(super) fn print(s: &mut Stage) -> Result<()> {
    let done = s.lab.print("SCRIPT:hello say hello", &[], &[])?;
    ensure!(done.success && done.stdout.contains("Hello"), "{done:?}");
    let refused = s.lab.print("SCRIPT:bash may not", &["--permission-mode", "default"], &[])?;
    ensure!(refused.success, "{refused:?}");
    let mut ids: Vec<String> = s.lab.api().seen().into_iter().map(|r| r.session_id).collect();
    ids.dedup();
    ensure!(ids.len() == 2, "two sessions, seen {ids:?}");
    s.see_board(&ids[0], "said hello and ended", &["session_ended"])?;
    s.see_board(&ids[1], "was refused a tool and ended", &["session_ended"])
}

pub(super) fn turn(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.see(&t, "fresh", idle())?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    s.prompt(&t, "SCRIPT:multi two")?;
    s.see(&t, "ran two commands", idle())?;
    s.prompt(&t, "SCRIPT:nap three")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    s.see(&t, "and is done", idle())
}

pub(super) fn tool_failure(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:fail one")?;
    s.see(&t, "the command failed, Claude went on", idle())?;
    s.prompt(&t, "SCRIPT:badtool two")?;
    s.see(&t, "the tool does not exist", idle())
}

pub(super) fn queued_prompt(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:nap one")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    t.tui.submit("SCRIPT:hello queued")?;
    t.tui.wait_text("queued messages|to send now", DRAWN)?;
    s.see(&t, "the prompt waits in the queue", working().board(&["acting"]))?;
    s.see(&t, "both are done", idle())
}

pub(super) fn api_errors(s: &mut Stage) -> Result<()> {
    let t = s.open_with("a", &["--permission-mode", "default"], &[("CLAUDE_CODE_MAX_RETRIES", "1")])?;
    s.prompt(&t, "SCRIPT:err500 one")?;
    s.see(&t, "server error", error())?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "it works again", idle())?;
    s.prompt(&t, "SCRIPT:err429 three")?;
    s.see(&t, "rate limit", error())?;
    s.prompt(&t, "SCRIPT:err401 four")?;
    s.see(&t, "not authorised", error())?;
    s.prompt(&t, "SCRIPT:drop five")?;
    s.see(&t, "the stream was cut, which the client takes as an answer", idle())
}

pub(super) fn print_errors(s: &mut Stage) -> Result<()> {
    for (script, step) in [("err401", "not authorised"), ("err500", "server error"), ("err429", "rate limit")]
    {
        let failed =
            s.lab.print(&format!("SCRIPT:{script} one"), &[], &[("CLAUDE_CODE_MAX_RETRIES", "0")])?;
        ensure!(!failed.success, "{failed:?}");
        let id = s.lab.api().seen().last().map(|r| r.session_id.clone()).unwrap_or_default();
        s.see_board(&id, &format!("{step}, and ended"), &["session_ended"])?;
    }
    Ok(())
}

/// A command the person runs in the prompt box: the model is told, and asked nothing.
pub(super) fn shell_command(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.see(&t, "fresh", idle())?;
    // The key alone changes what the box is for.
    t.tui.press(&["!"])?;
    t.tui.submit("echo typed-by-$((40+2))")?;
    t.tui.wait_text("typed-by-42", DRAWN)?;
    s.see(&t, "the command ran, nobody works", idle())?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "goes on", idle())
}

pub(super) fn todos(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:todos one")?;
    s.see(&t, "made a list and did one of it", idle())
}

pub(super) fn idle_notification(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    // No fact tells on the screen that the notification has been sent.
    std::thread::sleep(Duration::from_secs(65));
    s.see(&t, "still waiting after the reminder", idle())
}
