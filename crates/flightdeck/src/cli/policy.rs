//! `flightdeck policy`: shows the rules, a dry run over past requests, and the requests that the policy answered.

use std::collections::HashMap;
use std::io::Write;

use flightdeck_core::approval::answer::Decision;
use flightdeck_core::approval::policy::{Policy, PolicyRequest, PolicyRule};
use flightdeck_core::approval::resolution::AnsweredBy;
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_core::log::approvals::AnsweredPayload;
use flightdeck_core::log::record::{EventId, Record, Source};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::text::one_line;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::policy_dry_run::{PolicyDryRun, PolicyReport, PolicyRow};
use flightdeck_protocol::policy::{GetPolicyHistory, PolicyEvent};
use jiff::tz::TimeZone;
use serde::Serialize;

use super::draw::{self, count, paint};
use super::out::Out;
use super::usage::parse_since_option;
use crate::client::BlockingClient;
use crate::clock;
use crate::config::Config;
use crate::paths::Paths;

/// Longest request in a table row.
const EXAMPLE_CHARS_MAX: usize = 100;

#[derive(Debug, clap::Args)]
pub(super) struct PolicyArgs {
    #[command(subcommand)]
    command: Option<PolicyCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum PolicyCommand {
    /// Show what the rules of config.toml would have answered so far, even if the policy is off
    Test(SinceArgs),
    /// List the requests that the policy answered
    Log(SinceArgs),
}

#[derive(Debug, clap::Args)]
struct SinceArgs {
    /// Use only requests from this time on: `today`, `7d`, a date, or an RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
}

impl SinceArgs {
    fn since(&self) -> anyhow::Result<Option<Timestamp>> {
        self.since
            .as_deref()
            .map(|text| parse_since_option(text, clock::now(), &TimeZone::system()))
            .transpose()
    }
}

pub(super) fn run(args: &PolicyArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let config = Config::read(&paths.config)?;
    match &args.command {
        None => rules(&config.policy, paths, args.json, out)?,
        Some(PolicyCommand::Test(wanted)) => {
            let holds = config.hold_rules(config.hold_seconds());
            let mut test = PolicyDryRun::new(config.policy, holds);
            each_event(paths, wanted.since()?, |event| test.add(event))?;
            let report = test.report();
            if args.json { out.json(&report)? } else { draw_report(&report, out)? }
        }
        Some(PolicyCommand::Log(wanted)) => {
            let mut log = PolicyLog::default();
            each_event(paths, wanted.since()?, |event| log.add(event))?;
            if args.json { out.json(&log.lines)? } else { log.draw(out)? }
        }
    }
    Ok(0)
}

/// `flightdeck policy --json`.
#[derive(Debug, Serialize)]
struct RulesReport<'a> {
    enabled: bool,
    rules: Vec<RuleReport<'a>>,
}

#[derive(Debug, Serialize)]
struct RuleReport<'a> {
    rule: String,
    decision: &'static str,
    message: Option<&'a str>,
}

fn rules(policy: &Policy, paths: &Paths, json: bool, out: &mut Out) -> anyhow::Result<()> {
    let word = |rule: &PolicyRule| if rule.allows() { "allow" } else { "deny" };
    if json {
        let rules = policy.rules.iter();
        let rules = rules.map(|rule| RuleReport {
            rule: rule.to_string(),
            decision: word(rule),
            message: rule.message(),
        });
        let rules = rules.collect();
        return out.json(&RulesReport { enabled: policy.enabled, rules });
    }
    let file = paths.config.display();
    let state = if policy.enabled { "on" } else { "off" };
    writeln!(
        out,
        "The policy is {state}: `policy.enabled` in {file}, which the daemon reads again when it changes."
    )?;
    for (n, rule) in policy.rules.iter().enumerate() {
        let message = rule.message().map(|m| format!("  ({})", one_line(m, EXAMPLE_CHARS_MAX)));
        writeln!(out, "{:>3}  {:<5}  {rule}{}", n + 1, word(rule), message.unwrap_or_default())?;
    }
    if policy.rules.is_empty() {
        writeln!(out, "There are no rules: the README shows how to write one.")?;
    } else {
        writeln!(out, "A deny wins over every allow. What cannot be undone is never allowed by a rule.")?;
    }
    Ok(())
}

