//! Several things at once: subagents, background commands, several terminals.

use anyhow::Result;

use crate::e2e::expect::{agent_permission as agent_asks, background, idle, permission, question, working};
use crate::e2e::stage::{ClientSeat, Stage};

pub(super) fn background_agent(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgagent one")?;
    s.see(&t, "the agent works on", background())?;
    s.see_card(&t, "an agent in the background", |card| card["background"]["agents"] == 1)?;
    s.go()?;
    s.see(&t, "it reported", idle())?;
    see_agent_done(s, &t)
}

fn see_agent_done(s: &mut Stage, t: &ClientSeat) -> Result<()> {
    s.must_hear(t, "SubagentStart", 1)?;
    s.must_hear(t, "SubagentStop", 1)?;
    s.see_card(t, "its agent is done", |card| {
        let states = card["sub_agents"].as_array().into_iter().flatten().map(|agent| &agent["state"]);
        card["background"]["agents"] == 0 && states.eq(["done"])
    })
}

pub(super) fn foreground_agent(s: &mut Stage) -> Result<()> {
    let foreground = [("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1")];
    let t = s.open_with("a", &["--permission-mode", "default"], &foreground)?;
    s.prompt(&t, "SCRIPT:fgagent one")?;
    s.see(&t, "the turn waits for its agent", working().board(&["delegating", "acting"]))?;
    s.see_card(&t, "an agent works", |card| card["sub_agents"][0]["state"] == "working")?;
    s.go()?;
    s.see(&t, "it reported", idle())?;
    see_agent_done(s, &t)
}

pub(super) fn agent_permission(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgagent one")?;
    s.see(&t, "the agent asks", agent_asks("Bash"))?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "given, it works on", background())?;
    s.go()?;
    s.see(&t, "it reported", idle())?;
    see_agent_done(s, &t)
}

pub(super) fn foreground_agent_permission(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:subagent one")?;
    s.see(&t, "the agent asks", agent_asks("Bash"))?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "given, it reported", idle())?;
    see_agent_done(s, &t)
}

pub(super) fn background_shell(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgbash one")?;
    s.see(&t, "the command works on", idle())?;
    s.see_card(&t, "a command in the background", |card| card["background"]["shells"] == 1)?;
    s.go()?;
    t.tui.wait_text(r"completed \(exit code 0\)", std::time::Duration::from_secs(20))?;
    s.see(&t, "it is done", idle())?;
    s.must_hear(&t, "Stop", 2)?;
    s.see_card(&t, "no command in the background", |card| card["background"]["shells"] == 0)
}

pub(super) fn four_at_once(s: &mut Stage) -> Result<()> {
    let [asks, wants, writes, waits] = s.open_all(["asks", "wants", "writes", "waits"])?;
    s.prompt(&asks, "SCRIPT:ask one")?;
    s.prompt(&wants, "SCRIPT:bash one")?;
    s.prompt(&writes, "SCRIPT:slow one")?;
    s.prompt(&waits, "SCRIPT:hello one")?;
    s.see(&asks, "first: asks", question())?;
    s.see(&wants, "second: wants permission", permission("Bash"))?;
    s.see(&writes, "third: writes", working().board(&["thinking"]))?;
    s.see(&waits, "fourth: has answered", idle())?;
    s.answer(&asks, &["Enter"])?;
    s.see(&asks, "first: answered", idle())?;
    s.see(&wants, "second: still wants permission", permission("Bash"))?;
    s.answer(&wants, &["Enter"])?;
    s.see(&wants, "second: given", idle())?;
    s.see(&writes, "third: still writes", working().board(&["thinking"]))
}

/// The states of the twenty terminals, in turn.
const SCRIPTS: [&str; 4] = ["ask", "bash", "slow", "hello"];

pub(super) fn twenty_at_once(s: &mut Stage) -> Result<()> {
    let mut seats = Vec::new();
    for n in 0..20 {
        let seat = s.open(&format!("t{n:02}"))?;
        s.prompt(&seat, &format!("SCRIPT:{} number {n}", SCRIPTS[n % SCRIPTS.len()]))?;
        seats.push(seat);
    }
    for (n, seat) in seats.iter().enumerate() {
        let (step, expected) = match SCRIPTS[n % SCRIPTS.len()] {
            "ask" => ("asks", question()),
            "bash" => ("wants permission", permission("Bash")),
            "slow" => ("writes", working().board(&["thinking"])),
            _ => ("has answered", idle()),
        };
        s.see(seat, &format!("{n}: {step}"), expected)?;
    }
    for (n, seat) in seats.iter().enumerate().filter(|(n, _)| n % SCRIPTS.len() < 2) {
        s.answer(seat, &["Enter"])?;
        s.see(seat, &format!("{n}: answered"), idle())?;
    }
    Ok(())
}
