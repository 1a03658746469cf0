//! The client's suggestions ("always allow …") in words.

use flightdeck_core::wire::suggestion::{PermissionRule, SuggestedChange, Suggestion};
use serde_json::Value;

/// What accepting the suggestion changes. A suggestion of an unknown kind is named by its type.
pub(super) fn suggestion_sentence(suggestion: &Value) -> String {
    let Suggestion { change, destination } = Suggestion::parse(suggestion);
    let what = match change {
        SuggestedChange::AddRules { behavior, rules } => {
            format!("always {behavior} {}", rules.into_iter().map(rule_text).collect::<Vec<_>>().join(", "))
        }
        SuggestedChange::AddDirectories(folders) => format!("work in {} too", folders.join(", ")),
        SuggestedChange::SetMode(name) => mode(name),
        SuggestedChange::Other(kind) => kind.to_owned(),
    };
    match destination.map(in_destination) {
        Some(place) => format!("{what} {place}"),
        None => what,
    }
}

/// The pattern of the rule; a rule without one covers the whole tool.
fn rule_text(rule: PermissionRule<'_>) -> String {
    let tool = rule.tool.unwrap_or("?");
    match rule.content {
        None => tool.to_owned(),
        Some(pattern) if tool == "Bash" => pattern.to_owned(),
        // The client's rules write absolute paths with two leading slashes.
        Some(path) => {
            format!("{tool} {}", path.strip_prefix('/').filter(|p| p.starts_with('/')).unwrap_or(path))
        }
    }
}

fn mode(mode: &str) -> String {
    match mode {
        "acceptEdits" => "accept edits without asking".to_owned(),
        "default" => "ask each time".to_owned(),
        "plan" => "plan first".to_owned(),
        "bypassPermissions" => "skip all prompts".to_owned(),
        other => format!("switch to mode {other}"),
    }
}

fn in_destination(destination: &str) -> String {
    match destination {
        "session" => "in this session".to_owned(),
        "localSettings" => "in this checkout".to_owned(),
        "projectSettings" => "in this project".to_owned(),
        "userSettings" => "everywhere".to_owned(),
        other => format!("in {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_suggestion_has_words() {
        let rule = json!({"type": "addRules", "behavior": "allow", "destination": "projectSettings",
            "rules": [{"toolName": "Read", "ruleContent": "//srv/data/**"}, {"toolName": "WebSearch"}]});
        let folder = json!({"type": "addDirectories", "directories": ["/a", "/b"], "destination": "session"});
        assert_eq!(suggestion_sentence(&rule), "always allow Read /srv/data/**, WebSearch in this project");
        assert_eq!(suggestion_sentence(&folder), "work in /a, /b too in this session");
        assert_eq!(suggestion_sentence(&json!({"type": "setMode", "mode": "plan"})), "plan first");
        assert_eq!(suggestion_sentence(&json!({"type": "later"})), "later");
    }
}
