//! The operators of guard rules, and the patterns of `glob` and `regex`.

use std::sync::OnceLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::GUARD_TEXT_CHARS_MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum GuardOperator {
    Eq,
    Ne,
    Contains,
    Glob,
    Regex,
    Gt,
    Lt,
    In,
    Exists,
}

/// The compiled pattern of a condition. It is compiled when it is first used. Two caches are always equal, and a cache is not
/// stored, because the pattern follows from the condition.
#[derive(Clone, Debug, Default)]
pub(super) struct PatternCache(OnceLock<Option<Regex>>);

impl PatternCache {
    pub(super) fn get(&self, op: GuardOperator, value: &Value) -> Option<&Regex> {
        self.0.get_or_init(|| compile_pattern(op, value).ok().flatten()).as_ref()
    }
}

impl PartialEq for PatternCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Checks the value of a condition, and compiles its pattern. The error says what is wrong with the value.
pub(super) fn compile_pattern(op: GuardOperator, value: &Value) -> Result<Option<Regex>, String> {
    use GuardOperator as Op;
    let text = || match value.as_str() {
        Some(text) if text.chars().count() <= GUARD_TEXT_CHARS_MAX => Ok(text),
        Some(_) => Err(format!("may have at most {GUARD_TEXT_CHARS_MAX} characters")),
        None => Err("must be a text for this operator".to_owned()),
    };
    match op {
        Op::Eq | Op::Ne if value.is_object() || value.is_array() => {
            Err("must be a text, a number, true, false or null".to_owned())
        }
        Op::Contains => text().map(|_| None),
        Op::Glob => glob_as_regex(text()?).map(Some),
        Op::Regex => Regex::new(text()?).map(Some).map_err(|error| format!("is no pattern: {error}")),
        Op::Gt | Op::Lt if value.as_f64().is_none() => Err("must be a number for this operator".to_owned()),
        Op::In if !value.is_array() => Err("must be a list for `in`".to_owned()),
        Op::Exists if !matches!(value, Value::Null | Value::Bool(_)) => {
            Err("must be absent, true or false for `exists`".to_owned())
        }
        _ => Ok(None),
    }
}

/// `*` is any text, `?` one character.
fn glob_as_regex(text: &str) -> Result<Regex, String> {
    let pattern = regex::escape(text).replace(r"\*", ".*").replace(r"\?", ".");
    Regex::new(&format!("(?s)^{pattern}$")).map_err(|error| format!("is no pattern: {error}"))
}
