//! Turns that end or continue in unusual ways: agents that work beside the main agent, requests that are left open, and queues.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use flightdeck_sim::client::wait_for;
use serde_json::Value;

use super::context::wait_for_other_session;
use super::open_asks;
use crate::e2e::expect::{
    agent_permission, background, error, exited, idle, interrupted, permission, working,
};
use crate::e2e::stage::{ClientSeat, DRAWN, Stage};

const SHOWN: Duration = Duration::from_secs(20);

pub(super) fn agent_works(card: &Value) -> bool {
    card["sub_agents"][0]["state"] == "working"
}

fn agent_is_done(card: &Value) -> bool {
    card["sub_agents"][0]["state"] == "done"
}

/// A background agent and a command of the main agent.
pub(super) fn with_agent_beside(s: &mut Stage) -> Result<ClientSeat> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:agentandsleep one")?;
    t.tui.wait_text(r"\$ timeout 45|Sleep a while", SHOWN)?;
    s.must_hear(&t, "SubagentStart", 1)?;
    s.see(&t, "a command and an agent", working().board(&["acting"]))?;
    s.see_card(&t, "the agent works", agent_works)?;
    Ok(t)
}

/// The client stays busy for the agent, so its registry does not show the interruption.
pub(super) fn agent_beside_esc(s: &mut Stage) -> Result<()> {
    let t = with_agent_beside(s)?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted, and the agent works on", interrupted())?;
    s.see_card(&t, "the agent works on", agent_works)?;
    s.go()?;
    s.must_hear(&t, "Stop", 1)?;
    // The interruption is still the last thing on the screen that its reader knows.
    s.see(&t, "Claude has read the agent's report", interrupted().board(&["idle"]))?;
    s.see_card(&t, "the agent is done", agent_is_done)
}

pub(super) fn agent_beside_done(s: &mut Stage) -> Result<()> {
    let t = with_agent_beside(s)?;
    s.go()?;
    s.must_hear(&t, "SubagentStop", 1)?;
    s.see(&t, "the command runs on", working().board(&["acting"]))?;
    s.see_card(&t, "the agent is done", agent_is_done)?;
    t.tui.press(&["Escape"])?;
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "Claude has read the agent's report", interrupted().board(&["idle"]))
}

pub(super) fn agent_beside_error(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgagent one")?;
    s.see(&t, "an agent works on", background())?;
    t.tui.submit("SCRIPT:err400 two")?;
    s.must_hear(&t, "StopFailure", 1)?;
    t.tui.wait_text("stub says no", SHOWN)?;
    s.see_card(&t, "failed, and the agent works on", |card| {
        card["agent_state"]["state"] == "error" && agent_works(card)
    })?;
    s.go()?;
    s.must_hear(&t, "SubagentStop", 1)?;
    s.must_hear(&t, "StopFailure", 2)?;
    s.see(&t, "the next turn fails too", error())
}

/// The person refused nothing: the client ended in the dialog.
pub(super) fn hangup_in_dialog(s: &mut Stage) -> Result<()> {
    for how in ["HUP", "TERM", "closed"] {
        let t = s.open(how)?;
        s.prompt(&t, "SCRIPT:bash one")?;
        s.see(&t, "asks", permission("Bash"))?;
        match how {
            "closed" => t.tui.close_terminal()?,
            signal => t.tui.signal(signal)?,
        }
        t.tui.wait_gone(SHOWN)?;
        s.see(&t, &format!("ended by {how}"), exited())?;
        s.must_hear(&t, "SessionEnd", 1)?;
        s.see_card(&t, "neither answered nor refused", |card| {
            let how = &card["asks"][0]["resolution"]["how"];
            how == "session_ended" || how == "client_died"
        })?;
    }
    Ok(())
}

/// "No, and tell Claude what to do differently".
pub(super) fn refused_with_words(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bash one")?;
    s.see(&t, "asks", permission("Bash"))?;
    let screen = t.tui.capture()?;
    let no = screen.lines().find_map(|l| l.trim().trim_start_matches('❯').trim().strip_suffix(". No"));
    let downs = no.and_then(|no| no.parse::<usize>().ok()).context("no option No")? - 1;
    for _ in 0..downs {
        s.answer(&t, &["Down"])?;
    }
    s.answer(&t, &["Tab"])?;
    t.tui.submit("SCRIPT:hello instead")?;
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "Claude did something else", idle())?;
    s.see_card(&t, "it was refused", |card| card["asks"][0]["resolution"]["how"] == "refused_in_terminal")
}

/// Types a prompt ahead of a running command.
fn one_waits(s: &mut Stage, prompt: &str) -> Result<ClientSeat> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    t.tui.wait_text("until test -e go", SHOWN)?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    t.tui.submit(prompt)?;
    t.tui.wait_text("queued messages|to send now", DRAWN)?;
    Ok(t)
}

