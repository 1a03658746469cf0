//! Chooses the script and the step for a request from the conversation in it, so the stand-in keeps no state.

use serde_json::Value;

use super::scripts::{self, ScriptStep};

/// Comes before the name of a script in a prompt: that script is played from here on.
const MARKER: &str = "SCRIPT:";
/// Comes before the command line in a prompt, which the script `command` runs.
const COMMAND: &str = "COMMAND:";
/// The script of a request for a summary of the conversation.
pub(super) const SUMMARY: &str = "compact";

#[derive(Debug)]
pub(super) struct Choice {
    pub(super) script: Option<String>,
    /// Assistant messages after the marker.
    pub(super) index: usize,
    pub(super) step: ScriptStep,
}

pub(super) fn choose(body: &Value) -> Choice {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let last_user = messages.iter().rfind(|m| m["role"] == "user").map(message_text).unwrap_or_default();
    if last_user.contains("create a detailed summary")
        || last_user.contains("CRITICAL: Respond with TEXT ONLY")
    {
        return Choice { script: Some(SUMMARY.into()), index: 0, step: scripts::summary() };
    }
    let (script, index) = last_script(messages);
    if body["tools"].as_array().is_none_or(Vec::is_empty) {
        let wants_title = strings(&body["system"]).iter().any(|s| s.to_lowercase().contains("title"))
            || body["output_config"].to_string().contains("title");
        return Choice { script, index, step: scripts::aside(wants_title) };
    }
    let steps = scripts::script(script.as_deref().unwrap_or("hello")).or_else(|| scripts::script("hello"));
    let step = steps.and_then(|steps| steps.into_iter().nth(index)).unwrap_or_else(scripts::over);
    Choice { script, index, step }
}

/// The script that a user named last, and the number of answers after it.
fn last_script(messages: &[Value]) -> (Option<String>, usize) {
    let named = |m: &Value| {
        if m["role"] == "user" { last_marker(&without_reminders(&message_text(m))) } else { None }
    };
    let Some((at, script)) = messages.iter().enumerate().rev().find_map(|(n, m)| Some((n, named(m)?))) else {
        return (None, 0);
    };
    (Some(script), messages[at + 1..].iter().filter(|m| m["role"] == "assistant").count())
}

fn last_marker(text: &str) -> Option<String> {
    let after = &text[text.rfind(MARKER)? + MARKER.len()..];
    let name: String = after.chars().take_while(char::is_ascii_alphanumeric).collect();
    (!name.is_empty()).then_some(name)
}

/// The text of a message or of a tool result.
pub(super) fn message_text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|b| b["type"] == "text").filter_map(|b| b["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The tool results in the last message of the user.
pub(super) fn last_tool_results(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let blocks = messages.iter().rfind(|m| m["role"] == "user").and_then(|m| m["content"].as_array());
    let results = blocks.into_iter().flatten().filter(|b| b["type"] == "tool_result");
    results.map(message_text).collect()
}

/// Removes the client's reminders, which quote earlier prompts.
fn without_reminders(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<system-reminder>") {
        out.push_str(before);
        rest = after.split_once("</system-reminder>").map_or("", |(_, after)| after);
    }
    out + rest
}

/// The command line in the person's last prompt that names one.
pub(super) fn command(body: &Value) -> Option<String> {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let prompts = messages.iter().rev().filter(|m| m["role"] == "user");
    prompts.map(|m| without_reminders(&message_text(m))).find_map(|text| {
        let after = text.split_once(COMMAND)?.1;
        Some(after.lines().next().unwrap_or_default().trim().to_owned())
    })
}

/// The session's working directory, from the client's system prompt.
pub(super) fn cwd(body: &Value) -> String {
    let after = |text: &str| {
        let words = ["Primary working directory:", "Working directory:", "cwd:"];
        let rest = words.iter().find_map(|w| text.split_once(w).map(|(_, rest)| rest))?;
        rest.split_whitespace().next().filter(|p| p.starts_with('/')).map(str::to_owned)
    };
    strings(body).iter().find_map(|s| after(s)).unwrap_or_else(|| "/nonexistent".into())
}

/// The plan file the client told the model to write, the newest if there are several.
pub(super) fn plan_file(body: &Value) -> Option<String> {
    let is_edge = |c: char| c.is_whitespace() || "\"'`()".contains(c);
    let words =
        strings(body).into_iter().flat_map(|s| s.split(is_edge).map(str::to_owned).collect::<Vec<_>>());
    let paths = words.filter(|w| w.starts_with('/') && w.contains("/plans/"));
    let cut = |w: String| w.find(".md").map(|end| w[..end + 3].to_owned());
    paths.filter_map(cut).next_back()
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(map) => map.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn user(text: &str) -> Value {
        json!({"role": "user", "content": [{"type": "text", "text": text}]})
    }

    fn assistant() -> Value {
        json!({"role": "assistant", "content": []})
    }

    fn chosen(messages: Vec<Value>) -> (Option<String>, usize) {
        let choice = choose(&json!({"messages": messages, "tools": [{"name": "Bash"}]}));
        (choice.script, choice.index)
    }

    #[test]
    fn the_last_marker_names_the_script_and_the_answers_after_it_the_step() {
        assert_eq!(chosen(vec![user("SCRIPT:bash go"), assistant(), user("")]), (Some("bash".into()), 1));
        assert_eq!(
            chosen(vec![user("SCRIPT:bash go"), assistant(), user("SCRIPT:ask now")]),
            (Some("ask".into()), 0)
        );
        assert_eq!(chosen(vec![user("hi")]), (None, 0));
    }

    #[test]
    fn a_marker_quoted_in_a_reminder_does_not_count() {
        let quoted = "<system-reminder>SCRIPT:fail</system-reminder> SCRIPT:hello <system-reminder>SCRIPT:ask</system-reminder>";
        assert_eq!(chosen(vec![user(quoted)]), (Some("hello".into()), 0));
    }

    #[test]
    fn a_prompt_may_hold_the_command_to_run() {
        let body =
            json!({"messages": [user("SCRIPT:command COMMAND:git push --force\nand more"), assistant()]});
        assert_eq!(command(&body).as_deref(), Some("git push --force"));
        assert_eq!(command(&json!({"messages": [user("go")]})), None);
    }

    #[test]
    fn what_tools_gave_is_what_the_model_was_told() {
        let result = |content: Value| json!({"type": "tool_result", "tool_use_id": "t", "content": content});
        let results = json!({"role": "user", "content": [result(json!("no")), result(json!([{"type": "text", "text": "ok"}]))]});
        assert_eq!(last_tool_results(&json!({"messages": [user("go"), assistant(), results]})), ["no", "ok"]);
        assert!(last_tool_results(&json!({"messages": [user("go")]})).is_empty());
    }

    #[test]
    fn the_folder_and_the_plan_file_are_found_in_what_the_client_says() {
        let body = json!({"system": [{"text": "Env\n - Primary working directory: /lab/demo\n"}],
            "messages": [user("write it to `/lab/.claude/plans/happy-gem.md`.")]});
        assert_eq!(cwd(&body), "/lab/demo");
        assert_eq!(plan_file(&body).as_deref(), Some("/lab/.claude/plans/happy-gem.md"));
    }
}
