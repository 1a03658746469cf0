//! A dry run of the policy over past requests: what its rules, or one more rule, would have answered.

use serde::{Deserialize, Serialize};

use crate::approval::answer::Decision;
use crate::approval::policy::{Policy, PolicyOutcome, PolicyRequest, PolicyRule};
use crate::log::hold_rules::HoldRules;
use crate::log::record::Record;
use crate::text::one_line;

/// Example requests that are kept for each row.
const EXAMPLES_MAX: usize = 3;
/// Longest example.
const EXAMPLE_CHARS_MAX: usize = 100;

const NOT_HELD: &str = "asked by `claude -p` or a subagent, which are not held";

/// Requests with the same result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PolicyRow {
    /// The rule, or why no rule answered.
    pub name: String,
    pub decision: Option<Decision>,
    pub count: u64,
    /// The first few requests that differ from each other.
    pub examples: Vec<String>,
}

/// What the rules would have answered so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PolicyReport {
    /// The policy is on.
    pub enabled: bool,
    /// Past permission requests.
    pub asks: u64,
    pub answered: u64,
    pub allowed: u64,
    pub denied: u64,
    pub by_rule: Vec<PolicyRow>,
    /// Requests left to the person, by reason.
    pub left: Vec<PolicyRow>,
}

/// Counts what a policy would have answered.
#[derive(Debug)]
pub struct PolicyDryRun {
    policy: Policy,
    /// The policy without the new rule. Requests that both policies treat the same are not counted.
    present: Option<Policy>,
    holds: HoldRules,
    report: PolicyReport,
}

impl PolicyDryRun {
    pub fn new(policy: Policy, holds: HoldRules) -> Self {
        let report = PolicyReport { enabled: policy.enabled, ..PolicyReport::default() };
        Self { policy, present: None, holds, report }
    }

    /// A dry run that counts only the requests for which one more rule changes the result.
    pub fn of_new_rule(present: Policy, rule: PolicyRule, holds: HoldRules) -> Self {
        let mut policy = present.clone();
        policy.rules.push(rule);
        Self { present: Some(present), ..Self::new(policy, holds) }
    }

    pub fn add(&mut self, record: &Record) {
        let Some(request) = PolicyRequest::from_record(record) else { return };
        self.report.asks += 1;
        let outcome = self.policy.decide(&request);
        if self.present.as_ref().is_some_and(|present| present.decide(&request) == outcome) {
            return;
        }
        let example = one_line(&request.summary(), EXAMPLE_CHARS_MAX);
        if !self.holds.holds_hook_of(record) && outcome.rules().is_some() {
            return count_example(&mut self.report.left, NOT_HELD.to_owned(), None, example);
        }
        match &outcome {
            PolicyOutcome::Allow(_) => {
                self.report.allowed += 1;
                let rules = outcome.rules().unwrap_or_default();
                count_example(&mut self.report.by_rule, rules, Some(Decision::Allow), example);
            }
            PolicyOutcome::Deny(rule) => {
                self.report.denied += 1;
                count_example(&mut self.report.by_rule, rule.to_string(), Some(Decision::Deny), example);
            }
            PolicyOutcome::LeftAlone(why) => {
                count_example(&mut self.report.left, why.sentence(), None, example)
            }
            PolicyOutcome::NoRule => {
                count_example(&mut self.report.left, "no rule".to_owned(), None, example)
            }
        }
    }

    pub fn report(self) -> PolicyReport {
        PolicyReport { answered: self.report.allowed + self.report.denied, ..self.report }
    }
}

fn count_example(rows: &mut Vec<PolicyRow>, name: String, decision: Option<Decision>, example: String) {
    let at = rows.iter().position(|row| row.name == name && row.decision == decision);
    let at = at.unwrap_or_else(|| {
        rows.push(PolicyRow { name, decision, count: 0, examples: Vec::new() });
        rows.len() - 1
    });
    let row = &mut rows[at];
    row.count += 1;
    if row.examples.len() < EXAMPLES_MAX && !row.examples.contains(&example) {
        row.examples.push(example);
    }
}