pub(super) fn queue_taken_back(s: &mut Stage) -> Result<()> {
    let t = one_waits(s, "SCRIPT:hello two")?;
    s.must_hear(&t, "UserPromptSubmit", 2)?;
    s.see_card(&t, "one waits", |card| card["queued_prompts"] == 1)?;
    t.tui.press(&["Up"])?;
    t.tui.wait_no_text("queued messages|to send now", SHOWN)?;
    s.see_card(&t, "none waits", |card| card["queued_prompts"] == 0)?;
    t.tui.press(&["Enter"])?;
    s.must_hear(&t, "UserPromptSubmit", 3)?;
    s.see_card(&t, "one waits again", |card| card["queued_prompts"] == 1)?;
    s.see(&t, "the command runs on", working().board(&["acting"]))?;
    s.go()?;
    s.see(&t, "absorbed, and done", idle())?;
    s.see_card(&t, "none waits at the end", |card| card["queued_prompts"] == 0)
}

pub(super) fn queue_command(s: &mut Stage) -> Result<()> {
    let folder = s.lab.cwd().join(".claude/commands");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("lab.md"), "SCRIPT:hello from a command\n")?;
    let t = one_waits(s, "/lab two")?;
    s.see(&t, "the command runs on", working().board(&["acting"]))?;
    s.go()?;
    s.see(&t, "done", idle())?;
    s.see_card(&t, "the queue is empty", |card| card["queued_prompts"] == 0)
}

/// The prompt is sent although the turn before it failed.
pub(super) fn queue_error(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:err500 one")?;
    t.tui.wait_text("Retrying in", SHOWN)?;
    t.tui.submit("SCRIPT:hello two")?;
    s.must_hear(&t, "UserPromptSubmit", 2)?;
    t.tui.wait_text("queued messages|to send now", DRAWN)?;
    s.see_card(&t, "one waits", |card| card["queued_prompts"] == 1)?;
    t.tui.press(&["Escape"])?;
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "the queued prompt is answered", idle())?;
    s.see_card(&t, "none waits", |card| card["queued_prompts"] == 0)
}

/// A client that compacts until the summary is let go.
fn compacting(s: &mut Stage) -> Result<ClientSeat> {
    let t = s.open("a")?;
    for prompt in ["SCRIPT:hello one", "SCRIPT:hello two", "SCRIPT:hello three"] {
        s.prompt(&t, prompt)?;
        s.see(&t, "answered", idle())?;
    }
    s.lab.api().hold_summaries(true);
    t.tui.submit("/compact")?;
    s.see(&t, "compacts", working().board(&["compacting"]))?;
    Ok(t)
}

pub(super) fn compact_queue(s: &mut Stage) -> Result<()> {
    let t = compacting(s)?;
    t.tui.submit("SCRIPT:hello four")?;
    t.tui.wait_text("queued messages|to send now|hello four", DRAWN)?;
    s.see(&t, "compacts on", working().board(&["compacting"]))?;
    s.lab.api().hold_summaries(false);
    s.must_hear(&t, "PostCompact", 1)?;
    s.must_hear(&t, "Stop", 4)?;
    s.see(&t, "the prompt is answered", idle())?;
    s.see_card(&t, "it is the last message, and none waits", |card| {
        card["last_user_message"] == "SCRIPT:hello four"
            && card["queued_prompts"] == 0
            && card["turn_count"] == 4
    })
}

pub(super) fn compact_esc(s: &mut Stage) -> Result<()> {
    let t = compacting(s)?;
    t.tui.press(&["Escape"])?;
    let over = || Ok((s.status(&t).as_deref() == Some("idle")).then_some(()));
    wait_for("the end of the compaction", SHOWN, over)?;
    s.lab.api().hold_summaries(false);
    s.see(&t, "given up", idle().board(&["idle", "interrupted"]))?;
    s.prompt(&t, "SCRIPT:hello four")?;
    s.see(&t, "goes on", idle())
}

/// The helper that summarises fails. It is no subagent of the session.
pub(super) fn compact_fails(s: &mut Stage) -> Result<()> {
    let t = compacting(s)?;
    s.lab.api().fail_summaries();
    s.lab.api().hold_summaries(false);
    t.tui.wait_text("Error during compaction", SHOWN)?;
    s.see(&t, "given up", idle().board(&["idle", "interrupted"]))?;
    s.must_hear(&t, "StopFailure", 1)?;
    s.prompt(&t, "SCRIPT:hello four")?;
    s.see(&t, "goes on", idle())?;
    s.see_card(&t, "no agent failed", |card| card["sub_agents"].as_array().is_some_and(Vec::is_empty))
}

fn clear(s: &mut Stage, t: &ClientSeat) -> Result<()> {
    let old = s.session(t).context("no session")?;
    t.tui.submit("/clear")?;
    wait_for_other_session(s, t, &old)?;
    s.must_hear(t, "SessionStart", 1)?;
    s.see_replaced(&old, "the old session")
}

pub(super) fn clear_with_shell(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgbash one")?;
    s.see(&t, "a command works on", idle())?;
    clear(s, &t)?;
    s.see(&t, "a fresh session", idle())?;
    s.go()?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "answered", idle())?;
    s.see_card(&t, "no command is left", |card| card["background"]["shells"] == 0)
}

