//! `flightdeck guard`: rules about the tool calls of an effort.

use std::io::Write;

use anyhow::{Context, bail};
use clap::Subcommand;
use flightdeck_core::effort::guard::{GuardAction, GuardCondition, GuardOperator, GuardRule};
use flightdeck_protocol::efforts::{GuardReport, ListGuards, RemoveGuard, SetGuard, TestGuards};
use serde_json::Value;

use super::draw;
use super::effort::{find_effort, text_option};
use super::out::Out;
use crate::client::BlockingClient;
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct GuardArgs {
    #[command(subcommand)]
    command: GuardCommand,
}

#[derive(Debug, Subcommand)]
enum GuardCommand {
    /// Add a rule, or replace the one with its id
    Add {
        /// The effort: its id or the beginning of its id, or `.` for the effort of this directory
        effort: String,
        #[command(flatten)]
        rule: RuleArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the rules of an effort in the order in which they are evaluated
    List {
        /// The effort: its id or the beginning of its id, or `.` for the effort of this directory
        effort: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a rule
    Remove {
        /// The effort: its id or the beginning of its id, or `.` for the effort of this directory
        effort: String,
        /// The name of the rule
        #[arg(value_name = "RULE")]
        rule: String,
        /// Print JSON: the rules that are left
        #[arg(long)]
        json: bool,
    },
    /// Show which recorded calls the rules would have denied; nothing is changed
    Test {
        /// The effort: its id or the beginning of its id, or `.` for the effort of this directory
        effort: String,
        #[command(flatten)]
        rule: OptionalRule,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// A rule as options: `--id no-force --field /tool_input/command --op contains --value 'push --force' --then deny`.
#[derive(Debug, clap::Args)]
struct RuleArgs {
    /// The name of the rule
    #[arg(long)]
    id: String,
    /// A JSON pointer into the payload (/tool_input/command), or window.heartbeat, context.percent, phase, project
    #[arg(long)]
    field: String,
    /// eq, ne, contains, glob, regex, gt, lt, in, exists
    #[arg(long)]
    op: String,
    /// The value to compare with: a text, or JSON if --op is in, gt or lt or if it begins with a digit, a quote or a bracket
    #[arg(long, allow_hyphen_values = true)]
    value: Option<String>,
    /// allow, warn, deny, inject
    #[arg(long)]
    then: String,
    /// The text that Claude gets if the rule matches
    #[arg(long, allow_hyphen_values = true, value_parser = text_option)]
    message: Option<String>,
    /// Let the rule act at most once in each context window
    #[arg(long)]
    once: bool,
    /// Rules with a higher number are evaluated first
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    priority: i32,
}

#[derive(Debug, clap::Args)]
struct OptionalRule {
    /// A rule to try beside the saved ones, as JSON
    #[arg(long, value_name = "JSON")]
    rule: Option<String>,
}

impl RuleArgs {
    fn rule(&self) -> anyhow::Result<GuardRule> {
        let op: GuardOperator =
            parse_word("--op", &self.op, "eq, ne, contains, glob, regex, gt, lt, in, exists")?;
        let then: GuardAction = parse_word("--then", &self.then, "allow, warn, deny, inject")?;
        let value = self.value.as_deref().map(|text| parse_value(op, text)).transpose()?.unwrap_or_default();
        Ok(GuardRule {
            id: self.id.clone(),
            when: GuardCondition::new(self.field.clone(), op, value),
            then,
            message: self.message.clone(),
            once: self.once,
            priority: self.priority,
        })
    }
}

fn parse_word<T: serde::de::DeserializeOwned>(option: &str, text: &str, known: &str) -> anyhow::Result<T> {
    match serde_json::from_value(Value::from(text)) {
        Ok(word) => Ok(word),
        Err(_) => bail!("{option} {text:?} is not one of: {known}"),
    }
}

/// Parses the value: a number or a list as JSON, any other value as text.
fn parse_value(op: GuardOperator, text: &str) -> anyhow::Result<Value> {
    use GuardOperator as Op;
    match op {
        Op::Gt | Op::Lt | Op::In | Op::Exists => {
            serde_json::from_str(text).with_context(|| format!("--value {text:?} is not JSON"))
        }
        Op::Eq | Op::Ne => Ok(serde_json::from_str(text).unwrap_or_else(|_| text.into())),
        Op::Contains | Op::Glob | Op::Regex => Ok(text.into()),
    }
}

pub(super) fn run(args: &GuardArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let client = &mut BlockingClient::connect(paths)?;
    match &args.command {
        GuardCommand::Add { effort, rule, json } => add_rule(client, effort, rule.rule()?, *json, out)?,
        GuardCommand::List { effort, json } => list_rules(client, effort, *json, out)?,
        GuardCommand::Remove { effort, rule, json } => remove_rule(client, effort, rule, *json, out)?,
        GuardCommand::Test { effort, rule, json } => test_rules(client, effort, rule, *json, out)?,
    }
    Ok(0)
}

fn add_rule(
    client: &mut BlockingClient,
    effort: &str,
    rule: GuardRule,
    json: bool,
    out: &mut Out,
) -> anyhow::Result<()> {
    let effort = find_effort(client, effort)?;
    let id = rule.id.clone();
    let card = client.call(&SetGuard { effort, rule })?;
    if json {
        return out.json(&card.guards);
    }
    let count = draw::count(card.guards.len() as u64, "rule");
    Ok(writeln!(out, "Rule {id} is in place; {count} in all.")?)
}

fn list_rules(client: &mut BlockingClient, effort: &str, json: bool, out: &mut Out) -> anyhow::Result<()> {
    let effort = find_effort(client, effort)?;
    let list = client.call(&ListGuards { effort })?;
    if json {
        return out.json(&list);
    }
    if list.guards.is_empty() {
        writeln!(out, "No rules: add one with `flightdeck guard add`.")?;
    }
    Ok(list.guards.iter().try_for_each(|rule| writeln!(out, "{}", guard_line(rule)))?)
}

fn remove_rule(
    client: &mut BlockingClient,
    effort: &str,
    rule: &str,
    json: bool,
    out: &mut Out,
) -> anyhow::Result<()> {
    let effort = find_effort(client, effort)?;
    let card = client.call(&RemoveGuard { effort, rule_id: rule.to_owned() })?;
    match json {
        true => out.json(&card.guards),
        false => Ok(writeln!(out, "Rule {rule} is removed.")?),
    }
}

fn test_rules(
    client: &mut BlockingClient,
    effort: &str,
    rule: &OptionalRule,
    json: bool,
    out: &mut Out,
) -> anyhow::Result<()> {
    let effort = find_effort(client, effort)?;
    let rule = rule.rule.as_deref().map(serde_json::from_str).transpose();
    let rule = rule.context("--rule is not a guard rule")?;
    let report = client.call(&TestGuards { effort, rule, events: None })?;
    if json { out.json(&report) } else { print_report(&report, out) }
}

/// `no-force-push  deny  /tool_input/command contains "push --force"  (once)`
fn guard_line(rule: &GuardRule) -> String {
    let op = serde_json::to_value(rule.when.op)
        .ok()
        .and_then(|op| op.as_str().map(str::to_owned))
        .unwrap_or_default();
    let value = if rule.when.value.is_null() { String::new() } else { format!(" {}", rule.when.value) };
    let once = if rule.once { "  (once)" } else { "" };
    let message = rule.message.as_deref().map(|said| format!("  {said:?}")).unwrap_or_default();
    format!("{:<20} {:<6} {} {op}{value}{once}{message}", rule.id, rule.then.as_str(), rule.when.field)
}

fn print_report(report: &GuardReport, out: &mut Out) -> anyhow::Result<()> {
    let since = report.since.map(|at| format!(" since {}", draw::date_and_time(at))).unwrap_or_default();
    writeln!(out, "{} recorded in this workstream{since}.", draw::count(report.calls, "call"))?;
    for row in &report.rules {
        writeln!(out, "{:<20} {:<6} matches {}, decides {}", row.rule, row.then, row.matched, row.decided)?;
    }
    if !report.denied.is_empty() {
        writeln!(out, "\nWould have been denied, the newest first:")?;
    }
    for call in &report.denied {
        writeln!(out, "{}  {:<20} {}", draw::date_and_time(call.at), call.rule, call.call)?;
    }
    Ok(())
}
