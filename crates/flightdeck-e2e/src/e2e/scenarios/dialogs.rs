//! Dialogs that no hook reports, that are left by another way than yes and no, or that open beside other work.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::open_asks;
use crate::e2e::expect::{
    agent_permission, background, dialog, exited, idle, interrupted, permission, plan, working,
};
use crate::e2e::stage::{ClientSeat, DRAWN, Stage};

const SHOWN: Duration = Duration::from_secs(20);

/// How each request on the card ended, the oldest first.
fn ends(card: &Value) -> Vec<&str> {
    let asks = card["asks"].as_array().into_iter().flatten();
    asks.filter_map(|ask| ask["resolution"]["how"].as_str()).collect()
}

/// "Tell Claude what to change", twice, and then the second mode.
pub(super) fn plan_sent_back(s: &mut Stage) -> Result<()> {
    let t = s.open_with("a", &["--permission-mode", "plan"], &[])?;
    s.prompt(&t, "SCRIPT:planthrice one")?;
    s.see(&t, "shows its plan", plan())?;
    for (times, words) in [(1, "be shorter"), (2, "shorter still")] {
        let heard = s.heard(&t, "PermissionRequest")?;
        s.answer(&t, &[&option(&t, "Tell Claude what to change")?])?;
        t.tui.submit(words)?;
        s.must_hear(&t, "PermissionRequest", heard + 1)?;
        s.see(&t, &format!("shows it again after {words:?}"), plan())?;
        s.must_hear(&t, "PostToolBatch", times + 1)?;
    }
    s.see_card(&t, "refused twice, one is open", |card| {
        ends(card) == ["refused_in_terminal"; 2] && open_asks(card).count() == 1
    })?;
    s.answer(&t, &[&option(&t, "manually approve")?])?;
    s.must_hear(&t, "Stop", 1)?;
    // The refusals of this turn are the last thing on the screen that its reader knows.
    s.see(&t, "approved", interrupted().board(&["idle"]))?;
    s.see_card(&t, "the third one was answered", |card| {
        ends(card) == ["refused_in_terminal", "refused_in_terminal", "answered_in_terminal"]
            && card["permission_mode"] == "default"
    })
}

/// The number of an option in a dialog.
fn option(t: &ClientSeat, text: &str) -> Result<String> {
    let screen = t.tui.capture()?;
    let line =
        screen.lines().find(|line| line.contains(text)).with_context(|| format!("no option {text}"))?;
    let number = line.trim().trim_start_matches('❯').trim().split('.').next().map(str::to_owned);
    number.filter(|n| n.parse::<u8>().is_ok()).with_context(|| format!("no number before {text}: {line}"))
}

/// A form is closed with Esc, and the next one is declined.
pub(super) fn form_refused(s: &mut Stage) -> Result<()> {
    let config = s.lab.dir().join("mcp.json");
    let server =
        json!({"command": std::env::current_exe()?, "args": ["mcp-stub", s.lab.dir().join("mcp.log")]});
    fs::write(&config, json!({"mcpServers": {"lab": server}}).to_string())?;
    let config = config.display().to_string();
    let args = ["--permission-mode", "default", "--mcp-config", &config, "--allowedTools", "mcp__lab__ask"];
    let t = s.open_with("a", &args, &[])?;
    s.prompt(&t, "SCRIPT:elicittwice one")?;
    s.see(&t, "a form", dialog().board(&["awaiting_input"]))?;
    s.answer(&t, &["Escape"])?;
    s.must_hear(&t, "Elicitation", 2)?;
    s.see(&t, "closed, and another form", dialog().board(&["awaiting_input"]))?;
    s.see_card(&t, "the first was refused", |card| {
        ends(card) == ["refused_in_terminal"] && open_asks(card).count() == 1
    })?;
    s.answer(&t, &["Down"])?;
    s.answer(&t, &["Down"])?;
    t.tui.wait_text("❯ Decline", SHOWN)?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "declined", idle())?;
    s.see_card(&t, "both were refused", |card| ends(card) == ["refused_in_terminal"; 2])
}

