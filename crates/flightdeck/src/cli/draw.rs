//! Draws cards as lines of text. Colour never shows the state alone: each line also has a sign and words.

use flightdeck_core::log::event::Background;
use flightdeck_core::session::state_name::{Group, StateName};
use flightdeck_core::text::one_line;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::card::{Card, ProcessCard};
use flightdeck_core::view::lens::Role;
use flightdeck_core::view::sub_agents::SubAgentState;

use super::line::{LineBuilder, column, columns, cut_to_width};
pub(super) use super::local_time::{date, date_and_time, hour_and_minute, time_of_day};
use super::out::Out;
pub(super) use super::out::paint;
use super::owner::{unreachable, with_host};
use super::wait_counts::WaitCounts;

pub(super) fn sign(state: StateName) -> &'static str {
    match state {
        StateName::NeedsPermission => "◆",
        StateName::AwaitingInput => "?",
        StateName::AwaitingApproval => "☰",
        StateName::Interrupted => "‖",
        StateName::Error => "▲",
        StateName::Idle => "○",
        StateName::Thinking => "✦",
        StateName::Acting => "▸",
        StateName::Delegating => "⑂",
        StateName::Compacting => "≍",
        StateName::WaitingBackground => "◷",
        StateName::SessionEnded => "✓",
    }
}

/// Amber: waits for a person. Red: failed. Blue: working. Others have no colour.
fn colour(role: Role) -> &'static str {
    match role {
        Role::Urgent | Role::Orange => "33;1",
        Role::Red => "31;1",
        Role::Working => "34",
        Role::Calm => "0",
        Role::Muted => "2",
    }
}

