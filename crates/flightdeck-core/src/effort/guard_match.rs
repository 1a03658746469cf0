//! Evaluates the condition of a guard rule.

use regex::Regex;
use serde_json::{Map, Value};

use super::guard::GuardCondition;
use super::guard_pattern::GuardOperator;

/// The values that conditions of guard rules can test.
#[derive(Clone, Copy, Debug)]
pub struct GuardFacts<'a> {
    /// The payload of the tool call.
    pub payload: &'a Map<String, Value>,
    pub heartbeat: u32,
    pub context_percent: Option<f64>,
    pub phase: &'a str,
    pub project: &'a str,
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
            Op::Eq => equal_values(&found, &self.value),
            Op::Ne => !equal_values(&found, &self.value),
            Op::Contains => self.value.as_str().is_some_and(|part| contains(&found, part)),
            Op::Gt => number().is_some_and(|(found, limit)| found > limit),
            Op::Lt => number().is_some_and(|(found, limit)| found < limit),
            Op::In => self.value.as_array().is_some_and(|list| list.iter().any(|v| equal_values(&found, v))),
            Op::Glob | Op::Regex => self.pattern().is_some_and(|pattern| pattern.is_match(&as_text(&found))),
            Op::Exists => false,
        }
    }

    fn pattern(&self) -> Option<&Regex> {
        self.pattern.get(self.op, &self.value)
    }

    fn find(&self, facts: &GuardFacts<'_>) -> Option<Value> {
        match self.field.as_str() {
            "window.heartbeat" => Some(facts.heartbeat.into()),
            "context.percent" => facts.context_percent.map(Value::from),
            "phase" => Some(facts.phase.into()),
            "project" => Some(facts.project.into()),
            pointer => value_at_pointer(facts.payload, pointer).cloned(),
        }
    }
}

/// The value that a JSON pointer names.
fn value_at_pointer<'a>(payload: &'a Map<String, Value>, pointer: &str) -> Option<&'a Value> {
    let path = pointer.strip_prefix('/')?;
    let (first, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    payload.get(&first.replace("~1", "/").replace("~0", "~"))?.pointer(rest)
}

fn equal_values(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn contains(found: &Value, part: &str) -> bool {
    match found {
        Value::Array(list) => list.iter().any(|item| as_text(item) == part),
        other => as_text(other).contains(part),
    }
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
