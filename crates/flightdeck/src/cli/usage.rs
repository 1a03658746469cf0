//! `flightdeck usage`: tokens and cost by day, project, model and session.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use flightdeck_core::text::one_line;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::amounts::Tokens;
use flightdeck_core::view::card::Card;
use flightdeck_core::wire::status_line::Limit;
use flightdeck_protocol::usage::{ControlIndexing, GetUsage};
use jiff::tz::TimeZone;

use super::draw::{self, paint, short_number};
use super::lookup::all_cards;
use super::out::Out;
use crate::client::BlockingClient;
use crate::clock;
use crate::config::Config;
use crate::paths::Paths;
use crate::settings;
use crate::transcripts::standalone_scan;
use crate::usage::{Report, Spent, UsageRow, parse_since};

/// Rows of projects and sessions that are printed; `--json` has more.
const ROWS_SHOWN: usize = 12;
/// Length of the longest bar.
const BAR_CELLS: usize = 24;

#[derive(Debug, clap::Args)]
pub(super) struct UsageArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Count only from this time on: `today`, `7d`, a date, or an RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Print only this table
    #[arg(long, value_parser = ["day", "project", "model", "session"])]
    by: Option<String>,
    /// Read the transcripts directly, without the daemon
    #[arg(long)]
    no_daemon: bool,
    /// Pause or resume the daemon's reading of past transcripts
    #[arg(long, value_parser = ["pause", "resume"])]
    index: Option<String>,
}

pub(super) fn run(args: &UsageArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    if let Some(wish) = &args.index {
        let request = ControlIndexing { pause: Some(wish == "pause") };
        let progress = BlockingClient::connect(paths)?.call_raw(&request)?;
        return out.json(&progress.json()?).map(|()| 0);
    }
    let (mut report, others) = match BlockingClient::connect(paths) {
        Ok(mut client) if !args.no_daemon => {
            let request = GetUsage { since: args.since.clone(), refresh: true, ..GetUsage::default() };
            let report = client.call(&request)?;
            // The report of this machine is complete without the other hosts.
            let cards = if args.json { Vec::new() } else { all_cards(&mut client).unwrap_or_default() };
            (report, other_hosts(cards))
        }
        _ => (read_transcripts(args, paths)?, BTreeMap::new()),
    };
    report.rows = match args.by.as_deref() {
        Some("day") => Some(report.by_day.clone()),
        Some("project") => Some(report.by_project.clone()),
        Some("model") => Some(report.by_model.clone()),
        Some("session") => Some(report.by_session.clone()),
        _ => None,
    };
    if args.json {
        out.json(&report)?;
    } else {
        draw(args, &report, out)?;
        draw_other_hosts(&others, out)?;
    }
    Ok(0)
}

/// The usage of whole sessions of one other host. How it is spread over days is known only on that host.
#[derive(Debug, Default)]
struct HostUsage {
    usd_micros: u64,
    tokens: u64,
    sessions: u32,
}

fn other_hosts(cards: Vec<Card>) -> BTreeMap<String, HostUsage> {
    let mut hosts = BTreeMap::<String, HostUsage>::new();
    for card in cards.into_iter().filter(|card| card.owner.is_some()) {
        let host = hosts.entry(card.host.unwrap_or_default()).or_default();
        host.usd_micros += card.cost.as_ref().map_or(0, |cost| cost.usd_micros);
        host.tokens += card.tokens.as_ref().map_or(0, Tokens::sum);
        host.sessions += 1;
    }
    hosts
}

fn draw_other_hosts(hosts: &BTreeMap<String, HostUsage>, out: &mut Out) -> anyhow::Result<()> {
    if hosts.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nNot in these sums: whole sessions of other hosts. `flightdeck usage` on a host has its days."
    )?;
    for (host, used) in hosts {
        let (money, tokens) = (draw::money(used.usd_micros), short_number(used.tokens));
        let kind = if used.sessions == 1 { "session" } else { "sessions" };
        writeln!(out, "  {host:<20} {money:>11} {tokens:>8} tokens  {} {kind}", used.sessions)?;
    }
    Ok(())
}

fn read_transcripts(args: &UsageArgs, paths: &Paths) -> anyhow::Result<Report> {
    let projects = projects()?;
    let (zone, now) = (TimeZone::system(), clock::now());
    let since = args.since.as_deref().map(|text| parse_since_option(text, now, &zone)).transpose()?;
    let prices = Config::read(&paths.config)?.prices()?;
    let (report, failed) = standalone_scan::report(&projects, &prices, zone, since, now);
    if failed > 0 {
        Out::note(&format!("{failed} transcripts could not be read"));
    }
    Ok(report)
}

/// Parses the value of `--since`.
pub(super) fn parse_since_option(text: &str, now: Timestamp, zone: &TimeZone) -> anyhow::Result<Timestamp> {
    parse_since(text, now, zone).with_context(|| {
        format!("cannot parse --since {text}: try today, 7d, 2026-11-15 or an RFC 3339 time")
    })
}

fn projects() -> anyhow::Result<PathBuf> {
    Ok(settings::config_dir(&|name: &str| std::env::var_os(name))?.join("projects"))
}

