//! Hooks of the person beside ours that block a prompt, end a turn or send Claude on. The client then fires no Stop, or more than
//! one; the board must not say that the person interrupted.

use std::fs;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::e2e::expect::{Expect, background, idle, interrupted, working};
use crate::e2e::stage::{ClientSeat, DRAWN, Stage};

const SHOWN: Duration = Duration::from_secs(20);

/// The output of a hook that ends the turn.
const STOPS: &str = r#"echo '{"continue":false,"stopReason":"enough for today"}'"#;
/// The output of a hook that blocks what it is asked about.
const BLOCKS: &str = r#"echo '{"decision":"block","reason":"enough for today"}'"#;

/// Sets what the person's hook for this event does from now on: a shell script.
fn own_hook(s: &Stage, event: &str, script: &str) -> Result<()> {
    Ok(fs::write(s.lab.dir().join(format!("own-{event}.sh")), script)?)
}

/// A client with hooks of the person's own for these events beside ours. They do nothing yet.
fn open_with_own_hooks(s: &Stage, events: &[&str]) -> Result<ClientSeat> {
    let mut settings = s.lab.settings()?;
    for event in events {
        own_hook(s, event, "")?;
        let file = s.lab.dir().join(format!("own-{event}.sh"));
        let command = format!("sh '{}'", file.display());
        settings["hooks"][event] = json!([{"hooks": [{"type": "command", "command": command}]}]);
    }
    s.lab.write_settings(&settings)?;
    s.install_hooks()?;
    s.open("a")
}

fn stopped(card: &Value) -> bool {
    card["agent_state"]["label"] == "Stopped by a hook"
}

fn blocked(card: &Value) -> bool {
    card["agent_state"]["label"] == "Prompt blocked by a hook"
}

/// The screen shows a prompt box, and no word of an interrupt.
fn at_rest() -> Expect {
    idle().board(&["idle"])
}

/// Claude's work after the first Stop has the prompt id of the turn that seemed to have ended.
pub(super) fn stop_hook_goes_on(s: &mut Stage) -> Result<()> {
    let goes_on =
        r#"grep -q '"stop_hook_active":true' || echo '{"decision":"block","reason":"SCRIPT:sleep on"}'"#;
    let t = open_with_own_hooks(s, &["Stop"])?;
    own_hook(s, "Stop", goes_on)?;
    s.prompt(&t, "SCRIPT:hello one")?;
    t.tui.wait_text(r"\$ timeout 45", SHOWN)?;
    s.see(&t, "sent on, a command runs", working().board(&["acting"]))?;
    s.must_hear(&t, "Stop", 1)?;
    t.tui.submit("SCRIPT:hello two")?;
    s.must_hear(&t, "UserPromptSubmit", 2)?;
    s.see_card(&t, "a prompt waits", |card| card["queued_prompts"] == 1 && card["turn_count"] == 2)?;
    t.tui.press(&["Escape"])?;
    s.must_hear(&t, "Stop", 2)?;
    s.see(&t, "the queued prompt is answered, and sent on too", working().board(&["acting"]))?;
    s.see_card(&t, "none waits", |card| card["queued_prompts"] == 0)?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted", interrupted())
}

/// Submits a prompt that the person's hook does not let through.
fn submit_blocked(s: &mut Stage, t: &ClientSeat, prompt: &str, how: &str) -> Result<()> {
    let heard = s.heard(t, "UserPromptSubmit")?;
    own_hook(s, "UserPromptSubmit", how)?;
    // A blocked prompt returns to the box.
    t.tui.press(&["C-u"])?;
    t.tui.submit(prompt)?;
    s.must_hear(t, "UserPromptSubmit", heard + 1)
}

/// The prompt is not sent to the model, and no Stop follows.
pub(super) fn prompt_blocked(s: &mut Stage) -> Result<()> {
    let t = open_with_own_hooks(s, &["UserPromptSubmit"])?;
    let ways = [("one", BLOCKS), ("two", "echo enough for today >&2; exit 2"), ("three", STOPS)];
    for (n, how) in ways {
        submit_blocked(s, &t, &format!("SCRIPT:hello {n}"), how)?;
        t.tui.wait_text("enough for today", SHOWN)?;
        s.see(&t, &format!("prompt {n} was not sent"), at_rest())?;
        s.see_card(&t, "a hook blocked it", blocked)?;
    }
    own_hook(s, "UserPromptSubmit", "")?;
    t.tui.press(&["C-u"])?;
    s.prompt(&t, "SCRIPT:hello four")?;
    s.see(&t, "the next prompt is answered", at_rest())?;
    s.see_card(&t, "by a turn that ended", |card| {
        card["agent_state"]["label"] == "Waiting for your next prompt"
    })?;
    s.prompt(&t, "SCRIPT:hang five")?;
    s.see(&t, "thinks", working().board(&["thinking"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "this time the person stopped it", idle().board(&["interrupted"]))
}

/// Each kind of hook around a call may end the turn.
pub(super) fn turn_stopped(s: &mut Stage) -> Result<()> {
    let events = ["PreToolUse", "PostToolUse", "PostToolBatch"];
    let t = open_with_own_hooks(s, &[events[0], events[1], events[2], "Stop"])?;
    for (event, how) in [(events[0], STOPS), (events[1], STOPS), (events[2], STOPS), (events[2], BLOCKS)] {
        let heard = s.heard(&t, "PostToolUse")?;
        own_hook(s, event, how)?;
        s.prompt(&t, "SCRIPT:bash one")?;
        s.must_hear(&t, "PostToolUse", heard + 1)?;
        s.see(&t, &format!("{event} ended the turn"), at_rest())?;
        s.see_card(&t, "a hook ended it", stopped)?;
        own_hook(s, event, "")?;
    }
    s.prompt(&t, "SCRIPT:sleep two")?;
    t.tui.wait_text(r"\$ timeout 45", SHOWN)?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "this time the person stopped it", interrupted())?;
    own_hook(s, "Stop", STOPS)?;
    s.prompt(&t, "SCRIPT:hello three")?;
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "a turn that was over anyway", at_rest())?;
    s.see_card(&t, "it ended", |card| card["agent_state"]["label"] == "Waiting for your next prompt")
}

