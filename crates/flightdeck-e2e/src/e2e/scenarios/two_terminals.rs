//! Two clients hold one session at the same time. Checked: the board shows the terminal that waits, and the end of one client
//! says nothing about the other.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use flightdeck_sim::client::wait_for;
use serde_json::{Value, json};

use super::open_asks;
use crate::e2e::expect::{exited, idle, interrupted, permission, question, working};
use crate::e2e::stage::{ClientSeat, Stage};

/// Longest time from a key or an answer to what it does.
const DONE: Duration = Duration::from_secs(40);

/// A first terminal with one turn behind it: without one there is nothing to resume.
fn first(s: &mut Stage) -> Result<(ClientSeat, String)> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    let id = s.session(&t).context("no session")?;
    Ok((t, id))
}

/// A second terminal on the same session.
fn second(s: &Stage, id: &str) -> Result<ClientSeat> {
    let t = s.open_beside("b", id)?;
    ensure!(s.session(&t).as_deref() == Some(id), "another id after --resume");
    Ok(t)
}

/// A first terminal that asks for permission, and its ask.
fn first_blocked(s: &mut Stage) -> Result<(ClientSeat, String)> {
    let (a, id) = first(s)?;
    s.prompt(&a, "SCRIPT:bash go")?;
    s.see(&a, "asks", permission("Bash"))?;
    Ok((a, id))
}

fn see_on_card(s: &Stage, t: &ClientSeat, step: &str, what: impl Fn(&Value) -> bool) -> Result<()> {
    let fits = || Ok(s.card(t).ok().filter(&what));
    wait_for(step, DONE, fits).with_context(|| format!("{step}: the card says {:?}", s.card(t)))?;
    println!("  {step}: on the card");
    Ok(())
}

/// Checks that the card shows this terminal. Answers, prompts, Esc and focus go to the terminal that the card shows.
fn shown(s: &Stage, t: &ClientSeat, step: &str) -> Result<()> {
    let (pid, pane) = (t.tui.pid(), t.tui.pane()?);
    see_on_card(s, t, step, |card| card["seat"]["pid"] == pid && card["seat"]["pane"] == pane)
}

/// Checks how many processes hold the session.
fn held_by(s: &Stage, t: &ClientSeat, count: usize) -> Result<()> {
    let holds = |card: &Value| card["processes"].as_array().map_or(0, Vec::len) == count;
    see_on_card(s, t, &format!("held by {count}"), holds)
}

fn ask_of(s: &Stage, t: &ClientSeat, tool: &str) -> Result<Value> {
    let ask = |card: &Value| open_asks(card).find(|ask| ask["tool_name"] == tool).cloned();
    wait_for(&format!("the ask for {tool}"), DONE, || Ok(s.card(t).ok().as_ref().and_then(ask)))
}

/// Answers on the board.
fn answer(s: &Stage, ask: &Value, answer: &Value) -> Result<()> {
    let path = format!("/api/asks/{}/answer", ask["id"].as_str().unwrap_or_default());
    let (status, said) = s.post(&path, answer)?;
    ensure!(status == 200, "{answer}: {status} {said}");
    Ok(())
}

/// The file that the script `bash` creates.
fn made(s: &Stage) -> PathBuf {
    s.lab.cwd().join("made-by-bash.txt")
}

fn ran(s: &Stage) -> Result<()> {
    wait_for("the file of the command", DONE, || Ok(made(s).exists().then_some(())))
}

fn exit_client(t: &ClientSeat) -> Result<()> {
    t.tui.submit("/exit")?;
    t.tui.wait_gone(DONE)
}

/// /exit in the second terminal, while the first asks for permission.
pub(super) fn exit(s: &mut Stage) -> Result<()> {
    let (a, id) = first_blocked(s)?;
    let b = second(s, &id)?;
    held_by(s, &a, 2)?;
    s.see(&a, "still asks beside the other", permission("Bash"))?;
    exit_client(&b)?;
    s.must_hear(&a, "SessionEnd", 1)?;
    held_by(s, &a, 1)?;
    s.see(&a, "still asks after the other closed", permission("Bash"))?;
    shown(s, &a, "the terminal that asks")?;
    s.answer(&a, &["Enter"])?;
    ran(s)?;
    s.see(&a, "given, done", idle())?;
    exit_client(&a)?;
    s.see(&a, "the last one closed", exited())
}

