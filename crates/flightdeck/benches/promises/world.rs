//! A throw-away home, and events that look like the client's.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_e2e::testkit::TestHome;
use serde_json::{Map, Value, json};

use crate::PromisePlan;

/// Sessions of a large fleet: the number in the promises.
pub(crate) const SESSIONS: u64 = 54;

pub(crate) struct World(TestHome);

impl World {
    pub(crate) fn new(plan: &PromisePlan) -> Result<Self> {
        TestHome::try_new(&plan.binary, "fd").map(Self)
    }

    pub(crate) fn home(&self) -> &TestHome {
        &self.0
    }

    /// A program with an empty environment except for the system's programs and this home.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = self.0.bare(program);
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("FLIGHTDECK_HOME", self.0.flightdeck_home());
        command
    }
}

pub(crate) fn session(n: u64) -> String {
    format!("9bc34ae7-600a-4b20-a9ed-{n:012}")
}

/// A typical tool call of about 1.5 KB: event `n` starts or ends call `n / 2`.
pub(crate) fn payload(n: u64, session_id: &str) -> Map<String, Value> {
    let mut payload = json!({
        "session_id": session_id,
        "transcript_path": format!("/home/dev/.claude/projects/-home-dev-work-demo/{session_id}.jsonl"),
        "cwd": "/home/dev/work/demo", "permission_mode": "default",
        "hook_event_name": if n.is_multiple_of(2) { "PreToolUse" } else { "PostToolUse" },
        "tool_name": "Bash",
        "tool_input": {"command": format!("cargo test --package n{n}"), "description": "Run the tests"},
        "tool_use_id": format!("toolu_{:020}", n / 2),
        "prompt_id": "7f3a5b1c-33d0-4a2f-8a41-2a9e4d2f7b11",
    });
    if n % 2 == 1
        && let Some(fields) = payload.as_object_mut()
    {
        let response = json!({"stdout": "test result: ok. ".repeat(60), "stderr": "", "interrupted": false});
        fields.insert("tool_response".into(), response);
    }
    match payload {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The same as a stamped record.
pub(crate) fn record(n: u64, session_id: &str, at: Timestamp) -> Result<Record> {
    let env = Map::from_iter([("fired_at".to_owned(), json!(at.to_string()))]);
    let draft = HookDraft { name_in_path: None, payload: payload(n, session_id), env, bytes: 1500 };
    let mut record = draft.into_record(EventId::new(n, n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))?;
    stamp(&mut record, at, Timestamp::default());
    Ok(record)
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
