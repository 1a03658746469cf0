//! What the input of a tool call says, for every view that shows a request.

use serde_json::{Map, Value};

use crate::wire::lenient::borrowed_text;

/// The command, the file or the address that a call is about.
pub fn call_subject(input: &Map<String, Value>) -> Option<&str> {
    ["command", "file_path", "url"].into_iter().find_map(|field| borrowed_text(input, field))
}

/// A text of a file that the call replaces by another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement<'a> {
    pub old: &'a str,
    pub new: &'a str,
}

impl<'a> Replacement<'a> {
    /// `None` if the call replaces no text.
    pub fn from_input(input: &'a Map<String, Value>) -> Option<Self> {
        Some(Self { old: borrowed_text(input, OLD)?, new: borrowed_text(input, NEW)? })
    }

    /// The fields of the input that are not part of the replacement.
    pub fn other_fields(input: &'a Map<String, Value>) -> impl Iterator<Item = (&'a String, &'a Value)> {
        input.iter().filter(|(field, _)| !matches!(field.as_str(), OLD | NEW))
    }
}

const OLD: &str = "old_string";
const NEW: &str = "new_string";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn input(value: Value) -> Map<String, Value> {
        let Value::Object(input) = value else { unreachable!() };
        input
    }

    #[test]
    fn a_call_is_about_its_command_before_its_file() {
        let both = input(json!({"file_path": "/a", "command": "ls"}));
        assert_eq!(call_subject(&both), Some("ls"));
        assert_eq!(call_subject(&input(json!({"url": "https://a", "command": 3}))), Some("https://a"));
        assert_eq!(call_subject(&input(json!({"pattern": "x"}))), None);
    }

    #[test]
    fn a_replacement_needs_both_texts() {
        let edit = input(json!({"file_path": "/a", "new_string": "b", "old_string": "a"}));
        assert_eq!(Replacement::from_input(&edit), Some(Replacement { old: "a", new: "b" }));
        let others: Vec<_> = Replacement::other_fields(&edit).map(|(field, _)| field.as_str()).collect();
        assert_eq!(others, ["file_path"]);
        assert_eq!(Replacement::from_input(&input(json!({"old_string": "a"}))), None);
    }
}
