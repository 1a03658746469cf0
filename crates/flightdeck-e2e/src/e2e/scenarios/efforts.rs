//! Efforts against the real client: what the model is told, and what its requests hold.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use flightdeck_hook::paths::Paths;
use flightdeck_sim::client::{Tui, wait_for};
use flightdeck_sim::model_api::SeenRequest;
use serde_json::{Value, json};

use crate::e2e::expect::idle;
use crate::e2e::stage::Stage;
use crate::testkit::SocketClient;

/// A command on the socket is answered within this time; `effort.start` waits until the client has read its settings again.
const ANSWER: Duration = Duration::from_secs(15);
/// The model has been told within this time.
const TOLD: Duration = Duration::from_secs(30);
/// A client that was ended is there again within this time, after the wait between two restarts.
const RESTARTED: Duration = Duration::from_secs(60);
/// The compaction window of a client whose context the script `big` fills.
const SMALL_WINDOW: [(&str, &str); 1] = [("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "200000")];

fn rpc(s: &Stage, command: &str, args: &Value) -> Result<Value> {
    let socket = Paths::in_home(&s.lab.flightdeck_home()).socket();
    let line = SocketClient::try_connect(&socket, ANSWER)?.try_ask(&json!({"cmd": command, "args": args}))?;
    let reply: Value = serde_json::from_str(&line)?;
    ensure!(reply["ok"] == true, "{command}: {reply}");
    Ok(reply["data"].clone())
}

/// Starts an effort in the lab's project; returns its id.
fn start_effort(s: &Stage, settings: &Value) -> Result<String> {
    let args = json!({"dir": s.lab.cwd(), "skill": "implement", "settings": settings});
    let effort = rpc(s, "effort.start", &args)?;
    let hooks = s.lab.settings()?["hooks"]["PreToolUse"].to_string();
    ensure!(hooks.contains("--verdict") && !hooks.contains("\"async\""), "tool calls do not wait: {hooks}");
    make_patient(s)?;
    Ok(effort["id"].as_str().context("the effort has no id")?.to_owned())
}

/// On a busy machine a verdict may take longer than the 50 ms that a hook waits.
fn make_patient(s: &Stage) -> Result<()> {
    let path = s.lab.config_dir().join("settings.json");
    let patient = fs::read_to_string(&path)?
        .replace(" hook --verdict --home", " hook --verdict --ack-ms 4000 --home")
        .replace(" hook --home", " hook --ack-ms 4000 --home");
    Ok(fs::write(path, patient)?)
}

/// Requests of the conversation itself.
fn requests(s: &Stage) -> Vec<SeenRequest> {
    s.lab.api().seen().into_iter().filter(|request| request.tools > 0).collect()
}

fn holds(request: &SeenRequest, text: &str) -> bool {
    String::from_utf8_lossy(&request.body).contains(text)
}

/// Waits until a request after the first `before` holds a text.
fn wait_until_model_is_told(s: &Stage, before: usize, text: &str) -> Result<()> {
    let heard = || requests(s).iter().skip(before).any(|request| holds(request, text));
    wait_for(&format!("the model to be told {text:?}"), TOLD, || Ok(heard().then_some(())))?;
    println!("  the model was told: {text}");
    Ok(())
}

fn heartbeat(s: &Stage, effort: &str) -> Result<u64> {
    rpc(s, "effort.show", &json!({"id": effort}))?["heartbeat"].as_u64().context("no heartbeat")
}

/// The results of all tools in the conversation of the newest request.
fn results(s: &Stage) -> Result<Vec<String>> {
    let newest = requests(s).pop().context("no request")?;
    let body: Value = serde_json::from_slice(&newest.body)?;
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let blocks = messages.iter().filter_map(|m| m["content"].as_array()).flatten();
    Ok(blocks.filter(|b| b["type"] == "tool_result").map(|b| b["content"].to_string()).collect())
}

pub(super) fn heartbeat_limit(s: &mut Stage) -> Result<()> {
    let effort = start_effort(s, &Value::Null)?;
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:eleven go")?;
    s.see(&t, "eleven calls", idle())?;
    let results = results(s)?;
    let denied: Vec<_> = results.iter().map(|result| result.contains("without a log entry")).collect();
    ensure!(
        denied == [false, false, false, false, false, false, false, false, false, true, true],
        "{results:?}"
    );
    println!("  calls 1 to 9 ran, 10 and 11 were denied with our reason");

    let log = format!("{} effort log {effort} \"did ten things\"", s.program()?);
    s.prompt(&t, &format!("SCRIPT:command COMMAND:{log}"))?;
    s.see(&t, "logged by the agent itself", idle())?;
    ensure!(heartbeat(s, &effort)? == 0, "the log entry did not count");
    let before = requests(s).len();
    s.prompt(&t, "SCRIPT:command COMMAND:echo goes-on-$((40 + 2))")?;
    wait_until_model_is_told(s, before, "goes-on-42")?;
    s.see(&t, "goes on", idle())
}

pub(super) fn overflow_warning(s: &mut Stage) -> Result<()> {
    start_effort(s, &json!({"heartbeat": 0}))?;
    // The default model, with a window of a million tokens. In a window of 200,000 the client compacts before nine tenths.
    let t = s.open("a")?;
    let before = requests(s).len();
    s.prompt(&t, "SCRIPT:full go")?;
    wait_until_model_is_told(s, before, "effort dehydrate")?;
    s.see(&t, "the turn ends", idle())?;
    let warnings =
        requests(s).pop().map(|last| String::from_utf8_lossy(&last.body).matches("Hand over before").count());
    ensure!(warnings == Some(1), "warned {warnings:?} times");
    Ok(())
}

pub(super) fn handoff(s: &mut Stage) -> Result<()> {
    let effort = start_effort(s, &Value::Null)?;
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    wait_until_model_is_told(s, 0, &effort)?;
    s.see(&t, "answered", idle())?;
    rpc(
        s,
        "effort.dehydrate",
        &json!({"id": effort, "payload": "the parser is done, HANDOFF-SEVENTEEN is next"}),
    )?;
    t.tui.submit("/exit")?;
    s.see(&t, "closed", crate::e2e::expect::exited())?;
    let before = requests(s).len();
    let t = s.open("b")?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "answered in the next session", idle())?;
    let first = requests(s).into_iter().nth(before).context("no request")?;
    ensure!(holds(&first, "HANDOFF-SEVENTEEN"), "the handoff is not in the first request");
    println!("  the handoff is in the first request of the next session");
    Ok(())
}

pub(super) fn guard(s: &mut Stage) -> Result<()> {
    let effort = start_effort(s, &Value::Null)?;
    let rule = json!({"id": "no-force", "when": {"field": "/tool_input/command", "op": "regex", "value": "git push .*--force"},
        "then": "deny", "message": "Ask the person before you force a push."});
    rpc(s, "guard.set", &json!({"effort": effort, "rule": rule}))?;
    let t = s.open("a")?;
    let before = requests(s).len();
    s.prompt(&t, "SCRIPT:command COMMAND:git push --force origin main")?;
    wait_until_model_is_told(s, before, "Ask the person before you force a push.")?;
    s.see(&t, "denied, and the turn went on", idle())?;
    s.prompt(&t, "SCRIPT:command COMMAND:echo pushed-$((40 + 2))")?;
    wait_until_model_is_told(s, before, "pushed-42")?;
    s.see(&t, "another command runs", idle())
}

pub(super) fn slash_command(s: &mut Stage) -> Result<()> {
    let skill = s.lab.cwd().join(".claude/skills/implement");
    fs::create_dir_all(&skill)?;
    // An effort before this one is all that a slash command needs.
    let before = rpc(s, "effort.start", &json!({"dir": s.lab.cwd(), "skill": "fix"}))?;
    rpc(s, "effort.finish", &json!({"id": before["id"]}))?;
    let text = "---\nname: implement\ndescription: Implement a thing\nflightdeck:\n  phases: [\"1: Plan\", \"2: Build\"]\n  heartbeat: 7\n---\nSCRIPT:hello\n";
    fs::write(skill.join("SKILL.md"), text)?;
    let t = s.open("a")?;
    s.prompt(&t, "/implement the parser")?;
    let efforts = || {
        let active = rpc(s, "effort.list", &json!({"lifecycle": "active"}))?;
        Ok(active["efforts"].as_array().and_then(|list| list.first().cloned()))
    };
    let effort = wait_for("an effort", TOLD, efforts)?;
    ensure!(effort["skill"] == "implement" && effort["heartbeat_limit"] == 7, "{effort}");
    s.see(&t, "answered", idle())?;
    let before = requests(s).len();
    s.prompt(&t, "SCRIPT:hello again")?;
    wait_until_model_is_told(s, before, "phase 1: Plan")?;
    s.see(&t, "the session works on it", idle())?;
    let shown = rpc(s, "effort.show", &json!({"id": effort["id"]}))?;
    ensure!(shown["windows"].as_array().is_some_and(|windows| windows.len() == 1), "no window: {shown}");
    println!("  /implement opened {}", effort["id"]);
    Ok(())
}

/// The session that the supervised client holds now.
fn supervised_session(s: &Stage, not: &[String]) -> Result<String> {
    let other = || s.lab.registry().into_keys().find(|id| !not.contains(id));
    wait_for("a session of the client", RESTARTED, || Ok(other()))
}

pub(super) fn supervised(s: &mut Stage) -> Result<()> {
    let effort = start_effort(s, &json!({"heartbeat": 0}))?;
    let program = s.program()?;
    let tui =
        s.lab.tui_by("a", &[&program, "run", "--"], &["--permission-mode", "default"], &SMALL_WINDOW)?;
    tui.wait_ready()?;
    let mut sessions = vec![supervised_session(s, &[])?];
    for handoff in ["HANDOFF-ONE", "HANDOFF-TWO"] {
        fill_context(s, &tui, sessions.last().context("no session")?)?;
        rpc(s, "effort.dehydrate", &json!({"id": effort, "payload": format!("{handoff} is next")}))?;
        // The client would compact before it sends this.
        tui.submit("SCRIPT:hello over the limit")?;
        let fresh = supervised_session(s, &sessions)?;
        let first = || requests(s).into_iter().find(|request| request.session_id == fresh);
        let first = wait_for("a request of the fresh client", RESTARTED, || Ok(first()))?;
        ensure!(holds(&first, handoff), "{handoff} is not in the first request of {fresh}");
        println!("  {handoff} is in the first request of a fresh client");
        s.must_hear_of(&fresh, "Stop", 1)?;
        tui.wait_ready()?;
        sessions.push(fresh);
    }
    let effort = rpc(s, "effort.show", &json!({"id": effort}))?;
    let handed =
        effort["windows"].as_array().into_iter().flatten().filter(|w| w["handed_over"] == true).count();
    ensure!(handed == 2, "handed over {handed} times: {effort}");
    let compacted = s.lab.api().seen().iter().any(|seen| seen.script.as_deref() == Some("compact"));
    ensure!(!compacted, "a client was compacted");
    tui.submit("/exit")?;
    tui.wait_gone(RESTARTED)
}

/// One turn of the client that holds this session. The screen alone does not show its end: the reply of the client before it
/// may still be there.
fn fill_context(s: &Stage, tui: &Tui, session: &str) -> Result<()> {
    let ended = s.heard_of(session, "Stop")?;
    tui.submit("SCRIPT:big go")?;
    s.must_hear_of(session, "Stop", ended + 1)?;
    tui.wait_ready()
}

/// The bodies of the requests of one run of the client, without what differs between any two runs.
fn conversation(s: &Stage, run: impl FnOnce(&Stage) -> Result<()>) -> Result<Vec<String>> {
    let before = s.lab.api().seen().len();
    run(s)?;
    let seen: Vec<SeenRequest> =
        s.lab.api().seen().into_iter().skip(before).filter(|seen| seen.tools > 0).collect();
    let session = seen.first().context("no request")?.session_id.clone();
    Ok(seen.iter().map(|seen| without_ids(&String::from_utf8_lossy(&seen.body), &session)).collect())
}

/// Ids of the stand-in are `toolu_stub` and digits; those of the session are its own.
fn without_ids(body: &str, session: &str) -> String {
    let mut text = body.replace(session, "SESSION");
    for marker in ["toolu_stub", "msg_stub"] {
        let mut parts = text.split(marker);
        let mut plain = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            plain.push_str(marker);
            plain.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
        text = plain;
    }
    text
}

pub(super) fn elsewhere(s: &mut Stage) -> Result<()> {
    let print = |s: &Stage| {
        // One call after the other: the client orders the results of parallel calls by their end.
        let printed = s.lab.print("SCRIPT:eleven go", &["--permission-mode", "default"], &[])?;
        ensure!(printed.success, "{}", printed.stderr);
        Ok(())
    };
    s.run(&["hooks", "uninstall"])?;
    let without = conversation(s, print)?;
    s.install_hooks()?;
    let elsewhere = s.lab.home().join("elsewhere");
    fs::create_dir_all(&elsewhere)?;
    rpc(s, "effort.start", &json!({"dir": elsewhere, "skill": "implement"}))?;
    make_patient(s)?;
    let with = conversation(s, print)?;
    ensure!(without.len() == with.len(), "{} requests became {}", without.len(), with.len());
    for (n, (one, other)) in without.iter().zip(&with).enumerate() {
        if one != other {
            let at = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
            let around = |text: &str| text.chars().skip(at.saturating_sub(80)).take(240).collect::<String>();
            bail!("request {n} differs:\n{}\n{}", around(one), around(other));
        }
    }
    println!("  {} requests are equal byte for byte", with.len());
    Ok(())
}
