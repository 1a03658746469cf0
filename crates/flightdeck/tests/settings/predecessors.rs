//! Settings with the hooks of each earlier tool: `install` names them, and takes them out only if asked to.

use std::collections::BTreeMap;

use flightdeck::settings::Predecessor;
use serde_json::{Value, json};

use crate::fixture::SettingsFixture;

const CLAUDE_VIEW: &str = "curl -s -X POST http://localhost:47892/api/live/hook -H 'Content-Type: application/json' \
                           --data-binary @- 2>/dev/null || true # claude-view-hook";

/// The events that the tool registers, each with its handler and matcher.
fn handlers_of(tool: Predecessor) -> Vec<(&'static str, Option<&'static str>, Value)> {
    let command = |command: &str| json!({"type": "command", "command": command});
    match tool {
        Predecessor::ClaudeView => {
            let mut later = command(CLAUDE_VIEW);
            later["async"] = true.into();
            let names = ["UserPromptSubmit", "Stop", "Notification", "PostToolUseFailure", "SubagentStart"];
            let start = ("SessionStart", None, command(CLAUDE_VIEW));
            std::iter::once(start).chain(names.map(|name| (name, None, later.clone()))).collect()
        }
        Predecessor::AgentTmuxMonitor => ["PreToolUse", "PostToolUse", "Stop", "SessionStart"]
            .map(|name| (name, Some("*"), command("/home/dev/.local/bin/atm-hook")))
            .into(),
        Predecessor::Headspace => {
            [("SessionStart", "session-start"), ("Stop", "stop"), ("PreToolUse", "pre-tool-use")]
                .map(|(name, word)| {
                    (name, Some(""), command(&format!("/home/dev/.claude/hooks/notify-headspace.sh {word}")))
                })
                .into()
        }
        Predecessor::Engine => [
            ("PreToolUse", "~/.claude/hooks/pre-tool-use-overflow-v2.sh"),
            ("Stop", "~/.claude/hooks/stop-notify.sh"),
            ("SessionStart", "bash ~/.claude/engine/hooks/session-start.sh"),
        ]
        .map(|(name, script)| (name, Some("*"), command(script)))
        .into(),
    }
}

/// The person's own handler of `Stop`, in front of the tool's handlers.
fn settings_with(tool: Predecessor) -> String {
    let mut hooks: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let own = json!({"hooks": [{"type": "command", "command": "say done"}]});
    hooks.insert("Stop", vec![own]);
    for (name, matcher, handler) in handlers_of(tool) {
        let mut group = json!({"hooks": [handler]});
        if let Some(matcher) = matcher {
            group["matcher"] = matcher.into();
        }
        hooks.entry(name).or_default().push(group);
    }
    serde_json::to_string_pretty(&json!({"model": "opus", "hooks": hooks})).unwrap() + "\n"
}

/// How many handlers of ours and of the tool each event has.
fn reports(fixture: &SettingsFixture, tool: Predecessor) -> BTreeMap<String, usize> {
    let root: Value = serde_json::from_slice(&fixture.bytes()).unwrap();
    let theirs: Vec<Value> =
        handlers_of(tool).into_iter().map(|(_, _, handler)| handler["command"].clone()).collect();
    let counts = |entries: &Value| {
        let handlers =
            entries.as_array().unwrap().iter().flat_map(|group| group["hooks"].as_array().unwrap());
        let command = |handler: &Value| handler["command"].clone();
        let ours = |command: &Value| command.as_str().is_some_and(|c| c.ends_with("# flightdeck-hook"));
        handlers.map(command).filter(|command| ours(command) || theirs.contains(command)).count()
    };
    root["hooks"].as_object().unwrap().iter().map(|(name, entries)| (name.clone(), counts(entries))).collect()
}

fn own_handlers(fixture: &SettingsFixture) -> usize {
    String::from_utf8(fixture.bytes()).unwrap().matches("say done").count()
}

