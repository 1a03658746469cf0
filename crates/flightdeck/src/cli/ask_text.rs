//! A request as text: the words for a list, and the whole request with its possible answers.

use flightdeck_core::approval::card::{AskCard, Question};
use flightdeck_core::approval::form::{FieldType, FormField, form_fields};
use flightdeck_core::approval::resolution::NeedKind;
use flightdeck_core::approval::tool_input::call_subject;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::clip::has_clipped_field;
use serde_json::{Map, Value};

use super::out::{Out, paint};
use super::{draw, suggestion_text};

/// Longest summary of a request in the list.
const SUMMARY_CHARS_MAX: usize = 100;
/// The mark of a request of which even the log has only a part.
pub(super) const PART_ONLY: &str = "Only a part of it is in the log; its terminal shows all of it";
/// One step of indentation.
const INDENT: &str = "  ";

/// What is asked, in one line.
pub(super) fn summary(ask: &AskCard) -> String {
    let tool = ask.tool_name.as_deref().unwrap_or("input");
    match ask.kind {
        NeedKind::Permission => match ask.tool_input.as_ref().and_then(call_subject) {
            Some(what) => format!("{tool}: {}", first_line(what)),
            None => tool.to_owned(),
        },
        NeedKind::Question => {
            let first = ask.questions.iter().flatten().next();
            first.map_or("a question".to_owned(), |q| first_line(&q.question))
        }
        NeedKind::Plan => "plan ready".to_owned(),
        NeedKind::Elicitation => ask.message.as_deref().map_or("a form".to_owned(), first_line),
    }
}

fn first_line(text: &str) -> String {
    flightdeck_core::text::one_line(text.lines().next().unwrap_or_default(), SUMMARY_CHARS_MAX)
}

/// Removes control characters, so that no text can move this terminal's cursor.
pub(super) fn without_controls(text: &str) -> String {
    flightdeck_core::text::without_controls(text)
}

/// The whole request, and the possible answers.
pub(super) fn in_full(out: &Out, ask: &AskCard, now: Timestamp) -> String {
    let mut text = format!("{}\n", paint(out, "1", &title(ask)));
    text += &match ask.kind {
        NeedKind::Permission => permission(out, ask),
        NeedKind::Question => ask.questions.iter().flatten().map(|q| question(out, q)).collect(),
        NeedKind::Plan => format!("{}\n", without_controls(ask.plan().unwrap_or_default())),
        NeedKind::Elicitation => form(ask),
    };
    text += &format!("{INDENT}{}\n", possible_answers(ask.kind));
    if is_cut(ask) {
        text += &format!("{}\n", paint(out, "31;1", &format!("{INDENT}{PART_ONLY}")));
    }
    match ask.expires_at {
        Some(until) if ask.answerable => text + &format!("{INDENT}{} left\n", draw::duration(until - now)),
        _ => text + INDENT + "only the terminal can answer this\n",
    }
}

/// A question is printed as a whole below its title.
fn title(ask: &AskCard) -> String {
    match (ask.kind, ask.questions.as_ref().map_or(0, Vec::len)) {
        (NeedKind::Permission, _) => {
            format!("Permission for {}", ask.tool_name.as_deref().unwrap_or("a tool"))
        }
        (NeedKind::Question, 2..) => "Several questions".to_owned(),
        (NeedKind::Question, _) => "A question".to_owned(),
        _ => summary(ask),
    }
}

fn permission(out: &Out, ask: &AskCard) -> String {
    let mut text = ask.tool_input.as_ref().map(|input| fields(out, input, INDENT)).unwrap_or_default();
    for (n, suggestion) in ask.suggestions.iter().enumerate() {
        text += &format!(
            "{INDENT}--always {}  {}\n",
            n + 1,
            without_controls(&suggestion_text::suggestion_sentence(suggestion))
        );
    }
    if let Some(why) = &ask.caution {
        text += &format!("{}\n", paint(out, "31;1", &format!("{INDENT}{why}: this cannot be undone")));
    }
    text
}

