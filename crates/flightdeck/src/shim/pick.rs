//! Picks the facts that say whose event it is out of the beginning of a payload too large to send.

use serde_json::{Map, Value};

use super::limits::PICKED_BYTES_MAX;

/// Who, what and where; `agent_id` and the tool call too, or a subagent's call would be taken for its parent's.
const WANTED: [&str; 10] = [
    "session_id",
    "hook_event_name",
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "tool_name",
    "tool_use_id",
];

/// The event without its large parts, marked `truncated`. `None` if it does not say whose it is.
pub(super) fn truncated(beginning: &[u8]) -> Option<Map<String, Value>> {
    let mut picked = Map::new();
    let mut scan = Scan { bytes: beginning, at: 0 };
    // The beginning ends somewhere inside: what was found until then is what there is.
    let _ = scan.object(&mut picked);
    if !(picked.contains_key("session_id") && picked.contains_key("hook_event_name")) {
        return None;
    }
    picked.insert("truncated".into(), Value::Bool(true));
    Some(picked)
}

/// Walks over one object without recursion; `None` where the bytes end or are not JSON.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    fn object(&mut self, picked: &mut Map<String, Value>) -> Option<()> {
        self.expect(b'{')?;
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            if self.peek()? == b'"' {
                let value = self.string()?;
                pick(key, value, picked);
            } else {
                self.skip_value()?;
            }
            self.expect(b',')?;
        }
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.at..)?;
        self.at += rest.iter().position(|b| !b.is_ascii_whitespace())?;
        self.bytes.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// A string with its quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at - 1;
        loop {
            let rest = self.bytes.get(self.at..)?;
            let stop = rest.iter().position(|b| matches!(b, b'"' | b'\\'))?;
            self.at += stop + 1;
            if rest[stop] == b'"' {
                return self.bytes.get(start..self.at);
            }
            self.at += 1;
        }
    }

    /// Leaves the scan at the comma or brace after a value.
    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b',' | b'}' | b']' if depth == 0 => return Some(()),
                b'"' => drop(self.string()?),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
    }
}

fn pick(key: &[u8], value: &[u8], picked: &mut Map<String, Value>) {
    let name = WANTED.into_iter().find(|name| key.get(1..key.len() - 1) == Some(name.as_bytes()));
    if let Some(name) = name
        && value.len() <= PICKED_BYTES_MAX
        && let Ok(text) = serde_json::from_slice::<String>(value)
    {
        picked.insert(name.into(), Value::String(text));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(beginning: &str, expected: Option<&str>) {
        assert_eq!(truncated(beginning.as_bytes()).map(|m| Value::from(m).to_string()).as_deref(), expected);
    }

    #[test]
    fn the_named_facts_survive_a_cut_inside_the_tool_response() {
        check(
            r#"{"session_id":"s","cwd":"/a \"b\"", "effort":{"level":["x",{}]},"n":1, "hook_event_name" :"PostToolUse","tool_response":{"session_id":"no","content":"aaa"#,
            Some(r#"{"session_id":"s","cwd":"/a \"b\"","hook_event_name":"PostToolUse","truncated":true}"#),
        );
    }

    #[test]
    fn facts_after_the_large_part_are_found_too() {
        check(
            r#"{"tool_input":{"content":"x\\"},"session_id":"s","hook_event_name":"Stop"}"#,
            Some(r#"{"session_id":"s","hook_event_name":"Stop","truncated":true}"#),
        );
    }

    #[test]
    fn without_session_or_name_it_is_nobodys_event() {
        check(r#"{"session_id":"s","cwd":"/a","#, None);
        check(r#"{"session_id":4,"hook_event_name":"Stop","#, None);
        check(r#"[{"session_id":"s","hook_event_name":"Stop"}]"#, None);
        check("", None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            truncated(&bytes);
        }

        #[test]
        fn anything_like_json_is_survived(
            bytes in prop::collection::vec(prop::sample::select(br#"{}[]",:\ a1"#.to_vec()), 0..80)
        ) {
            truncated(&[b"{\"session_id\":", bytes.as_slice()].concat());
        }

        #[test]
        fn wherever_it_is_cut_the_picked_facts_are_right(cut in 0_usize..200) {
            let whole = r#"{"x":[{"session_id":"no"}],"session_id":"s","hook_event_name":"Stop","cwd":"/tmp","last":"y"}"#;
            let picked = truncated(&whole.as_bytes()[..cut.min(whole.len())]);
            for (key, value) in picked.unwrap_or_default() {
                let expected = match key.as_str() {
                    "session_id" => "s".into(),
                    "hook_event_name" => "Stop".into(),
                    "cwd" => "/tmp".into(),
                    _ => Value::Bool(true),
                };
                prop_assert_eq!(value, expected);
            }
        }
    }
}
