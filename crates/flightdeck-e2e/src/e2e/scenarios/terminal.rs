//! The daemon acts in the terminal: it types a prompt, presses Esc, shows the pane. Checked: what the client then does.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use flightdeck_sim::client::wait_for;
use serde_json::{Value, json};

use crate::e2e::expect::{dialog, exited, idle, interrupted, permission, working};
use crate::e2e::stage::{ClientSeat, Stage};

/// Longest time from a request to the daemon to the client's transcript line.
const DONE: Duration = Duration::from_secs(15);

/// Sends a request about the session in that terminal.
fn post(s: &Stage, t: &ClientSeat, what: &str, body: &Value) -> Result<(u16, Value)> {
    let id = s.session(t).context("no session")?;
    s.post(&format!("/api/sessions/{id}/{what}"), body)
}

fn sent(s: &Stage, t: &ClientSeat, body: &Value) -> Result<()> {
    let begun = Instant::now();
    let (status, answer) = post(s, t, "prompt", body)?;
    ensure!((status, &answer["confirmed"]) == (202, &json!(true)), "{body}: {status} {answer}");
    println!("  typed and confirmed after {} ms", begun.elapsed().as_millis());
    Ok(())
}

fn refused(s: &Stage, t: &ClientSeat, what: &str, body: &Value, error: &str) -> Result<Value> {
    let (status, answer) = post(s, t, what, body)?;
    ensure!((status, &answer["error"]) == (409, &json!(error)), "{what} {body}: {status} {answer}");
    println!("  refused: {}", answer["message"].as_str().unwrap_or_default());
    Ok(answer)
}

/// The prompts in the session's transcript.
fn prompts(s: &Stage, t: &ClientSeat) -> Result<Vec<String>> {
    let lines = s.transcript(t)?.into_iter();
    let typed = lines.filter(|line| line["type"] == "user" && line["isMeta"] != json!(true));
    Ok(typed.filter_map(|line| line["message"]["content"].as_str().map(str::to_owned)).collect())
}

fn see_prompt(s: &Stage, t: &ClientSeat, step: &str, text: &str) -> Result<()> {
    let count = || Ok::<_, anyhow::Error>(prompts(s, t)?.iter().filter(|p| *p == text).count());
    wait_for(&format!("{step} in the transcript"), DONE, || Ok((count()? > 0).then_some(()))).with_context(
        || format!("the last prompt is {:?}", prompts(s, t).ok().and_then(|p| p.last().cloned())),
    )?;
    ensure!(count()? == 1, "{step}: the prompt came {} times", count()?);
    println!("  {step}: {} bytes, once and equal", text.len());
    Ok(())
}

/// Sends a text and checks that the client takes it as the prompt `becomes`, in one turn.
fn goes_through(s: &mut Stage, t: &ClientSeat, step: &str, body: &Value, becomes: &str) -> Result<()> {
    let turns = s.card(t)?["turn_count"].as_u64();
    sent(s, t, body)?;
    see_prompt(s, t, step, becomes)?;
    s.see(t, step, idle())?;
    let now = s.card(t)?["turn_count"].as_u64();
    ensure!(now == turns.map(|n| n + 1), "{step}: turn {turns:?} and then {now:?}");
    Ok(())
}

pub(super) fn send(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.see(&t, "ready", idle())?;
    let plain = |text: &str| json!({ "text": text });
    goes_through(s, &t, "one line", &plain("SCRIPT:hello one"), "SCRIPT:hello one")?;
    let lines = (1..=40).map(|n| format!("line {n} of SCRIPT:hello lines")).collect::<Vec<_>>().join("\n");
    goes_through(s, &t, "many lines", &plain(&lines), &lines)?;
    let long = format!("SCRIPT:hello long {}", "0123456789 ".repeat(1900));
    goes_through(s, &t, "20 KB", &plain(&long), long.trim_end())?;
    goes_through(s, &t, "a trailing backslash", &plain("SCRIPT:hello back\\"), "SCRIPT:hello back\\")?;
    goes_through(s, &t, "a path", &plain("/etc/hosts/x SCRIPT:hello"), "/etc/hosts/x SCRIPT:hello")?;
    goes_through(
        s,
        &t,
        "other scripts",
        &plain("größer 日本語 👍 SCRIPT:hello"),
        "größer 日本語 👍 SCRIPT:hello",
    )?;
    let ends_the_paste = plain("SCRIPT:hello esc\u{1b}[201~\u{3}");
    goes_through(s, &t, "an escape sequence", &ends_the_paste, "SCRIPT:hello esc")
}

pub(super) fn send_command(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.see(&t, "ready", idle())?;
    let shell = "!echo SCRIPT:hello > made-by-shell.txt";
    refused(s, &t, "prompt", &json!({ "text": shell }), "command")?;
    goes_through(s, &t, "as text", &json!({ "text": shell, "as": "text" }), &format!(" {shell}"))?;
    ensure!(!s.lab.cwd().join("made-by-shell.txt").exists(), "the text was run");
    sent(s, &t, &json!({ "text": shell, "as": "command" }))?;
    let made = s.lab.cwd().join("made-by-shell.txt");
    wait_for("the shell's file", DONE, || Ok(made.exists().then_some(())))?;
    s.see(&t, "the shell ran", idle())?;

    let old = s.session(&t).context("no session")?;
    let asked = refused(s, &t, "prompt", &json!({ "text": "/clear" }), "command")?;
    ensure!(asked["confirm"] == "command", "{asked}");
    refused(s, &t, "prompt", &json!({ "text": "/clear", "as": "text" }), "no_escape")?;
    refused(s, &t, "prompt", &json!({ "text": "exit" }), "command")?;
    ensure!(s.session(&t).as_ref() == Some(&old), "something was run");
    sent(s, &t, &json!({ "text": "/clear", "as": "command" }))?;
    wait_for("another session", DONE, || Ok(s.session(&t).filter(|id| *id != old)))?;
    s.see(&t, "cleared", idle())?;
    goes_through(s, &t, "the new session", &json!({ "text": "SCRIPT:hello new" }), "SCRIPT:hello new")
}