fn into_record(event: PolicyEvent) -> Record {
    let id = EventId::parse(&event.id).unwrap_or_default();
    let subject = event.session_id.map_or(Subject::None, Subject::Session);
    let mut record = Record::noticed_here(Source::Hook, &event.name, subject, event.payload, id);
    record.received_at = event.received_at;
    record.agent_id = event.agent_id;
    record.envelope.project_dir = event.project_dir;
    record.envelope.entrypoint = event.entrypoint;
    record
}

/// Passes all requests and answers of the log to `take`, oldest first.
fn each_event(paths: &Paths, since: Option<Timestamp>, mut take: impl FnMut(&Record)) -> anyhow::Result<()> {
    let mut client = BlockingClient::connect(paths)?;
    let mut after = Some(0);
    while after.is_some() {
        let page = client.call(&GetPolicyHistory { after })?;
        after = page.next_after;
        let records = page.events.into_iter().map(into_record);
        records.filter(|r| since.is_none_or(|since| r.received_at >= since)).for_each(|r| take(&r));
    }
    Ok(())
}

fn draw_report(report: &PolicyReport, out: &mut Out) -> anyhow::Result<()> {
    let asks = count(report.asks, "ask");
    let line = format!(
        "Would have answered {} of {asks}: {} allowed, {} denied.",
        report.answered, report.allowed, report.denied
    );
    writeln!(out, "{}", paint(out, "1", &line))?;
    rows("By rule", &report.by_rule, out)?;
    rows("Left to you", &report.left, out)?;
    if !report.enabled {
        writeln!(out, "The policy is off, so nothing is answered: see `flightdeck policy`.")?;
    }
    Ok(())
}

fn rows(title: &str, rows: &[PolicyRow], out: &mut Out) -> anyhow::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", paint(out, "1", title))?;
    let mut sorted: Vec<&PolicyRow> = rows.iter().collect();
    sorted.sort_by_key(|row| std::cmp::Reverse(row.count));
    for row in sorted {
        let word = row.decision.map_or("", |d| if d == Decision::Allow { "allow  " } else { "deny   " });
        writeln!(out, "{:>6}  {word}{}", row.count, row.name)?;
        for example in &row.examples {
            writeln!(out, "        {}", paint(out, "2", example))?;
        }
    }
    Ok(())
}

/// The requests that the policy answered, oldest first.
#[derive(Debug, Default)]
struct PolicyLog {
    /// The summary of each request, until it is answered.
    asked: HashMap<AskId, String>,
    lines: Vec<PolicyLogLine>,
}

#[derive(Debug, Serialize)]
struct PolicyLogLine {
    at: Timestamp,
    session_id: SessionId,
    ask_id: AskId,
    decision: Decision,
    rule: Option<String>,
    /// `None` if the request is no longer in the log.
    what: Option<String>,
}

impl PolicyLog {
    fn add(&mut self, record: &Record) {
        if let Some(request) = PolicyRequest::from_record(record) {
            self.asked.insert(AskId::from(record.id), one_line(&request.summary(), EXAMPLE_CHARS_MAX));
        }
        let Some(AnsweredPayload { ask_id, answer }) =
            AnsweredPayload::from_event(&record.name, &record.payload)
        else {
            return;
        };
        let what = self.asked.remove(&ask_id);
        if answer.answered_by() == AnsweredBy::Policy {
            self.lines.push(PolicyLogLine {
                at: record.received_at,
                session_id: record.session_id().cloned().unwrap_or_default(),
                ask_id,
                decision: answer.decision,
                rule: answer.rule,
                what,
            });
        }
    }

    fn draw(&self, out: &mut Out) -> anyhow::Result<()> {
        if self.lines.is_empty() {
            writeln!(out, "The policy has answered nothing.")?;
        }
        for line in &self.lines {
            let word = if line.decision == Decision::Allow { "allowed" } else { "denied " };
            let what = line.what.as_deref().unwrap_or("(no longer in the log)");
            let rule = line.rule.as_deref().unwrap_or("?");
            let (at, id) =
                (draw::date_and_time(line.at), line.session_id.get(..8).unwrap_or(&line.session_id));
            writeln!(out, "{at}  {id}  {word}  {what}  {}", paint(out, "2", &format!("by {rule}")))?;
        }
        Ok(())
    }
}
