//! `flightdeck log` and `flightdeck digest`: what was asked, its outcome, and how long it waited for the person.

use std::io::Write;

use flightdeck_core::assignment::AwaitReason;
use flightdeck_core::assignment::transition::{AssignmentState, Completion};
use flightdeck_core::text::one_line;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::assignment::AssignmentCard;
use flightdeck_protocol::assignments::{AssignmentList, Digest, DigestSums, GetDigest, ListAssignments};

use super::draw::{self, paint};
use super::out::Out;
use crate::client::BlockingClient;
use crate::clock;
use crate::paths::Paths;

/// Rows of the log unless `--limit` says otherwise: a day of a busy person.
const LOG_ROWS: usize = 50;
/// Rows of one page that the daemon is asked for.
const PAGE_ROWS: usize = 200;
/// Completed assignments that a digest prints; `--json` has more.
const DIGEST_ROWS_SHOWN: usize = 10;
/// Longest title of a row in a pipe, where a line may have any length.
const TITLE_CHARS_MAX: usize = 100;
/// Columns of a log row before the title.
const COLUMNS_BEFORE_TITLE: usize = 72;
/// Shortest title of a row in a narrow terminal.
const TITLE_CHARS_MIN: usize = 20;

#[derive(Debug, clap::Args)]
pub(super) struct LogArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only this project: its name or its folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only assignments in this state
    #[arg(long, value_parser = ["open", "commanded", "processing", "awaiting_input", "complete"])]
    state: Option<String>,
    /// Only assignments that were open at this time or later: `lunch`, `9:00`, `yesterday 9:00`, `2h`, `7d`, a date
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only assignments that were asked before this time
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Only assignments with all of these words in the title, the last message, the project, the worktree or the seat
    #[arg(long, value_name = "WORDS")]
    text: Option<String>,
    /// At most this many, the newest
    #[arg(long, value_name = "N", default_value_t = LOG_ROWS)]
    limit: usize,
}

#[derive(Debug, clap::Args)]
pub(super) struct DigestArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Count from this time on: `lunch`, `9:00`, `yesterday 9:00`, `2h`, `7d`, a date [default: today]
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
}

pub(super) fn log(args: &LogArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let list = read_log(args, &mut BlockingClient::connect(paths)?)?;
    if args.json {
        out.json(&list)?;
        return Ok(0);
    }
    if list.assignments.is_empty() {
        let nothing = if args.text.is_some() {
            "No assignment has these words."
        } else {
            "Nothing was asked in this time."
        };
        writeln!(out, "{nothing}")?;
        return Ok(0);
    }
    let mut day = String::new();
    for card in &list.assignments {
        let of = draw::date(card.opened_at);
        if of != day {
            writeln!(out, "{}", paint(out, "1", &of))?;
            day = of;
        }
        let line = row(card, out.width);
        writeln!(out, "{line}")?;
    }
    if list.next_before.is_some() {
        writeln!(out, "{}", paint(out, "2", "… there are older ones: --limit prints more"))?;
    }
    Ok(0)
}

/// Reads as many pages as the limit needs.
fn read_log(args: &LogArgs, client: &mut BlockingClient) -> anyhow::Result<AssignmentList> {
    let mut all = AssignmentList { assignments: Vec::new(), next_before: None };
    loop {
        let left = args.limit.saturating_sub(all.assignments.len());
        let page = client.call(&ListAssignments {
            project: args.project.clone(),
            state: args.state.clone(),
            since: args.since.clone(),
            until: args.until.clone(),
            text: args.text.clone(),
            before: all.next_before.take(),
            limit: Some(left.min(PAGE_ROWS)),
        })?;
        all.assignments.extend(page.assignments);
        all.next_before = page.next_before;
        if all.next_before.is_none() || all.assignments.len() >= args.limit {
            return Ok(all);
        }
    }
}

/// `14:02–14:20  api  Completed  2 turns  worked 16:10  waited 1:50  $0.42  the title`
fn row(card: &AssignmentCard, width: usize) -> String {
    let until = card.completed_at.map_or("now  ".to_owned(), draw::hour_and_minute);
    let cost = card.cost.as_ref().map_or("–".to_owned(), |cost| draw::money(cost.usd_micros));
    let title = width.saturating_sub(COLUMNS_BEFORE_TITLE).clamp(TITLE_CHARS_MIN, TITLE_CHARS_MAX);
    format!(
        "  {}–{until}  {:<14} {:<12} {:>2}×  {:>8} {:>9}  {cost:>7}  {}",
        draw::hour_and_minute(card.opened_at),
        one_line(&card.project.name, 13),
        outcome_or_wait(card),
        card.turns,
        seconds(card.working_seconds),
        waiting_text(card.waiting_seconds),
        one_line(&card.title, title),
    )
}

