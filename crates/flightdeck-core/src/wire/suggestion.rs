//! A permission update that the client suggests with a request ("always allow …"), read into types.

use serde_json::Value;

use super::lenient::{borrowed_text, list};

/// A suggestion. The card keeps the client's own JSON, because an answer must return it unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion<'a> {
    pub change: SuggestedChange<'a>,
    /// Where the client would store the change, such as `projectSettings`.
    pub destination: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuggestedChange<'a> {
    AddRules {
        /// `allow`, `deny` or `ask`.
        behavior: &'a str,
        rules: Vec<PermissionRule<'a>>,
    },
    AddDirectories(Vec<&'a str>),
    SetMode(&'a str),
    /// A kind that this version does not know, by its name.
    Other(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermissionRule<'a> {
    pub tool: Option<&'a str>,
    /// The calls that the rule covers. A rule without it covers the whole tool.
    pub content: Option<&'a str>,
}

impl<'a> Suggestion<'a> {
    pub fn parse(json: &'a Value) -> Self {
        let text = |name: &str| json.as_object().and_then(|fields| borrowed_text(fields, name));
        let items = |name: &str| json.as_object().map_or(&[][..], |fields| list(fields, name)).iter();
        let change = match text("type").unwrap_or("unknown") {
            "addRules" => SuggestedChange::AddRules {
                behavior: text("behavior").unwrap_or("allow"),
                rules: items("rules").map(PermissionRule::parse).collect(),
            },
            "addDirectories" => {
                SuggestedChange::AddDirectories(items("directories").filter_map(Value::as_str).collect())
            }
            "setMode" => SuggestedChange::SetMode(text("mode").unwrap_or_default()),
            other => SuggestedChange::Other(other),
        };
        Self { change, destination: text("destination") }
    }
}

impl<'a> PermissionRule<'a> {
    fn parse(json: &'a Value) -> Self {
        let text = |name: &str| json.as_object().and_then(|fields| borrowed_text(fields, name));
        Self { tool: text("toolName"), content: text("ruleContent") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_suggestion_is_read_into_its_kind() {
        let rules = json!({"type": "addRules", "behavior": "deny", "destination": "session",
            "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}, {"toolName": "Read"}, 3]});
        let Suggestion { change, destination } = Suggestion::parse(&rules);
        assert_eq!(destination, Some("session"));
        let rule = |tool, content| PermissionRule { tool, content };
        let expected = vec![rule(Some("Bash"), Some("ls:*")), rule(Some("Read"), None), rule(None, None)];
        assert_eq!(change, SuggestedChange::AddRules { behavior: "deny", rules: expected });
        let folders = json!({"type": "addDirectories", "directories": ["/a", 1, "/b"]});
        assert_eq!(Suggestion::parse(&folders).change, SuggestedChange::AddDirectories(vec!["/a", "/b"]));
    }

    #[test]
    fn a_suggestion_of_any_shape_can_be_read() {
        let change = |json: Value| match Suggestion::parse(&json).change {
            SuggestedChange::Other(kind) => kind.to_owned(),
            other => format!("{other:?}"),
        };
        let all = [json!(null), json!("x"), json!({"type": 3}), json!({"type": "later"})].map(change);
        assert_eq!(all, ["unknown", "unknown", "unknown", "later"]);
        assert_eq!(
            change(json!({"type": "addRules", "rules": "x"})),
            "AddRules { behavior: \"allow\", rules: [] }"
        );
    }
}