/// The client stays busy for the agent, so its registry does not show the end of the turn.
pub(super) fn stopped_beside_agent(s: &mut Stage) -> Result<()> {
    let t = open_with_own_hooks(s, &["PostToolBatch"])?;
    own_hook(s, "PostToolBatch", &format!("! grep -q bash-ok || {STOPS}"))?;
    s.prompt(&t, "SCRIPT:agentandbash one")?;
    t.tui.wait_text("enough for today", SHOWN)?;
    s.see_card(&t, "a hook ended the turn, and the agent works on", |card| {
        stopped(card) && card["sub_agents"][0]["state"] == "working"
    })?;
    s.go()?;
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "Claude has read the agent's report", at_rest())
}

/// A prompt that is typed ahead goes through the person's hook too. The client does not put it into its queue, and says so nowhere.
pub(super) fn queued_prompt_blocked(s: &mut Stage) -> Result<()> {
    let t = open_with_own_hooks(s, &["UserPromptSubmit"])?;
    s.prompt(&t, "SCRIPT:until one")?;
    t.tui.wait_text("until test -e go", SHOWN)?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    t.tui.submit("SCRIPT:hello two")?;
    s.must_hear(&t, "UserPromptSubmit", 2)?;
    t.tui.wait_text("queued messages|to send now", DRAWN)?;
    s.see_card(&t, "one waits", |card| card["queued_prompts"] == 1)?;
    submit_blocked(s, &t, "SCRIPT:hello three", BLOCKS)?;
    s.see(&t, "the command runs on", working().board(&["acting"]))?;
    t.tui.wait_text(r"❯\sSCRIPT:hello three", SHOWN)?;
    s.go()?;
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "done", at_rest())?;
    s.see_card(&t, "none waits", |card| card["queued_prompts"] == 0)
}

/// The client reports the end of an agent with a prompt of its own, which the person's hook blocks.
pub(super) fn notice_blocked(s: &mut Stage) -> Result<()> {
    let t = open_with_own_hooks(s, &["UserPromptSubmit"])?;
    own_hook(s, "UserPromptSubmit", &format!("! grep -q task-notification || {BLOCKS}"))?;
    s.prompt(&t, "SCRIPT:bgagent one")?;
    s.see(&t, "an agent works on", background())?;
    s.go()?;
    s.must_hear(&t, "UserPromptSubmit", 2)?;
    t.tui.wait_text("enough for today", SHOWN)?;
    s.see_card(&t, "a hook blocked the notice", blocked)?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "goes on", at_rest())
}

/// Two terminals on one session: a hook blocks the prompt of one while the other works.
pub(super) fn blocked_in_one_of_two(s: &mut Stage) -> Result<()> {
    let a = open_with_own_hooks(s, &["UserPromptSubmit"])?;
    s.prompt(&a, "SCRIPT:hello one")?;
    s.see(&a, "answered", idle())?;
    let id = s.session(&a).unwrap_or_default();
    let b = s.open_beside("b", &id)?;
    s.see(&b, "both rest", idle())?;
    s.prompt(&a, "SCRIPT:until two")?;
    s.see(&a, "the first works", working().board(&["acting"]))?;
    submit_blocked(s, &b, "SCRIPT:hello three", BLOCKS)?;
    b.tui.wait_text("enough for today", SHOWN)?;
    s.see_card(&a, "the second was blocked", |card| {
        let labels = card["processes"].as_array().into_iter().flatten().map(|p| &p["label"]);
        labels.clone().any(|label| label == "Prompt blocked by a hook")
            && card["agent_state"]["state"] == "acting"
    })?;
    s.go()?;
    s.must_hear(&a, "Stop", 2)?;
    s.see(&a, "the first is done", at_rest())
}

/// The agent fires no SubagentStop. The main agent works on.
pub(super) fn agent_stopped(s: &mut Stage) -> Result<()> {
    let t = open_with_own_hooks(s, &["PostToolBatch"])?;
    own_hook(s, "PostToolBatch", &format!("! grep -q agent_id || {STOPS}"))?;
    s.prompt(&t, "SCRIPT:agentandsleep one")?;
    t.tui.wait_text(r"\$ timeout 45|Sleep a while", SHOWN)?;
    s.must_hear(&t, "SubagentStart", 1)?;
    s.see(&t, "a command and an agent", working().board(&["acting"]))?;
    s.go()?;
    s.must_hear(&t, "PostToolBatch", 2)?;
    s.see(&t, "the command runs on", working().board(&["acting"]))?;
    t.tui.press(&["Escape"])?;
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "Claude has read the agent's report", interrupted().board(&["idle"]))?;
    s.see_card(&t, "the agent is done", |card| {
        card["agent_state"]["state"] == "idle" && card["sub_agents"][0]["state"] == "done"
    })
}