/// The fields of a tool's input: a command after `$`, a change as removed and added lines, others by their names.
fn fields(out: &Out, input: &Map<String, Value>, indent: &str) -> String {
    input.iter().map(|(name, value)| field(out, name, value, indent)).collect()
}

fn field(out: &Out, name: &str, value: &Value, indent: &str) -> String {
    match (name, value) {
        ("command", Value::String(text)) => marked(indent, "$ ", text),
        ("old_string", Value::String(text)) => paint_lines(out, "31", &marked(indent, "- ", text)),
        ("new_string", Value::String(text)) => paint_lines(out, "32", &marked(indent, "+ ", text)),
        _ => format!("{indent}{}:{}", without_controls(name), value_after_name(out, value, indent)),
    }
}

/// The value after a name: on the same line if it is short, otherwise on lines of its own.
fn value_after_name(out: &Out, value: &Value, indent: &str) -> String {
    let deeper = format!("{indent}{INDENT}");
    match value {
        Value::String(text) if text.contains('\n') => format!("\n{}", marked(&deeper, "", text)),
        Value::String(text) => format!(" {}\n", without_controls(text)),
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            let item = |item: &Value| format!("{deeper}-{}", value_after_name(out, item, &deeper));
            format!("\n{}", items.iter().map(item).collect::<String>())
        }
        Value::Array(items) => {
            let words = items.iter().map(|item| item.as_str().map_or(item.to_string(), str::to_owned));
            format!(" {}\n", without_controls(&words.collect::<Vec<_>>().join(", ")))
        }
        Value::Object(map) => format!("\n{}", fields(out, map, &deeper)),
        Value::Null | Value::Bool(_) | Value::Number(_) => format!(" {value}\n"),
    }
}

/// Each line of the text with a mark before it.
fn marked(indent: &str, mark: &str, text: &str) -> String {
    without_controls(text).lines().map(|line| format!("{indent}{mark}{line}\n")).collect()
}

fn paint_lines(out: &Out, code: &str, text: &str) -> String {
    text.lines().map(|line| paint(out, code, line) + "\n").collect()
}

fn question(out: &Out, question: &Question) -> String {
    let mut text = format!("{}\n", without_controls(&question.question));
    for (n, option) in question.options.iter().enumerate() {
        let why = option.description.as_deref().map(first_line).unwrap_or_default();
        let line =
            format!("{INDENT}{}  {}  {}", n + 1, without_controls(&option.label), paint(out, "2", &why));
        text += &format!("{}\n", line.trim_end());
    }
    text
}

/// The fields of a form: name, type, whether it must be filled in, what it means, and what may be chosen.
fn form(ask: &AskCard) -> String {
    let Some(schema) = &ask.requested_schema else { return String::new() };
    form_fields(schema).map(|field| form_field(&field)).collect()
}

fn form_field(field: &FormField<'_>) -> String {
    let kind = field.kind.map_or("string", FieldType::as_str);
    let must = if field.is_required { ", required" } else { "" };
    let about = [field.title, field.description].into_iter().flatten().map(first_line);
    let words = field.choices.iter().map(|c| c.as_str().map_or(c.to_string(), str::to_owned));
    let choices = format!("one of {}", words.collect::<Vec<_>>().join(", "));
    let mut line = format!("{INDENT}{} ({kind}{must})", field.name);
    for words in about.chain((!field.choices.is_empty()).then_some(choices)) {
        line += &format!("  {words}");
    }
    without_controls(&line) + "\n"
}

/// The arguments that answer this kind of request.
pub(super) fn possible_answers(kind: NeedKind) -> &'static str {
    match kind {
        NeedKind::Permission => "allow | deny [--message WHY] [--interrupt]",
        NeedKind::Question => {
            "--pick N or your own words, once per question; `--pick 1,3` where several may be chosen"
        }
        NeedKind::Plan => "allow [--mode acceptEdits] | deny --message WHY",
        NeedKind::Elicitation => "allow --field NAME=VALUE | deny | cancel",
    }
}