#[test]
fn taken_out_each_event_is_reported_once_and_other_handlers_stay() {
    for tool in Predecessor::ALL {
        let fixture = SettingsFixture::with(settings_with(tool).as_bytes());
        let taken_out = fixture.file().take_out(&[tool]).unwrap();
        assert_eq!(
            (taken_out.tools.len(), taken_out.tools[0].handlers),
            (1, handlers_of(tool).len()),
            "{tool:?}"
        );
        assert_eq!(std::fs::read_to_string(taken_out.backup.unwrap()).unwrap(), settings_with(tool));
        fixture.install().unwrap();
        let reports = reports(&fixture, tool);
        assert_eq!(reports.len(), 30, "{tool:?}");
        assert!(reports.values().all(|count| *count == 1), "{tool:?}: {reports:?}");
        assert_eq!(own_handlers(&fixture), 1, "{tool:?}");
        assert!(fixture.status().predecessors.is_empty() && fixture.status().in_order(), "{tool:?}");
    }
}

#[test]
fn left_in_they_stay_and_are_named() {
    for tool in Predecessor::ALL {
        let fixture = SettingsFixture::with(settings_with(tool).as_bytes());
        let change = fixture.install().unwrap();
        let note = change.notes.iter().find(|note| note.contains(tool.name())).unwrap();
        assert!(
            note.ends_with(&format!("`flightdeck hooks install --replace={}` takes them out", tool.name()))
        );
        assert_eq!(note.contains("stored twice"), tool == Predecessor::ClaudeView, "{note}");
        let twice = reports(&fixture, tool).values().filter(|count| **count == 2).count();
        assert_eq!(twice, handlers_of(tool).len(), "{tool:?}");
        let found = fixture.status().predecessors;
        assert_eq!((found.len(), found[0].tool, found[0].handlers), (1, tool, handlers_of(tool).len()));
        fixture.uninstall().unwrap();
        assert_eq!(fixture.bytes(), settings_with(tool).as_bytes(), "{tool:?}");
    }
}

#[test]
fn uninstall_after_taking_them_out_gives_the_file_without_them() {
    let fixture = SettingsFixture::with(settings_with(Predecessor::Headspace).as_bytes());
    fixture.install().unwrap();
    // Ours are already there: only the earlier tool goes, and the receipt still fits.
    fixture.file().take_out(&Predecessor::ALL).unwrap();
    assert!(fixture.status().in_order());
    fixture.uninstall().unwrap();
    let left: Value = serde_json::from_slice(&fixture.bytes()).unwrap();
    let own = json!([{"hooks": [{"type": "command", "command": "say done"}]}]);
    assert_eq!(left, json!({"model": "opus", "hooks": {"Stop": own}}));
}

#[test]
fn a_handler_that_shares_a_group_goes_alone() {
    let shared = r#"{"hooks": {"Stop": [{"matcher": "", "hooks": [
        {"type": "command", "command": "/h/.local/bin/atm-hook"}, {"type": "command", "command": "say done"}]}]}}"#;
    let fixture = SettingsFixture::with(shared.as_bytes());
    fixture.file().take_out(&Predecessor::ALL).unwrap();
    let left: Value = serde_json::from_slice(&fixture.bytes()).unwrap();
    assert_eq!(left["hooks"]["Stop"][0]["hooks"], json!([{"type": "command", "command": "say done"}]));
    assert_eq!(left["hooks"]["Stop"][0]["matcher"], "");
}

#[test]
fn only_the_named_tool_is_taken_out() {
    let both = settings_with(Predecessor::Engine).replace("say done", "/h/.local/bin/atm-hook");
    let fixture = SettingsFixture::with(both.as_bytes());
    fixture.file().take_out(&[Predecessor::AgentTmuxMonitor]).unwrap();
    let tools: Vec<_> = fixture.status().predecessors.into_iter().map(|found| found.tool).collect();
    assert_eq!(tools, [Predecessor::Engine]);
    let before = fixture.bytes();
    let nothing = fixture.file().take_out(&[Predecessor::Headspace]).unwrap();
    assert!(nothing.tools.is_empty() && nothing.backup.is_none() && fixture.bytes() == before);
}
