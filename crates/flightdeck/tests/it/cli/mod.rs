//! The output of the commands.

mod details;
mod ls;
mod naming;
mod outcomes;
mod played;

use expect_test::Expect;
use flightdeck_e2e::testkit::{CommandOutput, TestDaemon, TestHome};
use serde_json::{Value, json};

fn tell(daemon: &TestDaemon, session: &str, cwd: &str, name: &str, more: Value) {
    let mut payload = json!({"session_id": session, "hook_event_name": name, "cwd": cwd, "prompt_id": "p1"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(daemon.post("/api/live/hook", &payload.to_string()).status, 204);
}

/// Three sessions: one asks, one works, one has ended.
fn busy(home: &TestHome) -> TestDaemon {
    let daemon = home.daemon();
    let (asks, works, over) = ("5f1c0000-asks", "8a2d0000-works", "c3e40000-over");
    tell(&daemon, asks, "/w/api", "SessionStart", json!({"source": "startup", "model": "claude-opus-5-5"}));
    tell(&daemon, asks, "/w/api", "UserPromptSubmit", json!({"prompt": "Fix the login page\nand test it"}));
    let bash = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "cargo test"}});
    tell(&daemon, asks, "/w/api", "PreToolUse", bash.clone());
    tell(&daemon, asks, "/w/api", "PermissionRequest", bash.clone());
    tell(&daemon, works, "/w/web", "UserPromptSubmit", json!({"prompt": "Make it blue"}));
    tell(
        &daemon,
        works,
        "/w/web",
        "PreToolUse",
        json!({"tool_name": "Read", "tool_use_id": "t2", "tool_input": {"file_path": "/w/web/a.css"}}),
    );
    tell(&daemon, over, "/w/web", "UserPromptSubmit", json!({"prompt": "Say hi"}));
    tell(&daemon, over, "/w/web", "SessionEnd", json!({"reason": "prompt_input_exit"}));
    daemon
}

/// Times of day and durations differ from run to run.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !(c.is_ascii_digit() || ":.-TZ".contains(c))).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        out += before;
        out += match word {
            _ if word.trim_end_matches(':').contains(':') => "<time>",
            _ if word.len() == 10 && word.matches('-').count() == 2 => "<date>",
            _ => word,
        };
        rest = after;
    }
    out + rest
}

#[track_caller]
pub(crate) fn reads(text: &str, expected: Expect) {
    expected.assert_eq(&timeless(text));
}

/// The text without the names of this run.
pub(crate) fn anonymous(text: &str, daemon: &TestDaemon) -> String {
    text.replace(&daemon.url, "<url>").replace(&format!("pid {}", daemon.pid()), "pid <pid>")
}

#[track_caller]
pub(crate) fn fails(said: CommandOutput, expected: Expect) {
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    reads(&said.err, expected);
}