/// `1 event`, `2 events`.
pub(super) fn count<N: Into<u64> + Copy>(n: N, word: &str) -> String {
    let n = n.into();
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// One of several processes of a session: `4242 in %3: Thinking (shown)`.
pub(super) fn process(process: &ProcessCard) -> String {
    let pane = process.pane.as_ref().map_or_else(String::new, |pane| format!(" in {pane}"));
    let shown = if process.shown { " (shown)" } else { "" };
    format!("{}{pane}: {}{shown}", process.pid, process.label)
}

/// `0:48`, `3:26`, `1:02:10`, `3 d`.
pub(super) fn duration(d: Millis) -> String {
    let s = d.0.max(0) / 1000;
    match s {
        0..3600 => format!("{}:{:02}", s / 60, s % 60),
        3600..86_400 => format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
        _ => format!("{} d", s / 86_400),
    }
}

/// Dollars, rounded to the cent; JSON has micro-dollars.
pub(super) fn money(usd_micros: u64) -> String {
    let cents = (usd_micros + 5_000) / 10_000;
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// `812`, `15.2k`, `3.4M`, `1.2G`.
pub(super) fn short_number(n: u64) -> String {
    match n {
        0..1000 => n.to_string(),
        1000..1_000_000 => format!("{:.1}k", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1}M", n as f64 / 1e6),
        _ => format!("{:.1}G", n as f64 / 1e9),
    }
}

/// One line of the board.
pub(super) struct TableRow {
    pub(super) text: String,
    /// False for a heading, and for the hint below an empty board.
    pub(super) is_session: bool,
}

/// How the board is listed.
#[derive(Clone, Copy)]
pub(super) struct ListOptions {
    /// Urgency comes before a warm prompt cache.
    pub(super) urgency_first: bool,
    /// Ended sessions are listed too.
    pub(super) with_done: bool,
}

impl ListOptions {
    /// The order of two sessions on the board.
    pub(super) fn order(self, a: &Card, b: &Card) -> std::cmp::Ordering {
        let rank = |card| rank(card, self.urgency_first);
        a.agent_state.group.cmp(&b.agent_state.group).then_with(|| rank(a).cmp(rank(b)))
    }
}

pub(super) fn board(out: &Out, cards: &[&Card], now: Timestamp, listing: ListOptions) -> String {
    rows(out, cards, now, listing).into_iter().map(|row| row.text + "\n").collect()
}

/// The board from top to bottom: sessions that need the person, running ones, done ones, parked ones.
pub(super) fn rows(out: &Out, cards: &[&Card], now: Timestamp, listing: ListOptions) -> Vec<TableRow> {
    let is_hidden = |card: &Card| !listing.with_done && card.agent_state.group == Group::Done;
    let listed: Vec<&Card> = cards.iter().copied().filter(|card| !is_hidden(card)).collect();
    let widths = Widths::fitting(out, &listed);
    let mut rows = Vec::new();
    let column = |card: &Card| card.parked.is_none().then_some(card.agent_state.group);
    for (group, title) in [
        (Some(Group::NeedsYou), "Needs you"),
        (Some(Group::Running), "Running"),
        (Some(Group::Done), "Done"),
        (None, "Parked"),
    ] {
        let mut members: Vec<_> = listed.iter().filter(|card| column(card) == group).copied().collect();
        members.sort_by(|a, b| rank(a, listing.urgency_first).cmp(rank(b, listing.urgency_first)));
        if members.is_empty() {
            continue;
        }
        let count = match group {
            Some(Group::NeedsYou) => WaitCounts::new(members.iter().copied()).after_heading(),
            _ => members.len().to_string(),
        };
        let heading = format!("{} {count}", paint(out, "1", title));
        rows.push(TableRow { text: heading, is_session: false });
        let session = |card| TableRow { text: row(out, card, now, &widths), is_session: true };
        rows.extend(members.into_iter().map(session));
    }
    rows.extend(hint(out, rows.is_empty(), cards.len() - listed.len()));
    rows
}

/// A hint for an empty board, or the number of ended sessions that are not listed.
fn hint(out: &Out, empty: bool, hidden: usize) -> Option<TableRow> {
    let text = match (empty, hidden) {
        (true, 0) => "No session yet. Start `claude` anywhere, or try `flightdeck demo`.".to_owned(),
        (true, _) => format!("No session is open. {hidden} ended: `flightdeck ls --done`."),
        (false, 1..) if out.padded => paint(out, "2", &format!("Done {hidden} (--done)")),
        (false, _) => return None,
    };
    Some(TableRow { text, is_session: false })
}

fn rank(card: &Card, urgency_first: bool) -> &str {
    if urgency_first { &card.rank.urgency } else { &card.rank.default }
}

/// Shortest useful title. Marks are left out to make room for it.
const TITLE_COLUMNS_MIN: usize = 8;
/// Widest seat name; a longer one is cut.
const SEAT_COLUMNS_MAX: usize = 16;

struct Widths {
    label: usize,
    place: usize,
    /// 0 if no session has a named seat.
    seat: usize,
}

impl Widths {
    /// The label gets up to three tenths of the width, the place up to a fifth; marks and title share the rest.
    fn fitting(out: &Out, cards: &[&Card]) -> Self {
        let width = out.width;
        let widest = |f: &dyn Fn(&Card) -> usize| cards.iter().map(|card| f(card)).max().unwrap_or(0);
        let label = widest(&|c| columns(&headline(c))).clamp(10, (width * 3 / 10).max(20));
        let place = widest(&|c| columns(&project_label(c))).clamp(4, (width / 5).max(12));
        let seat = widest(&|c| c.seat.name.as_deref().map_or(0, columns)).min(SEAT_COLUMNS_MAX);
        Self { label, place, seat }
    }
}

/// What the session does or waits for. The command comes before "Permission for", because the end of a long text is cut.
pub(super) fn headline(card: &Card) -> String {
    let label = &card.agent_state.label;
    let reason = card.status.reason.as_deref().unwrap_or_default();
    match label.strip_prefix(reason).and_then(|rest| rest.strip_prefix(": ")) {
        Some(command) => format!("{command} · {reason}"),
        None => label.clone(),
    }
}

/// One line: sign, headline, duration, project, seat, id, title, marks. It never wraps.
fn row(out: &Out, card: &Card, now: Timestamp, widths: &Widths) -> String {
    let state = &card.agent_state;
    let mut line = LineBuilder::new(out);
    line.push("  ");
    let label = column(out, &headline(card), widths.label);
    line.paint(colour(state.role), &format!("{} {label}", sign(state.state)));
    let waited = duration(now - state.since);
    let waited = if out.padded { format!(" {waited:>8}") } else { format!("  {waited}") };
    let id: String = card.id.chars().take(8).collect();
    line.push(&format!("{waited}  {}  ", column(out, &project_label(card), widths.place)));
    if widths.seat > 0 {
        line.push(&format!("{}  ", column(out, card.seat.name.as_deref().unwrap_or("–"), widths.seat)));
    }
    line.push(&format!("{}  ", column(out, &id, 8)));
    let mut for_marks = line.room().saturating_sub(TITLE_COLUMNS_MIN);
    let mut marks: Vec<_> = marks(card).into_iter().map(|mark| format!("[{mark}]")).collect();
    marks.retain(|mark| {
        let rest = for_marks.checked_sub(1 + columns(mark));
        for_marks = rest.unwrap_or(for_marks);
        rest.is_some()
    });
    let used: usize = marks.iter().map(|mark| 1 + columns(mark)).sum();
    let title = one_line(card.title.as_deref().unwrap_or("–"), line.room());
    line.push(&cut_to_width(&title, line.room() - used));
    for mark in marks {
        line.push(" ");
        line.paint("2", &mark);
    }
    line.end()
}

/// The project of a card, with the worktree or the branch, and with the host if that is another machine.
pub(super) fn project_label(card: &Card) -> String {
    let name = with_host(card, &card.project.name);
    match (&card.project.worktree, &card.git_branch) {
        (Some(tree), _) => format!("{name}/{tree}"),
        (None, Some(branch)) => format!("{name} {branch}"),
        (None, None) => name,
    }
}

/// `3 shells`, or `1–2 shells` if one of them may have ended unnoticed.
fn shells(background: &Background) -> String {
    let least = background.shells_min.max(1);
    if least < background.shells {
        return format!("{least}–{} shells", background.shells);
    }
    count(background.shells, "shell")
}

fn marks(card: &Card) -> Vec<String> {
    let mut marks: Vec<String> = unreachable(card).into_iter().collect();
    if let Some(parked) = &card.parked {
        marks.push(
            parked.until.map_or_else(
                || "parked".to_owned(),
                |until| format!("parked until {}", hour_and_minute(until)),
            ),
        );
    }
    let running = card.sub_agents.iter().filter(|a| a.ended_at.is_none()).count() as u64;
    if running > 0 {
        marks.push(count(running, "agent"));
    }
    let failed = card.sub_agents.iter().filter(|a| a.state == SubAgentState::Failed).count() as u64;
    if failed > 0 {
        marks.push(format!("{} failed", count(failed, "agent")));
    }
    if card.background.shells > 0 {
        marks.push(shells(&card.background));
    }
    if card.queued_prompts > 0 {
        marks.push(format!("{} queued", card.queued_prompts));
    }
    if let Some(failure) = card.last_failure.as_ref().filter(|_| !card.failure_is_past) {
        marks.push(format!("failed: {}", failure.tool));
    }
    if card.quiet_since.is_some() {
        marks.push("quiet".to_owned());
    }
    if card.stale {
        marks.push("stale".to_owned());
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::super::tui::tests::fleet::card;
    use super::*;

    #[test]
    fn only_sessions_that_block_or_ask_are_counted_as_needing_the_person() {
        let session = |id: &str, state| card(id, state, "label", 5);
        let cards = [
            session("a", StateName::NeedsPermission),
            session("b", StateName::Idle),
            session("c", StateName::Error),
            session("d", StateName::Idle),
            session("e", StateName::Thinking),
        ];
        let listing = ListOptions { urgency_first: false, with_done: true };
        let headings = |cards: &[&Card]| {
            let rows = rows(&Out::without_colour(120), cards, Timestamp::default(), listing);
            let texts = rows.into_iter().filter(|row| !row.is_session).map(|row| row.text);
            texts.collect::<Vec<_>>().join("; ")
        };
        let all: Vec<&Card> = cards.iter().collect();
        assert_eq!(headings(&all), "Needs you 1 + 1 failed + 2 idle; Running 1");
        assert_eq!(headings(&all[1..2]), "Needs you 0 + 1 idle");
        assert_eq!(headings(&all[..1]), "Needs you 1");
    }

    #[test]
    fn a_duration_looks_like_a_clock() {
        let shown: Vec<_> = [0, 48, 206, 3730, 260_000].map(|s| duration(Millis::seconds(s))).into();
        assert_eq!(shown, ["0:00", "0:48", "3:26", "1:02:10", "3 d"]);
    }
}