pub(super) fn clear_with_agent(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgagent one")?;
    s.see(&t, "an agent works on", background())?;
    clear(s, &t)?;
    s.go()?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "answered", idle())?;
    s.see_card(&t, "no agent works", |card| {
        card["sub_agents"].as_array().into_iter().flatten().all(|agent| agent["state"] != "working")
    })
}

/// The mode of the agent is not the mode of the session.
pub(super) fn agent_own_mode(s: &mut Stage) -> Result<()> {
    let folder = s.lab.cwd().join(".claude/agents");
    fs::create_dir_all(&folder)?;
    let head = "---\nname: general-purpose\ndescription: Does anything\npermissionMode: acceptEdits\n---\n";
    fs::write(folder.join("general-purpose.md"), format!("{head}You do anything.\n"))?;
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:subagent one")?;
    s.must_hear(&t, "PreToolUse", 2)?;
    s.see_card(&t, "the session's own mode", |card| card["permission_mode"] == "default")
}

fn one_failed(card: &Value, asks: usize) -> bool {
    let agents = card["sub_agents"].as_array().into_iter().flatten();
    agents.filter(|agent| agent["state"] == "failed").count() == 1 && open_asks(card).count() == asks
}

/// An agent asks for permission, and the agent beside it fails. Then the daemon restarts, and the person answers.
pub(super) fn agent_fails_beside_ask(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:subaskfail one")?;
    s.see(&t, "one agent asks", agent_permission("Bash"))?;
    s.must_hear(&t, "StopFailure", 1)?;
    s.see(&t, "it still asks beside the failed one", agent_permission("Bash"))?;
    s.see_card(&t, "one failed, one asks", |card| one_failed(card, 1))?;
    s.restart()?;
    s.see(&t, "a new daemon says the same", agent_permission("Bash"))?;
    s.see_card(&t, "one failed, one asks", |card| one_failed(card, 1))?;
    s.answer(&t, &["Enter"])?;
    s.must_hear(&t, "SubagentStop", 1)?;
    s.see(&t, "Claude has read both reports", idle())?;
    s.see_card(&t, "one failed, none asks", |card| one_failed(card, 0))
}

/// The queue of a session outlives a restart of the daemon, and an Esc after it.
pub(super) fn queue_restart(s: &mut Stage) -> Result<()> {
    let t = one_waits(s, "SCRIPT:until two")?;
    s.must_hear(&t, "UserPromptSubmit", 2)?;
    s.see_card(&t, "one waits", |card| card["queued_prompts"] == 1)?;
    s.restart()?;
    s.see(&t, "the command runs on", working().board(&["acting"]))?;
    s.see_card(&t, "one waits still", |card| card["queued_prompts"] == 1 && card["turn_count"] == 2)?;
    let heard = s.heard(&t, "PreToolUse")?;
    t.tui.press(&["Escape"])?;
    s.must_hear(&t, "PreToolUse", heard + 1)?;
    s.see(&t, "the queued prompt runs a command", working().board(&["acting"]))?;
    s.see_card(&t, "none waits", |card| card["queued_prompts"] == 0)?;
    s.go()?;
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "done", idle())
}

/// A command with `!` fires a Stop, although an agent works on in the background.
pub(super) fn bang_beside_agent(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgagent one")?;
    s.see(&t, "an agent works on", background())?;
    let heard = s.heard(&t, "Stop")?;
    t.tui.press(&["!"])?;
    t.tui.submit("echo typed-by-$((40+2))")?;
    t.tui.wait_text("typed-by-42", DRAWN)?;
    s.must_hear(&t, "Stop", heard + 1)?;
    s.see_card(&t, "the agent works on", |card| {
        card["agent_state"]["state"] == "waiting_background" && agent_works(card)
    })?;
    s.go()?;
    s.must_hear(&t, "Stop", heard + 2)?;
    s.see(&t, "Claude has read the agent's report", idle())?;
    s.see_card(&t, "the agent is done", agent_is_done)
}

/// A session is forked while its terminal asks: the fork begins at rest, and the request stays where it is.
pub(super) fn fork_beside_ask(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    s.prompt(&t, "SCRIPT:bash two")?;
    s.see(&t, "asks", permission("Bash"))?;
    let id = s.session(&t).context("no session")?;
    let args = ["--permission-mode", "default", "--resume", &id, "--fork-session"];
    let fork = s.open_resumed("b", &args)?;
    s.prompt(&fork, "SCRIPT:until three")?;
    s.see(&fork, "the fork asks too", permission("Bash"))?;
    s.see(&t, "the first still asks", permission("Bash"))?;
    s.answer(&fork, &["Escape"])?;
    s.see(&fork, "refused in the fork", interrupted())?;
    s.see(&t, "the first still asks", permission("Bash"))?;
    s.answer(&t, &["Enter"])?;
    s.must_hear(&t, "Stop", 2)?;
    s.see(&t, "given, done", idle())?;
    s.see(&fork, "the fork stays interrupted", interrupted())
}