/// `claude -p --resume` beside a terminal that asks; then the board's answer reaches that terminal.
pub(super) fn print(s: &mut Stage) -> Result<()> {
    let (a, id) = first_blocked(s)?;
    let done = s.lab.print("SCRIPT:hello sum up", &["--resume", &id], &[])?;
    ensure!(done.success && done.stdout.contains("Hello"), "{done:?}");
    s.must_hear(&a, "SessionEnd", 1)?;
    held_by(s, &a, 1)?;
    s.see(&a, "still asks after the print run", permission("Bash"))?;
    shown(s, &a, "the terminal that asks")?;
    answer(s, &ask_of(s, &a, "Bash")?, &json!({"decision": "allow", "via": "web"}))?;
    ran(s)?;
    s.see(&a, "the answer reached it", idle())
}

/// A permission in one terminal and a question in the other; each answer on the board goes to its own terminal.
pub(super) fn dialogs(s: &mut Stage) -> Result<()> {
    let (a, id) = first_blocked(s)?;
    let b = second(s, &id)?;
    s.prompt(&b, "SCRIPT:ask two")?;
    s.see(&b, "the second asks too", question().board(&["needs_permission"]))?;
    see_on_card(s, &a, "both are open", |card| open_asks(card).count() == 2)?;
    shown(s, &a, "the permission is first")?;
    let asked = ask_of(s, &a, "AskUserQuestion")?;
    let first = &asked["questions"][0];
    let (text, option) = (first["question"].as_str().context("no question")?, &first["options"][0]["label"]);
    answer(s, &asked, &json!({"decision": "allow", "answers": {text: option}, "via": "web"}))?;
    s.see(&b, "the question is answered", idle().board(&["needs_permission"]))?;
    s.see(&a, "the permission is still open", permission("Bash"))?;
    ensure!(!made(s).exists(), "the command was run");
    answer(s, &ask_of(s, &a, "Bash")?, &json!({"decision": "allow", "via": "web"}))?;
    ran(s)?;
    s.see(&a, "the permission is given", idle())?;
    s.see(&b, "nothing is left", idle())
}

/// `kill -9`, first of a working terminal beside one that asks, then of the asking terminal.
pub(super) fn kill(s: &mut Stage) -> Result<()> {
    let (a, id) = first_blocked(s)?;
    let b = second(s, &id)?;
    s.prompt(&b, "SCRIPT:hang two")?;
    s.see(&b, "the second works", working().board(&["needs_permission"]))?;
    b.tui.signal("KILL")?;
    b.tui.wait_gone(DONE)?;
    held_by(s, &a, 1)?;
    s.see(&a, "still asks", permission("Bash"))?;
    shown(s, &a, "the terminal that asks")?;
    let c = s.open_beside("c", &id)?;
    held_by(s, &a, 2)?;
    a.tui.signal("KILL")?;
    a.tui.wait_gone(DONE)?;
    held_by(s, &c, 1)?;
    // The third terminal was idle when it opened. Whether it draws an old turn as interrupted depends on what the killed
    // terminals had written; it had no turn of its own.
    see_on_card(s, &c, "the last one rests", |card| card["agent_state"]["state"] == "idle")?;
    shown(s, &c, "the terminal that is left")?;
    see_on_card(s, &c, "no ask is left", |card| open_asks(card).count() == 0)
}

/// Waits until the transcript holds a call. A second terminal reads it once, when it opens, and draws a turn that ends with
/// a call as interrupted, but one without a reply as if nothing had been sent.
fn call_is_written(s: &Stage, t: &ClientSeat) -> Result<()> {
    let calls = |line: &Value| {
        let content = line["message"]["content"].as_array().into_iter().flatten();
        content.into_iter().any(|block| block["type"] == "tool_use")
    };
    wait_for("the call in the transcript", DONE, || Ok(s.transcript(t)?.iter().any(calls).then_some(())))
}

