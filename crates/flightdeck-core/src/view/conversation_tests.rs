use std::path::PathBuf;

use expect_test::{Expect, expect};
use flightdeck_sim::corpus::{scenarios, transcript};
use serde_json::json;

use super::*;

/// Every message of a file, one a line: who said it, its kind where it is not a text, and its first words.
fn read(file: &[u8]) -> String {
    let mut at = 0;
    let mut read = String::new();
    for line in file.split(|b| *b == b'\n') {
        for message in messages_of_line(line, at) {
            let kind = match message.kind {
                MessageKind::Text => String::new(),
                kind => format!(" {kind:?}"),
            };
            read += &format!("{:?}{kind}: {}\n", message.role, one_line(&message.text, 60));
        }
        at += line.len() as u64 + 1;
    }
    read
}

fn check(scenario: &str, expected: &Expect) {
    let scenario = scenarios().into_iter().find(|s| s.name == scenario).unwrap();
    let is_main = |path: &&PathBuf| path.parent().is_some_and(|folder| !folder.ends_with("subagents"));
    let main = scenario.transcripts.iter().find(is_main).unwrap();
    expected.assert_eq(&read(&transcript(main)));
}

fn messages_of_json(line: &Value) -> Vec<ConversationMessage> {
    messages_of_line(line.to_string().as_bytes(), 0)
}

fn texts_of_line(line: &Value) -> Vec<String> {
    messages_of_json(line).into_iter().map(|message| message.text).collect()
}

