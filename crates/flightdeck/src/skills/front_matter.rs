//! Parses the key `flightdeck` in the front matter of a SKILL.md. Does no IO.

use serde::Deserialize;
use serde::de::DeserializeOwned;

const KEY: &str = "flightdeck";

#[derive(Deserialize)]
struct Ours<T> {
    flightdeck: Option<T>,
}

/// `None` if the text has no front matter, or the front matter has no such key.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<Option<T>, String> {
    let Some(block) = front_matter(text).and_then(block_of_key) else { return Ok(None) };
    let ours: Ours<T> = serde_saphyr::from_str(&block).map_err(|error| one_line(&error.to_string()))?;
    Ok(ours.flightdeck)
}

/// The lines between the first two lines `---`.
fn front_matter(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut end = 0;
    for line in body.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some(&body[..end]);
        }
        end += line.len();
    }
    None
}

/// The lines of our key. The other keys are the client's and are not parsed: it accepts descriptions that are not valid YAML.
fn block_of_key(front_matter: &str) -> Option<String> {
    let is_ours =
        |line: &str| line.strip_prefix(KEY).is_some_and(|rest| rest.trim_start_matches(' ').starts_with(':'));
    let mut lines = front_matter.lines().skip_while(|line| !is_ours(line));
    let first = lines.next()?;
    let goes_on = |line: &&str| line.is_empty() || line.starts_with([' ', '\t', '#', '}', ']', '-']);
    let rest = lines.take_while(goes_on);
    Some(std::iter::once(first).chain(rest).flat_map(|line| [line, "\n"]).collect())
}

/// The parser's message in one line. It quotes the place of a mistake over several lines.
fn one_line(message: &str) -> String {
    /// Longest message that is shown.
    const MESSAGE_CHARS_MAX: usize = 300;
    flightdeck_core::text::one_line(message, MESSAGE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(text: &str, expected: Option<Value>) {
        assert_eq!(parse::<Value>(text).unwrap(), expected, "{text}");
    }

    #[test]
    fn the_key_is_read_in_block_and_in_flow_form() {
        let expected =
            json!({"phases": ["1: Plan", {"name": "2: Build", "directives": ["BUILD.md"]}], "heartbeat": 5});
        check(
            "---\nname: x\nflightdeck:\n  phases:\n    - \"1: Plan\"\n    - name: \"2: Build\"\n      directives: [BUILD.md]\n\n  heartbeat: 5\nmodel: opus\n---\ntext",
            Some(expected.clone()),
        );
        check(
            "\u{feff}---\r\nflightdeck: {phases: [\"1: Plan\", {name: \"2: Build\", directives: [BUILD.md]}], heartbeat: 5}\r\n---\r\n",
            Some(expected),
        );
    }

    #[test]
    fn other_keys_may_be_written_as_the_client_accepts_them() {
        check(
            "---\ndescription: Use when: the build is \"red\nflightdeck:\n  heartbeat: 0\nallowed-tools: Bash(git *), [x\n---\n",
            Some(json!({"heartbeat": 0})),
        );
    }

    #[test]
    fn a_text_without_the_key_has_no_settings() {
        check("# A skill\nflightdeck: {heartbeat: 5}\n", None);
        check("---\nname: x\n---\nflightdeck: {heartbeat: 5}\n", None);
        check("---\nflightdecks: 1\n---\n", None);
        check("---\nflightdeck: {heartbeat: 5}\n", None);
        check("", None);
    }

    #[test]
    fn a_mistake_is_one_line() {
        let why = parse::<Value>("---\nflightdeck:\n  phases: [1, 2\n  heartbeat: 5\n---\n").unwrap_err();
        assert!(!why.contains('\n') && !why.is_empty(), "{why}");
    }
}