/// The outcome of the assignment, or what the assignment waits for.
fn outcome_or_wait(card: &AssignmentCard) -> &'static str {
    match (card.state, card.outcome, card.reason) {
        (_, Some(Completion::Completed), _) => "completed",
        (_, Some(Completion::Ended), _) => "ended",
        (_, Some(Completion::Died), _) => "died",
        (_, _, Some(AwaitReason::Asked | AwaitReason::Question)) => "asks you",
        (_, _, Some(AwaitReason::Permission | AwaitReason::Elicitation)) => "blocked",
        (_, _, Some(AwaitReason::Plan)) => "plan ready",
        (_, _, Some(AwaitReason::Failed)) => "failed",
        (_, _, Some(AwaitReason::Interrupted)) => "interrupted",
        (_, _, Some(AwaitReason::StoppedByHook)) => "stopped",
        (AssignmentState::Commanded, ..) => "asked",
        _ => "working",
    }
}

fn seconds(seconds: f64) -> String {
    draw::duration(Millis((seconds * 1000.0) as i64))
}

/// The time it waited for the person.
fn waiting_text(time: f64) -> String {
    if time < 1.0 { "–".to_owned() } else { format!("⏸ {}", seconds(time)) }
}

pub(super) fn digest(args: &DigestArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let digest = BlockingClient::connect(paths)?.call(&GetDigest { since: args.since.clone() })?;
    if args.json {
        out.json(&digest)?;
    } else {
        let text = draw_digest(&digest, clock::now(), out);
        write!(out, "{text}")?;
    }
    Ok(0)
}

fn draw_digest(digest: &Digest, now: Timestamp, out: &Out) -> String {
    let Digest { since, total, projects, waiting, completed, .. } = digest;
    let mut text = format!("Since {}: {}\n", draw::date_and_time(*since), headline(total));
    for card in waiting {
        let since = draw::duration(now - card.since);
        let title = one_line(&card.title, TITLE_CHARS_MAX);
        text += &format!(
            "  {:<12} {:<14} {since:>8}  {title}\n",
            outcome_or_wait(card),
            one_line(&card.project.name, 13)
        );
    }
    if !projects.is_empty() {
        text += &format!("{}\n", paint(out, "1", "By project"));
    }
    for project in projects {
        let DigestSums { completed, ended, died, working_seconds, waiting_seconds, .. } = project.sums;
        text += &format!(
            "  {:<20} {:>3} completed  {:>2} ended  worked {:>8}  waited for you {:>8}\n",
            one_line(&project.project, 19),
            completed,
            ended + died,
            seconds(working_seconds),
            seconds(waiting_seconds)
        );
    }
    if !completed.is_empty() {
        text += &format!("{}\n", paint(out, "1", "Completed"));
    }
    for card in completed.iter().take(DIGEST_ROWS_SHOWN) {
        text += &format!("{}\n", row(card, out.width));
    }
    if completed.len() > DIGEST_ROWS_SHOWN {
        text += &format!("  … and more: flightdeck log --since {since}\n");
    }
    text
}

/// `14 completed, 2 wait for you, 1 died; agents worked 2:10:00 and waited 47:00 for you`
fn headline(total: &DigestSums) -> String {
    let counts = [
        (total.completed, "completed"),
        (total.ended, "ended"),
        (total.died, "died"),
        (total.working, "at work"),
        (total.waiting, "waiting for you"),
    ];
    let counts: Vec<_> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if counts.is_empty() {
        return "nothing was asked".to_owned();
    }
    let (worked, waited) = (seconds(total.working_seconds), seconds(total.waiting_seconds));
    format!("{}; agents worked {worked} and waited {waited} for you", counts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headline_names_only_what_there_is() {
        assert_eq!(headline(&DigestSums::default()), "nothing was asked");
        let total = DigestSums {
            completed: 14,
            waiting: 2,
            working_seconds: 7800.0,
            waiting_seconds: 2820.0,
            ..DigestSums::default()
        };
        assert_eq!(
            headline(&total),
            "14 completed, 2 waiting for you; agents worked 2:10:00 and waited 47:00 for you"
        );
    }
}