/// A second terminal is opened while the first one works.
pub(super) fn at_work(s: &mut Stage) -> Result<()> {
    let (a, id) = first(s)?;
    s.prompt(&a, "SCRIPT:until two")?;
    s.see(&a, "a command runs", working().board(&["acting"]))?;
    call_is_written(s, &a)?;
    let b = second(s, &id)?;
    held_by(s, &a, 2)?;
    s.see(&b, "the second is ready", interrupted().board(&["acting"]))?;
    s.see(&a, "the first still works", working().board(&["acting"]))?;
    shown(s, &a, "the terminal that works")?;
    s.go()?;
    s.see(&a, "and is done", idle())?;
    exit_client(&b)?;
    held_by(s, &a, 1)?;
    s.see(&a, "the first stays", idle())
}

/// Both are idle; one is closed, then the other.
pub(super) fn both_idle(s: &mut Stage) -> Result<()> {
    let (a, id) = first(s)?;
    let b = second(s, &id)?;
    held_by(s, &a, 2)?;
    s.see(&b, "both rest", idle())?;
    exit_client(&a)?;
    held_by(s, &b, 1)?;
    s.see(&b, "one is left", idle())?;
    shown(s, &b, "the terminal that is left")?;
    exit_client(&b)?;
    s.see(&b, "the last one closed", exited())
}

/// The first terminal is closed while the second works. The board then types and interrupts in the second.
pub(super) fn first_leaves(s: &mut Stage) -> Result<()> {
    let (a, id) = first(s)?;
    let b = second(s, &id)?;
    s.prompt(&b, "SCRIPT:sleep two")?;
    s.see(&b, "the second works", working().board(&["acting"]))?;
    shown(s, &b, "the terminal that works")?;
    let (status, said) = s.post(&format!("/api/sessions/{id}/interrupt"), &json!({"confirm": true}))?;
    ensure!((status, &said["confirmed"]) == (202, &json!(true)), "{status} {said}");
    s.see(&b, "interrupted from the board", interrupted())?;
    exit_client(&a)?;
    held_by(s, &b, 1)?;
    s.see(&b, "still there", interrupted())?;
    let (status, said) =
        s.post(&format!("/api/sessions/{id}/prompt"), &json!({"text": "SCRIPT:hello three"}))?;
    ensure!((status, &said["confirmed"]) == (202, &json!(true)), "{status} {said}");
    s.see(&b, "a prompt from the board", idle())
}

/// /clear in the second terminal, while the first asks for permission.
pub(super) fn clear(s: &mut Stage) -> Result<()> {
    let (a, id) = first_blocked(s)?;
    let b = second(s, &id)?;
    held_by(s, &a, 2)?;
    b.tui.submit("/clear")?;
    wait_for("another session in the second terminal", DONE, || Ok(s.session(&b).filter(|now| *now != id)))?;
    s.see(&b, "a fresh session", idle())?;
    held_by(s, &a, 1)?;
    s.see(&a, "still asks", permission("Bash"))?;
    shown(s, &a, "the terminal that asks")?;
    answer(s, &ask_of(s, &a, "Bash")?, &json!({"decision": "allow", "via": "web"}))?;
    ran(s)?;
    s.see(&a, "given, done", idle())
}

/// A prompt is typed ahead in the first terminal, while a turn begins and ends in the second. Then Esc in the first.
pub(super) fn queue(s: &mut Stage) -> Result<()> {
    let (a, id) = first(s)?;
    s.prompt(&a, "SCRIPT:until two")?;
    s.see(&a, "a command runs", working().board(&["acting"]))?;
    call_is_written(s, &a)?;
    let heard = s.heard(&a, "UserPromptSubmit")?;
    a.tui.submit("SCRIPT:hello three")?;
    s.must_hear(&a, "UserPromptSubmit", heard + 1)?;
    see_on_card(s, &a, "one waits", |card| card["queued_prompts"] == 1)?;
    let b = second(s, &id)?;
    held_by(s, &a, 2)?;
    s.prompt(&b, "SCRIPT:hello four")?;
    s.must_hear(&b, "Stop", 2)?;
    s.see(&b, "the second has answered", idle().board(&["acting"]))?;
    shown(s, &a, "the terminal that works")?;
    see_on_card(s, &a, "one waits still", |card| card["queued_prompts"] == 1)?;
    a.tui.press(&["Escape"])?;
    s.must_hear(&a, "Stop", 3)?;
    s.see(&a, "the queued prompt is answered", idle())?;
    see_on_card(s, &a, "none waits", |card| card["queued_prompts"] == 0)
}