pub(super) fn send_draft(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.see(&t, "ready", idle())?;
    t.tui.type_text("half a thought")?;
    let asked = refused(s, &t, "prompt", &json!({ "text": "SCRIPT:hello one" }), "draft")?;
    ensure!(asked["draft"] == "half a thought", "{asked}");
    let keep = json!({ "text": "SCRIPT:hello kept", "draft": "keep" });
    goes_through(s, &t, "the draft is set aside", &keep, "SCRIPT:hello kept")?;
    t.tui.wait_text("❯.half a thought", DONE)?;
    let replace = json!({ "text": "SCRIPT:hello replaced", "draft": "replace" });
    goes_through(s, &t, "the draft is replaced", &replace, "SCRIPT:hello replaced")?;
    ensure!(!t.tui.capture()?.contains("half a thought"), "the draft is still there");

    t.tui.submit("/model")?;
    s.see(&t, "a menu", dialog())?;
    refused(s, &t, "prompt", &json!({ "text": "SCRIPT:hello menu" }), "no_prompt_box")?;
    s.see(&t, "the menu stays", dialog())?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "closed", idle())?;
    s.prompt(&t, "SCRIPT:bash four")?;
    s.see(&t, "asks", permission("Bash"))?;
    refused(s, &t, "prompt", &json!({ "text": "1" }), "not_idle")?;
    s.see(&t, "still asks", permission("Bash"))
}

pub(super) fn interrupt(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.see(&t, "ready", idle())?;
    refused(s, &t, "interrupt", &json!({ "confirm": true }), "not_working")?;
    sent(s, &t, &json!({ "text": "SCRIPT:sleep one" }))?;
    t.tui.wait_text(r"\$ timeout 45", DONE)?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    refused(s, &t, "prompt", &json!({ "text": "SCRIPT:hello" }), "not_idle")?;
    refused(s, &t, "interrupt", &json!({}), "confirm")?;
    s.see(&t, "it runs on", working().board(&["acting"]))?;
    interrupted_from_here(s, &t)?;
    goes_through(s, &t, "goes on", &json!({ "text": "SCRIPT:hello two" }), "SCRIPT:hello two")?;
    refused(s, &t, "interrupt", &json!({ "stop": true }), "confirm")?;
    let (status, answer) = post(s, &t, "interrupt", &json!({ "stop": true, "confirm": true }))?;
    ensure!(status == 202, "{answer}");
    s.see(&t, "ended", exited())
}

fn interrupted_from_here(s: &mut Stage, t: &ClientSeat) -> Result<()> {
    let (status, answer) = post(s, t, "interrupt", &json!({ "confirm": true }))?;
    ensure!((status, &answer["confirmed"]) == (202, &json!(true)), "{status} {answer}");
    s.see(t, "interrupted", interrupted())
}

/// Vim mode: keys are commands, and the first Esc only leaves insert mode.
pub(super) fn vim(s: &mut Stage) -> Result<()> {
    let config = s.lab.config_dir().join(".claude.json");
    let mut state: Value = serde_json::from_slice(&fs::read(&config)?)?;
    state["editorMode"] = json!("vim");
    fs::write(&config, serde_json::to_vec(&state)?)?;
    let t = s.open("a")?;
    s.see(&t, "ready", idle())?;
    t.tui.wait_text("-- INSERT --", DONE)?;
    goes_through(s, &t, "insert mode", &json!({ "text": "SCRIPT:hello dd" }), "SCRIPT:hello dd")?;
    t.tui.type_text("to be replaced")?;
    t.tui.press(&["Escape"])?;
    let is_normal = || Ok((!t.tui.capture()?.contains("-- INSERT --")).then_some(()));
    wait_for("normal mode", DONE, is_normal)?;
    let replace = json!({ "text": "SCRIPT:hello ddx", "draft": "replace" });
    goes_through(s, &t, "normal mode", &replace, "SCRIPT:hello ddx")?;
    t.tui.press(&["i"])?;
    t.tui.wait_text("-- INSERT --", DONE)?;
    sent(s, &t, &json!({ "text": "SCRIPT:sleep one" }))?;
    t.tui.wait_text(r"\$ timeout 45", DONE)?;
    interrupted_from_here(s, &t)
}

pub(super) fn focus(s: &mut Stage) -> Result<()> {
    let [a, b, c] = s.open_all(["a", "b", "c"])?;
    s.see(&a, "ready", idle())?;
    refused(s, &a, "focus", &json!({}), "nobody_attached")?;
    let other = c.tui.attach()?;
    let person = b.tui.attach()?;
    a.tui.open_window()?;
    let (status, answer) = post(s, &a, "focus", &json!({}))?;
    ensure!((status, &answer["client"]) == (202, &json!(person)), "{status} {answer}");
    let looks_at =
        |seat: &ClientSeat, name: &str| Ok::<_, anyhow::Error>(format!("{name} {}", seat.tui.pane()?));
    let viewers = a.tui.viewers()?;
    ensure!(viewers.get(&person) == Some(&looks_at(&a, "a")?), "the person looks at {viewers:?}");
    ensure!(viewers.get(&other) == Some(&looks_at(&c, "c")?), "the other was moved: {viewers:?}");
    println!("  the person's client shows the pane, the other one stays: {viewers:?}");
    Ok(())
}