fn draw(args: &UsageArgs, report: &Report, out: &mut Out) -> anyhow::Result<()> {
    draw_tables(args, report, out)?;
    draw_total(report, out)?;
    if let Some(limits) = report.rate_limits {
        let limits = [("5 h", limits.five_hour), ("week", limits.seven_day)];
        let known = limits.iter().filter_map(|(name, limit)| Some(format!("{name} {}", used(&(*limit)?))));
        writeln!(out, "rate limits: {}", known.collect::<Vec<_>>().join(", "))?;
    }
    if let Some(indexing) = &report.indexing
        && indexing.files_left > 0
    {
        let paused = if indexing.paused { ", paused" } else { "" };
        writeln!(out, "still reading history: {} transcripts left{paused}", indexing.files_left)?;
    }
    Ok(())
}

fn draw_tables(args: &UsageArgs, report: &Report, out: &mut Out) -> anyhow::Result<()> {
    let wanted = |table: &str| args.by.as_deref().is_none_or(|by| by == table);
    for (name, title, groups) in [
        ("day", "By day", &report.by_day),
        ("project", "By project", &report.by_project),
        ("model", "By model", &report.by_model),
        ("session", "By session", &report.by_session),
    ] {
        if wanted(name) && !groups.is_empty() {
            // Days are oldest first, so the oldest ones are left out.
            let all = args.by.is_some();
            let skip = if name == "day" && !all { groups.len().saturating_sub(2 * ROWS_SHOWN) } else { 0 };
            let most = if all || name == "day" { usize::MAX } else { ROWS_SHOWN };
            table(title, groups.iter().skip(skip).take(most), groups.len(), out)?;
        }
    }
    Ok(())
}

fn draw_total(report: &Report, out: &mut Out) -> anyhow::Result<()> {
    let total = &report.total;
    let line = format!("Total {}   today {}", money(total), money(&report.today));
    writeln!(out, "{}", paint(out, "1", &line))?;
    writeln!(
        out,
        "{} messages in {} sessions: {}",
        total.messages,
        report.sessions_total,
        tokens(&total.tokens)
    )?;
    if !total.unpriced_models.is_empty() {
        writeln!(out, "price unknown, so not in the sums: {}", total.unpriced_models.join(", "))?;
    }
    Ok(writeln!(out, "{}", paint(out, "2", &format!("prices: {}", report.prices)))?)
}

/// `42 % until 18:30`.
fn used(limit: &Limit) -> String {
    let until = limit.resets_at.map(|at| format!(" until {}", draw::date_and_time(at))).unwrap_or_default();
    format!("{:.0} %{until}", limit.percent)
}

fn table<'a>(
    title: &str,
    groups: impl Iterator<Item = &'a UsageRow>,
    total: usize,
    out: &mut Out,
) -> anyhow::Result<()> {
    let groups: Vec<_> = groups.collect();
    writeln!(out, "{}", paint(out, "1", title))?;
    let names: Vec<_> = groups.iter().map(|g| name(g)).collect();
    let widest = names.iter().map(|n| n.chars().count()).max().unwrap_or(0);
    let dearest = groups.iter().map(|g| g.spent.usd_micros).max().unwrap_or(0).max(1);
    for (group, name) in groups.iter().zip(&names) {
        let pad = " ".repeat(widest - name.chars().count());
        let bar = bar(group.spent.usd_micros as f64 / dearest as f64);
        let bar = paint(out, "34", &format!("{bar:<BAR_CELLS$}"));
        let unknown = if group.spent.unpriced_models.is_empty() { "" } else { " + price unknown" };
        let tokens = group.spent.tokens.sum();
        writeln!(
            out,
            "  {name}{pad} {:>11} {bar} {:>8} tokens{unknown}",
            money(&group.spent),
            short_number(tokens)
        )?;
    }
    if total > groups.len() {
        writeln!(out, "  … and {} more", total - groups.len())?;
    }
    Ok(writeln!(out)?)
}

fn name(group: &UsageRow) -> String {
    match &group.project {
        Some(project) => {
            let id: String = group.key.chars().take(8).collect();
            format!("{id}  {project}  {}", one_line(&group.name, 40))
        }
        None => one_line(&group.name, 50),
    }
}

/// A bar of whole cells and a last cell in eighths.
fn bar(part: f64) -> String {
    let eighths = (part.clamp(0.0, 1.0) * (BAR_CELLS * 8) as f64).round() as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    format!("{}{rest}", "█".repeat(eighths / 8))
}

fn money(spent: &Spent) -> String {
    draw::money(spent.usd_micros)
}

fn tokens(t: &Tokens) -> String {
    format!(
        "{} in, {} out, {} cache read, {} cache written",
        short_number(t.input),
        short_number(t.output),
        short_number(t.cache_read),
        short_number(t.cache_creation_5m + t.cache_creation_1h)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_bars_fit_their_part() {
        assert_eq!(
            [0, 999, 15_240, 3_400_000, 1_230_000_000].map(short_number),
            ["0", "999", "15.2k", "3.4M", "1.2G"]
        );
        assert_eq!(bar(0.5).chars().count(), BAR_CELLS / 2);
        assert_eq!(bar(0.01), "▎");
        assert_eq!(bar(1.0).chars().count(), BAR_CELLS);
    }
}
