//! `flightdeck status`: the health of the daemon and its counts.

use std::io::Write;

use flightdeck_core::usage::totals::Indexing;
use flightdeck_protocol::daemon::{ConfigReport, DaemonStatus, GetStatus, HealthStatus};
use flightdeck_protocol::hooks::HookStatus;
use flightdeck_protocol::notify::NotifyTargetStatus;

use super::{draw, fleet_line, out::Out};
use crate::client::{BlockingClient, ClientError};
use crate::config::Config;
use crate::config::live::restart_reason;
use crate::daemon::NO_HOOKS_IN_A_DEMO;
use crate::paths::Paths;

const BYTES_PER_MEGABYTE: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct StatusArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print one line for a status bar and always exit 0
    #[arg(long, conflicts_with = "json")]
    line: bool,
}

/// Exits 1 if the daemon is degraded.
pub(super) fn run(args: &StatusArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    if args.line {
        writeln!(out, "{}", fleet_line::read_fleet_line(paths))?;
        return Ok(0);
    }
    let mut client = BlockingClient::connect(paths).map_err(|error| with_broken_config(error, paths))?;
    let reply = client.call_raw(&GetStatus {})?;
    let status = reply.decode()?;
    if args.json {
        out.json(&reply.json()?)?;
    } else {
        print(&status, out)?;
    }
    Ok(u8::from(status.health.status != HealthStatus::Ok))
}

/// Adds what is wrong with the settings to the error that no daemon runs: a daemon would not start with a broken file.
fn with_broken_config(error: ClientError, paths: &Paths) -> anyhow::Error {
    match Config::read(&paths.config) {
        Ok(_) => error.into(),
        Err(problem) => anyhow::anyhow!("{error}, after its settings are corrected:\n{problem}"),
    }
}

/// `ok` or `degraded`.
fn health_word(status: HealthStatus) -> &'static str {
    match status {
        HealthStatus::Ok => "ok",
        HealthStatus::Degraded => "degraded",
    }
}

fn print(status: &DaemonStatus, out: &mut Out) -> anyhow::Result<()> {
    let (word, hooks) = (health_word(status.health.status), &status.hooks);
    writeln!(out, "board     {}", status.url)?;
    writeln!(out, "daemon    {word} (pid {}, version {})", status.pid, status.version)?;
    for reason in &status.health.reasons {
        writeln!(out, "          {reason}")?;
    }
    let viewers = draw::count(status.viewers, "viewer");
    writeln!(out, "sessions  {}, seen by {viewers}", status.sessions)?;
    let megabytes = status.store_bytes as f64 / BYTES_PER_MEGABYTE as f64;
    let last = hooks.last_event_at.map_or("none since start".to_owned(), |at| format!("last {at}"));
    writeln!(out, "events    {} in {megabytes:.1} MB, {last}", hooks.events_total)?;
    print_hooks(hooks, out)?;
    print_config(&status.config, out)?;
    print_history(&status.history, out)?;
    print_notify(&status.notify, out)?;
    if hooks.spool.files > 0 {
        writeln!(out, "spool     {} waiting", draw::count(hooks.spool.files as u64, "event"))?;
    }
    Ok(())
}

fn print_hooks(status: &HookStatus, out: &mut Out) -> anyhow::Result<()> {
    let hooks = &status.hooks;
    let [here, missing, stale] = [&hooks.registered, &hooks.missing, &hooks.stale].map(Vec::len);
    let none = here + missing + stale == 0;
    match &hooks.problem {
        Some(problem) if none => writeln!(out, "hooks     {problem}")?,
        _ if status.simulated => writeln!(out, "hooks     {NO_HOOKS_IN_A_DEMO}")?,
        _ if none => writeln!(out, "hooks     none for this home")?,
        _ if !hooks.wanted => writeln!(out, "hooks     not registered, as asked for")?,
        _ => {
            let stale = if stale > 0 { format!(", {stale} out of date") } else { String::new() };
            writeln!(out, "hooks     {here} in place, {missing} missing{stale}")?;
        }
    }
    if let Some(problem) = hooks.problem.as_ref().filter(|_| !none) {
        writeln!(out, "          {problem}")?;
    }
    if let Some(fix) = &hooks.fix {
        writeln!(out, "          to mend: {fix}")?;
    }
    Ok(())
}

fn print_config(config: &ConfigReport, out: &mut Out) -> anyhow::Result<()> {
    if let Some(problem) = &config.problem {
        let below = " ".repeat(10);
        writeln!(
            out,
            "config    not used, the settings before it stay: {}",
            problem.replace('\n', &format!("\n{below}"))
        )?;
    }
    if !config.needs_restart.is_empty() {
        let named = |name: &String| match restart_reason(name) {
            Some(reason) => format!("{name} ({reason})"),
            None => name.clone(),
        };
        let settings: Vec<String> = config.needs_restart.iter().map(named).collect();
        writeln!(out, "config    after a restart: {}", settings.join(", "))?;
    }
    Ok(())
}

/// What was sent, and what could not be delivered.
fn print_notify(targets: &[NotifyTargetStatus], out: &mut Out) -> anyhow::Result<()> {
    for (n, target) in targets.iter().enumerate() {
        let head = if n == 0 { "notify" } else { "" };
        let undelivered = match target.undelivered {
            0 => String::new(),
            count => format!(", {count} not delivered"),
        };
        writeln!(out, "{head:<9} {}: {} sent{undelivered}", target.name, target.sent)?;
        if let Some(last) = &target.last_undelivered {
            writeln!(out, "          last {}, {:?}: {}", last.at, last.title, last.error)?;
        }
    }
    Ok(())
}

fn print_history(history: &Indexing, out: &mut Out) -> anyhow::Result<()> {
    let Indexing { files_left, files_total, .. } = history;
    if *files_left == 0 {
        return Ok(());
    }
    let megabytes = history.bytes_left / BYTES_PER_MEGABYTE;
    let paused = if history.paused { ", paused" } else { "" };
    writeln!(out, "history   {files_left} of {files_total} transcripts to read, {megabytes} MB{paused}")?;
    Ok(())
}
