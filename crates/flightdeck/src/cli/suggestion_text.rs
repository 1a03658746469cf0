//! The client's suggestions ("always allow …") in words.

use serde_json::Value;

/// What accepting the suggestion changes. A suggestion of an unknown kind is named by its type.
pub(super) fn words(suggestion: &Value) -> String {
    let text = |key: &str| suggestion.get(key).and_then(Value::as_str);
    let what = match text("type") {
        Some("addRules") => format!("always {} {}", text("behavior").unwrap_or("allow"), rules(suggestion)),
        Some("addDirectories") => format!("work in {} too", names(suggestion, "directories")),
        Some("setMode") => mode(text("mode").unwrap_or_default()),
        kind => kind.unwrap_or("unknown").to_owned(),
    };
    match text("destination").map(place) {
        Some(place) => format!("{what} {place}"),
        None => what,
    }
}

fn names(suggestion: &Value, key: &str) -> String {
    let items = suggestion.get(key).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

/// The patterns of the rules; a rule without one covers the whole tool.
fn rules(suggestion: &Value) -> String {
    let rules = suggestion.get("rules").and_then(Value::as_array).into_iter().flatten();
    rules.map(rule).collect::<Vec<_>>().join(", ")
}

fn rule(rule: &Value) -> String {
    let text = |key: &str| rule.get(key).and_then(Value::as_str);
    let tool = text("toolName").unwrap_or("?");
    match text("ruleContent") {
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

fn place(destination: &str) -> String {
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
        assert_eq!(words(&rule), "always allow Read /srv/data/**, WebSearch in this project");
        assert_eq!(words(&folder), "work in /a, /b too in this session");
        assert_eq!(words(&json!({"type": "setMode", "mode": "plan"})), "plan first");
        assert_eq!(words(&json!({"type": "later"})), "later");
    }
}
