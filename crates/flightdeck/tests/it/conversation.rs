//! The conversation of a session, read from its transcript a page at a time.

use std::fs;
use std::path::PathBuf;

use flightdeck_core::time::Millis;
use serde_json::{Value, json};

use crate::in_process::InProcessDaemon;

const MESSAGES: usize = 300;

struct ConversationStage {
    deck: InProcessDaemon,
    folder: tempfile::TempDir,
}

impl ConversationStage {
    fn new() -> Self {
        Self { deck: InProcessDaemon::new(), folder: tempfile::tempdir().unwrap() }
    }

    fn transcript(&self, session: &str) -> PathBuf {
        self.folder.path().join(format!("{session}.jsonl"))
    }

    fn hook(&self, session: &str, name: &str, transcript: &str) {
        let path = self.transcript(transcript);
        let payload = json!({"session_id": session, "hook_event_name": name, "cwd": "/w", "prompt": "x",
            "reason": "other", "transcript_path": path});
        assert_eq!(self.deck.post(&payload.to_string()).status, 204);
    }

    fn page(&self, session: &str, query: &str) -> Value {
        let reply = self.deck.get(&format!("/api/sessions/{session}/conversation?{query}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }

    /// The texts of all pages from the oldest to the newest.
    fn texts_of_page(&self, session: &str, limit: usize) -> Vec<String> {
        let (mut pages, mut query) = (Vec::new(), format!("limit={limit}"));
        loop {
            let page = self.page(session, &query);
            pages.push(texts_of_page(&page));
            match page["next_before"].as_u64() {
                Some(before) => query = format!("limit={limit}&before={before}"),
                None => break,
            }
        }
        pages.into_iter().rev().flatten().collect()
    }
}

fn texts_of_page(page: &Value) -> Vec<String> {
    let messages = page["messages"].as_array().unwrap().iter();
    messages.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

/// Prompts, answers and calls in turn, with lines between them that are no messages.
fn transcript() -> (String, Vec<String>) {
    let mut lines = vec![json!({"type": "mode"})];
    let mut said = Vec::new();
    for n in 0..MESSAGES {
        let answered = |block: Value| json!({"type": "assistant", "message": {"content": [block]}});
        let (line, text) = match n % 3 {
            0 => (
                json!({"type": "user", "origin": {"kind": "human"}, "message": {"content": format!("do {n}")}}),
                format!("do {n}"),
            ),
            1 => (answered(json!({"type": "text", "text": format!("did {n}")})), format!("did {n}")),
            _ => {
                let input = json!({"command": format!("make {n}")});
                (
                    answered(json!({"type": "tool_use", "name": "Bash", "input": input})),
                    format!("Bash: make {n}"),
                )
            }
        };
        lines.extend([
            line,
            json!({"type": "attachment", "attachment": {"type": "x", "text": "y".repeat(900)}}),
        ]);
        said.push(text);
    }
    (lines.iter().map(|line| format!("{line}\n")).collect(), said)
}

#[test]
fn pages_have_every_message_once_from_the_oldest_to_the_newest() {
    let stage = ConversationStage::new();
    let (lines, said) = transcript();
    fs::write(stage.transcript("s"), &lines).unwrap();
    stage.hook("s", "UserPromptSubmit", "s");
    for limit in [7, 50, 200] {
        assert_eq!(stage.texts_of_page("s", limit), said, "{limit}");
    }
    let newest = stage.page("s", "");
    assert_eq!(texts_of_page(&newest), said[MESSAGES - 50..]);
    assert_eq!(texts_of_page(&stage.page("s", "limit=100000")).len(), 200);
    let tool = &newest["messages"][49];
    assert_eq!(
        (&tool["kind"], &tool["role"], &tool["tool_name"]),
        (&"tool".into(), &"assistant".into(), &"Bash".into())
    );
    let args = json!({"session_id": "s"});
    let over_the_socket = stage.deck.socket().ask(&json!({"cmd": "conversation", "args": args}));
    assert_eq!(over_the_socket["data"], newest, "{over_the_socket}");
}

#[test]
fn a_session_that_left_the_board_still_has_its_conversation() {
    let stage = ConversationStage::new();
    let (lines, said) = transcript();
    fs::write(stage.transcript("s"), &lines).unwrap();
    stage.hook("s", "UserPromptSubmit", "s");
    stage.hook("s", "SessionEnd", "s");
    stage.deck.pass(Millis::minutes(31));
    assert_eq!(stage.deck.board()["sessions"], json!([]));
    assert_eq!(stage.texts_of_page("s", 50), said);
}

#[test]
fn a_session_without_a_transcript_says_so_and_an_unknown_session_is_404() {
    let stage = ConversationStage::new();
    stage.hook("s", "UserPromptSubmit", "s");
    let page = stage.page("s", "");
    assert_eq!((&page["messages"], &page["next_before"]), (&json!([]), &Value::Null));
    assert_eq!(page["missing"], "This session has no transcript on this machine");
    let unknown = stage.deck.get("/api/sessions/unknown/conversation");
    assert_eq!((unknown.status, &unknown.json()["error"]), (404, &json!("there is no session unknown")));
}

#[test]
fn the_file_of_another_session_is_not_read() {
    let stage = ConversationStage::new();
    fs::write(stage.transcript("other"), transcript().0).unwrap();
    stage.hook("s", "UserPromptSubmit", "other");
    assert_eq!(stage.page("s", "")["messages"], json!([]));
}

#[test]
fn a_cursor_that_is_none_is_refused_with_a_sentence() {
    let stage = ConversationStage::new();
    fs::write(stage.transcript("s"), transcript().0).unwrap();
    stage.hook("s", "UserPromptSubmit", "s");
    for before in ["-1", "x", "999999999"] {
        let reply = stage.deck.get(&format!("/api/sessions/s/conversation?before={before}"));
        assert_eq!(reply.status, 400, "{before}");
        assert!(reply.json()["error"].as_str().unwrap().len() > 20, "{}", reply.text());
    }
}
