//! Evaluates the condition of a guard rule.

use std::sync::OnceLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::guard::{GuardCondition, GuardOperator};
use crate::limits::GUARD_TEXT_CHARS_MAX;

/// What the conditions of guard rules may ask for.
#[derive(Clone, Copy, Debug)]
pub struct GuardFacts<'a> {
    /// The payload of the tool call.
    pub payload: &'a Map<String, Value>,
    pub heartbeat: u32,
    pub context_percent: Option<f64>,
    pub phase: &'a str,
    pub project: &'a str,
}

/// The pattern of a condition, compiled when it is first needed. It follows from the condition, so it is neither stored nor
/// compared.
#[derive(Clone, Debug, Default)]
pub(super) struct PatternCache(OnceLock<Option<Regex>>);

impl PartialEq for PatternCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Checks the value of a condition, and compiles its pattern. The error says what is wrong with the value.
pub(super) fn compile(when: &GuardCondition) -> Result<Option<Regex>, String> {
    use GuardOperator as Op;
    let text = || match when.value.as_str() {
        Some(text) if text.chars().count() <= GUARD_TEXT_CHARS_MAX => Ok(text),
        Some(_) => Err(format!("may have {GUARD_TEXT_CHARS_MAX} characters")),
        None => Err("must be a text for this operator".to_owned()),
    };
    match when.op {
        Op::Eq | Op::Ne if when.value.is_object() || when.value.is_array() => {
            Err("must be a text, a number, true, false or null".to_owned())
        }
        Op::Contains => text().map(|_| None),
        Op::Glob => glob(text()?).map(Some),
        Op::Regex => Regex::new(text()?).map(Some).map_err(|error| format!("is no pattern: {error}")),
        Op::Gt | Op::Lt if when.value.as_f64().is_none() => {
            Err("must be a number for this operator".to_owned())
        }
        Op::In if !when.value.is_array() => Err("must be a list for `in`".to_owned()),
        Op::Exists if !matches!(when.value, Value::Null | Value::Bool(_)) => {
            Err("must be absent, true or false for `exists`".to_owned())
        }
        _ => Ok(None),
    }
}

/// `*` is any text, `?` one character.
fn glob(text: &str) -> Result<Regex, String> {
    let pattern = regex::escape(text).replace(r"\*", ".*").replace(r"\?", ".");
    Regex::new(&format!("(?s)^{pattern}$")).map_err(|error| format!("is no pattern: {error}"))
}

impl GuardCondition {
    /// Whether the condition holds. A condition that cannot be evaluated does not hold.
    pub fn holds(&self, facts: &GuardFacts<'_>) -> bool {
        use GuardOperator as Op;
        let found = self.find(facts);
        if self.op == Op::Exists {
            return found.is_some_and(|value| !value.is_null()) == self.value.as_bool().unwrap_or(true);
        }
        let Some(found) = found else { return self.op == Op::Ne };
        let number = || Some((found.as_f64()?, self.value.as_f64()?));
        match self.op {
            Op::Eq => same(&found, &self.value),
            Op::Ne => !same(&found, &self.value),
            Op::Contains => self.value.as_str().is_some_and(|part| contains(&found, part)),
            Op::Gt => number().is_some_and(|(found, limit)| found > limit),
            Op::Lt => number().is_some_and(|(found, limit)| found < limit),
            Op::In => self.value.as_array().is_some_and(|list| list.iter().any(|v| same(&found, v))),
            Op::Glob | Op::Regex => self.pattern().is_some_and(|pattern| pattern.is_match(&text_of(&found))),
            Op::Exists => false,
        }
    }

    fn pattern(&self) -> Option<&Regex> {
        self.pattern.0.get_or_init(|| compile(self).ok().flatten()).as_ref()
    }

    fn find(&self, facts: &GuardFacts<'_>) -> Option<Value> {
        match self.field.as_str() {
            "window.heartbeat" => Some(facts.heartbeat.into()),
            "context.percent" => facts.context_percent.map(Value::from),
            "phase" => Some(facts.phase.into()),
            "project" => Some(facts.project.into()),
            pointer => point(facts.payload, pointer).cloned(),
        }
    }
}

/// The value that a JSON pointer names.
fn point<'a>(payload: &'a Map<String, Value>, pointer: &str) -> Option<&'a Value> {
    let path = pointer.strip_prefix('/')?;
    let (first, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    payload.get(&first.replace("~1", "/").replace("~0", "~"))?.pointer(rest)
}

fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn contains(found: &Value, part: &str) -> bool {
    match found {
        Value::Array(list) => list.iter().any(|item| text_of(item) == part),
        other => text_of(other).contains(part),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