/// Esc on a command in the first terminal, while a background agent works there. The marker in the transcript names no process.
pub(super) fn esc_beside_agent(s: &mut Stage) -> Result<()> {
    let (a, id) = first(s)?;
    let b = second(s, &id)?;
    held_by(s, &a, 2)?;
    s.prompt(&a, "SCRIPT:agentandsleep two")?;
    s.must_hear(&a, "SubagentStart", 1)?;
    a.tui.wait_text(r"\$ timeout 45|Sleep a while", DONE)?;
    s.see(&a, "a command and an agent", working().board(&["acting"]))?;
    a.tui.press(&["Escape"])?;
    s.see(&a, "interrupted, and the agent works on", interrupted())?;
    shown(s, &a, "the interrupted terminal")?;
    s.see(&b, "the second rests", idle().board(&["interrupted"]))?;
    s.go()?;
    s.must_hear(&a, "Stop", 2)?;
    s.see(&a, "Claude has read the agent's report", interrupted().board(&["idle"]))
}

/// Removes the hooks while both terminals work. Esc in the second; the turn of the first ends by itself.
pub(super) fn hooks_gone(s: &mut Stage) -> Result<()> {
    let (a, id) = first(s)?;
    let b = second(s, &id)?;
    held_by(s, &a, 2)?;
    s.prompt(&a, "SCRIPT:until two")?;
    s.prompt(&b, "SCRIPT:sleep three")?;
    b.tui.wait_text(r"\$ timeout 45|Sleep a while", DONE)?;
    s.see(&b, "both work", working().board(&["acting"]))?;
    let heard = s.heard(&a, "ConfigChange")?;
    s.run(&["hooks", "uninstall"])?;
    s.must_hear(&a, "ConfigChange", heard + 2)?;
    b.tui.press(&["Escape"])?;
    s.see(&b, "interrupted, and the first works on", interrupted().board(&["acting"]))?;
    see_on_card(s, &a, "one works, one was interrupted", |card| {
        processes(card).iter().any(|(pid, label)| *pid == b.tui.pid() && label.starts_with("You interrupted"))
    })?;
    s.go()?;
    a.tui.wait_text("It is there", DONE)?;
    see_on_card(s, &a, "each ended in its own way", |card| {
        let ends = processes(card);
        let of = |t: &ClientSeat| {
            ends.iter().find(|(pid, _)| *pid == t.tui.pid()).map(|(_, label)| label.as_str())
        };
        of(&a) == Some("Ended while Flightdeck was away")
            && of(&b).is_some_and(|label| label.starts_with("You interrupted"))
    })
}

/// The pid and the label of each process on the card.
fn processes(card: &Value) -> Vec<(u32, String)> {
    let all = card["processes"].as_array().into_iter().flatten();
    let one = |p: &Value| {
        (p["pid"].as_u64().unwrap_or_default() as u32, p["label"].as_str().unwrap_or_default().to_owned())
    };
    all.map(one).collect()
}

/// A hook over HTTP names no process. While the first terminal asks, a turn begins and ends in the second.
pub(super) fn http(s: &mut Stage) -> Result<()> {
    s.run(&["hooks", "install", "--via", "http", "--port", &s.board.port()?.to_string()])?;
    let (a, id) = first_blocked(s)?;
    let b = second(s, &id)?;
    held_by(s, &a, 2)?;
    let stops = s.heard(&a, "Stop")?;
    s.prompt(&b, "SCRIPT:writes two")?;
    b.tui.wait_text("Line 00", DONE)?;
    s.see(&a, "still asks beside a prompt", permission("Bash"))?;
    s.lab.api().end_writing();
    s.must_hear(&a, "Stop", stops + 1)?;
    s.see(&b, "the second has answered", idle().board(&["needs_permission"]))?;
    s.see(&a, "still asks beside a Stop", permission("Bash"))?;
    shown(s, &a, "the terminal that asks")?;
    answer(s, &ask_of(s, &a, "Bash")?, &json!({"decision": "allow", "via": "web"}))?;
    ran(s)?;
    s.see(&a, "the answer reached it", idle())
}