/// In plan mode the client checks a command itself. If that is not available it asks, and no PermissionRequest reports it.
pub(super) fn unhooked(s: &mut Stage) -> Result<()> {
    let names_it = |card: &Value| {
        let label = card["agent_state"]["label"].as_str().unwrap_or_default();
        card["agent_state"]["state"] == "needs_permission" && label.starts_with("Permission for Bash: touch ")
    };
    let t = s.open_with("a", &["--permission-mode", "plan"], &[])?;
    s.prompt(&t, "SCRIPT:bash one")?;
    t.tui.wait_screen("the dialog", SHOWN, |screen| *screen == permission("Bash").screen)?;
    s.see_card(&t, "the dialog names the command", names_it)?;
    s.answer(&t, &["Down"])?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "given, done", idle())?;
    s.prompt(&t, "SCRIPT:bash two")?;
    t.tui.wait_screen("the dialog", SHOWN, |screen| *screen == permission("Bash").screen)?;
    s.see_card(&t, "the second dialog names it too", names_it)?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "refused", interrupted())?;
    s.see_card(&t, "the command was interrupted", |card| {
        card["agent_state"]["label"] == "You interrupted Bash"
    })
}

/// The client asks whether background work may stop: the person stays first, and then leaves.
pub(super) fn exit_over_work(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgagent one")?;
    s.see(&t, "an agent works on", background())?;
    t.tui.submit("/exit")?;
    t.tui.wait_text("Background work is running", DRAWN)?;
    s.see(&t, "asked whether to exit", dialog().board(&["waiting_background"]))?;
    s.answer(&t, &["Escape"])?;
    // The reader takes the command for a new turn.
    s.see(&t, "stays, the agent works on", idle().board(&["waiting_background"]))?;
    t.tui.submit("/exit")?;
    t.tui.wait_text("Background work is running", DRAWN)?;
    s.answer(&t, &["Enter"])?;
    t.tui.wait_gone(SHOWN)?;
    s.see(&t, "exits and stops the agent", exited())?;
    s.see_card(&t, "no agent works", |card| {
        card["background"]["agents"] == 0 && card["sub_agents"][0]["state"] == "done"
    })
}

/// The client shows the request of an agent only when the person has closed the menu.
pub(super) fn request_behind_menu(s: &mut Stage) -> Result<()> {
    s.lab.write_settings(&{
        let mut settings = s.lab.settings()?;
        settings["permissions"] = json!({"allow": ["Agent", "Bash(timeout:*)"]});
        settings
    })?;
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bglate one")?;
    s.see(&t, "an agent works on", background())?;
    t.tui.submit("/model")?;
    s.see(&t, "a menu over it", dialog().board(&["waiting_background"]))?;
    s.go()?;
    s.must_hear(&t, "PermissionRequest", 1)?;
    s.see(&t, "the agent asks behind the menu", dialog().board(&["needs_permission"]))?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "the menu is closed", agent_permission("Bash"))?;
    s.answer(&t, &["Escape"])?;
    s.must_hear(&t, "SubagentStop", 1)?;
    s.see(&t, "refused, and Claude has read the report", idle())?;
    s.see_card(&t, "refused", |card| ends(card) == ["refused_in_terminal"])
}

/// A settings file that is no JSON has no hooks, until it is repaired.
pub(super) fn settings_broken(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    s.see(&t, "asks", permission("Bash"))?;
    let path = s.lab.config_dir().join("settings.json");
    let settings = fs::read(&path)?;
    fs::write(&path, "{ broken")?;
    s.see(&t, "still asks without hooks", permission("Bash"))?;
    fs::write(&path, settings)?;
    s.see(&t, "still asks with hooks", permission("Bash"))?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "given", working().board(&["acting"]))?;
    s.go()?;
    s.see(&t, "done", idle())?;
    s.see_card(&t, "it was answered", |card| ends(card) == ["answered_in_terminal"])
}