#[test]
fn answers_calls_refusals_and_interrupts_are_in_the_order_of_the_file() {
    check(
        "perm_deny",
        &expect![[r#"
        User: SCRIPT:bash please
        Assistant: I will run a command.
        Assistant Tool: Bash: touch made-by-bash.txt && echo bash-ok
        Assistant Failure: Refused
        User Notice: Interrupted
        User: SCRIPT:bash again
        Assistant: I will run a command.
        Assistant Tool: Bash: touch made-by-bash.txt && echo bash-ok
        Assistant Failure: Refused
        User Notice: Interrupted
    "#]],
    );
}

#[test]
fn notices_that_the_client_wrote_and_summaries_are_left_out() {
    check(
        "compact",
        &expect![[r#"
        User: SCRIPT:hello number 0
        Assistant: Hello from the stub model.
        User: SCRIPT:hello number 1
        Assistant: Hello from the stub model.
        User: SCRIPT:hello number 2
        Assistant: Hello from the stub model.
        Assistant Notice: The conversation was compacted
        User: SCRIPT:hello after compaction
        Assistant: Hello from the stub model.
    "#]],
    );
    check(
        "subagent",
        &expect![[r#"
        User: SCRIPT:subagent go
        Assistant: Delegating.
        Assistant Tool: Agent: Count files
        Assistant: The subagent reported.
        Assistant: (continuation) acknowledged.
        User: SCRIPT:twosubs go
        Assistant Tool: Agent: Agent A
        Assistant Tool: Agent: Agent B
        Assistant: Both subagents reported.
        Assistant: (continuation) acknowledged.
        Assistant: (continuation) acknowledged.
    "#]],
    );
}

#[test]
fn a_call_that_failed_says_why() {
    check(
        "tool_fail",
        &expect![[r#"
        User: SCRIPT:fail please
        Assistant Tool: Bash: echo to-stdout; echo to-stderr >&2; exit 3
        Assistant Failure: Exit code 3 to-stdout to-stderr
        Assistant: The command failed.
        User: SCRIPT:readbatch
        Assistant Tool: Read: /home/dev/work/demo/README.md
        Assistant Tool: Read: /home/dev/work/demo/missing.txt
        Assistant Failure: File does not exist. Note: your current working directory is…
        Assistant: Read done.
    "#]],
    );
    let result = json!({"type": "tool_result", "is_error": true, "content": [{"type": "text", "text":
        "<tool_use_error>String to replace not found</tool_use_error>"}]});
    let line = json!({"type": "user", "message": {"content": [result]}, "toolUseResult": "Error"});
    assert_eq!(texts_of_line(&line), ["String to replace not found"]);
}

#[test]
fn every_captured_message_has_an_id_of_its_own_and_a_time() {
    for path in scenarios().iter().flat_map(|s| &s.transcripts) {
        let mut ids = std::collections::BTreeSet::new();
        let mut at = 0;
        for line in transcript(path).split(|b| *b == b'\n') {
            for message in messages_of_line(line, at) {
                assert!(message.at.is_some() && ids.insert(message.id.clone()), "{message:?}");
                assert_eq!(message.tool_name.is_some(), message.kind == MessageKind::Tool, "{message:?}");
            }
            at += line.len() as u64 + 1;
        }
    }
}

#[test]
fn a_line_of_many_blocks_gives_its_texts_and_calls_without_thinking() {
    let blocks = json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."},
        {"type": "tool_use", "name": "Grep", "input": {"pattern": "x"}}, {"type": "text", "text": " "}, {"type": "new"}]);
    let line =
        json!({"type": "assistant", "timestamp": "2026-11-15T10:00:00.000Z", "message": {"content": blocks}});
    let said = messages_of_line(line.to_string().as_bytes(), 70);
    let brief = |m: &ConversationMessage| (m.id.clone(), m.text.clone(), m.tool_name.clone());
    assert_eq!(
        said.iter().map(brief).collect::<Vec<_>>(),
        [("70.0".into(), "I look.".into(), None), ("70.1".into(), "Grep: x".into(), Some("Grep".into()))]
    );
    let many =
        json!({"type": "assistant", "message": {"content": vec![json!({"type": "text", "text": "x"}); 500]}});
    assert_eq!(messages_of_json(&many).len(), MESSAGES_PER_LINE_MAX);
}

#[test]
fn a_prompt_typed_ahead_counts_when_the_turn_took_it() {
    let queue = |operation: &str, reason: Value, content: &str| json!({"type": "queue-operation", "operation": operation, "reason": reason, "content": content});
    assert_eq!(texts_of_line(&queue("remove", json!("absorbed_mid_turn"), "and test it")), ["and test it"]);
    for other in [
        queue("enqueue", Value::Null, "and test it"),
        queue("popAll", Value::Null, "and test it"),
        queue("remove", json!("absorbed_mid_turn"), "<task-notification>\nx"),
    ] {
        assert_eq!(texts_of_line(&other), [""; 0], "{other}");
    }
}

#[test]
fn lines_of_subagents_placeholders_and_unknown_types_are_no_messages() {
    let answer = |extra: Value| {
        let mut line = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "x"}]}});
        line.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        line
    };
    assert_eq!(texts_of_line(&answer(json!({}))), ["x"]);
    assert_eq!(texts_of_line(&answer(json!({"isSidechain": true}))), [""; 0]);
    assert_eq!(texts_of_line(&answer(json!({"type": "new-type"}))), [""; 0]);
    let synthetic =
        json!({"message": {"model": SYNTHETIC_MODEL, "content": [{"type": "text", "text": "x"}]}});
    assert_eq!(texts_of_line(&answer(synthetic.clone())), [""; 0]);
    let mut refused = answer(synthetic);
    refused["isApiErrorMessage"] = true.into();
    assert_eq!(messages_of_json(&refused)[0].kind, MessageKind::Failure);
    for odd in
        [json!([]), json!({"type": "assistant"}), json!({"type": "assistant", "message": {"content": 7}})]
    {
        assert_eq!(texts_of_line(&odd), [""; 0], "{odd}");
    }
}

#[test]
fn a_cut_line_a_long_line_and_bytes_that_are_not_utf8_do_no_harm() {
    let whole =
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "whole"}]}}).to_string();
    for cut in 0..whole.len() {
        assert_eq!(messages_of_line(&whole.as_bytes()[..cut], 0), [], "{cut}");
    }
    let long =
        json!({"type": "user", "origin": {"kind": "human"}, "message": {"content": "é".repeat(9_000_000)}});
    let text = &messages_of_json(&long)[0].text;
    assert_eq!((text.chars().count(), text.ends_with('…')), (MESSAGE_CHARS_MAX + 1, true));
    let odd = [&whole.as_bytes()[..whole.len() - 7], b"\xff", &whole.as_bytes()[whole.len() - 7..]].concat();
    assert_eq!(messages_of_line(&odd, 0)[0].text, "who\u{fffd}le");
}