/// Whether even the log has only a part of the request.
pub(super) fn is_cut(ask: &AskCard) -> bool {
    let whole = ask.tool_input.as_ref().is_some_and(|input| !has_clipped_field(input));
    ask.kind != NeedKind::Elicitation && !whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use flightdeck_core::wire::clip;
    use serde_json::json;

    /// A request, with the fields that matter for its kind.
    fn ask(more: Value) -> AskCard {
        let mut card = json!({
            "id": "x", "session_id": "s", "agent_id": null, "kind": "permission", "tool_name": "Bash", "tool_input": {},
            "questions": null, "suggestions": [], "caution": null, "message": null, "requested_schema": null, "url": null,
            "mcp_server_name": null, "opened_at": "2026-11-15T18:00:00.000Z", "expires_at": "2026-11-15T18:10:00.000Z",
            "answerable": true, "resolution": null
        });
        card.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(card).unwrap()
    }

    fn check(more: Value, expected: Expect) {
        let now = Timestamp::parse("2026-11-15T18:00:30.000Z").unwrap();
        expected.assert_eq(&in_full(&Out::without_colour(80), &ask(more), now));
    }

    #[test]
    fn a_command_is_printed_as_one_types_it_and_suggestions_in_words() {
        check(
            json!({
                "tool_input": {"command": "cd api &&\n  cargo test", "description": "Run the tests", "timeout": 60000},
                "suggestions": [
                    {"type": "addRules", "behavior": "allow", "destination": "localSettings",
                     "rules": [{"toolName": "Bash", "ruleContent": "cargo test:*"}]},
                    {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
                ]
            }),
            expect![[r#"
                Permission for Bash
                  $ cd api &&
                  $   cargo test
                  description: Run the tests
                  timeout: 60000
                  --always 1  always allow cargo test:* in this checkout
                  --always 2  accept edits without asking in this session
                  allow | deny [--message WHY] [--interrupt]
                  9:30 left
            "#]],
        );
    }

    #[test]
    fn a_change_is_printed_as_removed_and_added_lines() {
        check(
            json!({
                "tool_name": "MultiEdit",
                "tool_input": {"file_path": "/w/a.rs", "edits": [{"old_string": "a\nb", "new_string": "c"}], "tags": ["x", 2]},
                "answerable": false
            }),
            expect![[r#"
                Permission for MultiEdit
                  file_path: /w/a.rs
                  edits:
                    -
                      - a
                      - b
                      + c
                  tags: x, 2
                  allow | deny [--message WHY] [--interrupt]
                  only the terminal can answer this
            "#]],
        );
    }

    #[test]
    fn a_form_lists_its_fields() {
        check(
            json!({
                "kind": "elicitation", "tool_name": null, "tool_input": null, "message": "Where to?",
                "requested_schema": {"required": ["env"], "properties": {
                    "env": {"type": "string", "title": "Environment", "enum": ["test", "live"]},
                    "count": {"type": "integer"}
                }}
            }),
            expect![[r#"
                Where to?
                  env (string, required)  Environment  one of test, live
                  count (integer)
                  allow --field NAME=VALUE | deny | cancel
                  9:30 left
            "#]],
        );
    }

    #[test]
    fn a_shortened_request_is_known_by_its_mark() {
        let cut = |mut input: Value, bytes: usize| {
            let map = input.as_object_mut().unwrap();
            clip::shorten(map, bytes);
            has_clipped_field(map)
        };
        let many: Vec<u32> = (0..3000).collect();
        assert!(!cut(json!({ "content": "short", "deep": { "list": [1, 2] } }), 1000));
        assert!(cut(json!({ "content": "x".repeat(5000) }), 1000));
        assert!(cut(json!({ "deep": { "list": many } }), 8000));
        assert!(cut(json!({ "x".repeat(5000): 1 }), 1000));
    }
}
