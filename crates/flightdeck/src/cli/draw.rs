//! Cards as lines of text. State is never told by colour alone: every line has its sign and its words.

use flightdeck_core::board::Card;
use flightdeck_core::lens::{Group, Role, StateName};
use flightdeck_core::text::one_line;
use flightdeck_core::time::{Millis, Timestamp};

use super::out::Out;

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

/// Amber: somebody waits. Red: it broke. Blue: at work. All else is plain.
fn colour(role: Role) -> &'static str {
    match role {
        Role::Urgent | Role::Orange => "33;1",
        Role::Red => "31;1",
        Role::Working => "34",
        Role::Calm => "0",
        Role::Muted => "2",
    }
}

pub(super) fn paint(out: &Out, code: &str, text: &str) -> String {
    if out.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// `1 event`, `2 events`.
pub(super) fn count<N: Into<u64> + Copy>(n: N, word: &str) -> String {
    let n = n.into();
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// A time of day as the clock on the wall shows it.
pub(super) fn time_of_day(at: Timestamp) -> String {
    local(at, "%H:%M:%S")
}

pub(super) fn date_and_time(at: Timestamp) -> String {
    local(at, "%Y-%m-%d %H:%M:%S")
}

fn local(at: Timestamp, format: &str) -> String {
    match jiff::Timestamp::from_millisecond(at.as_millis()) {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime(format).to_string(),
        Err(_) => at.to_string(),
    }
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

/// The board as a person reads it top to bottom: what needs you, what runs, what is done.
pub(super) fn board(out: &Out, cards: &[Card], now: Timestamp, urgency_first: bool) -> String {
    let mut text = String::new();
    let widths = Widths::of(cards, out.width);
    for (group, title) in [(Group::NeedsYou, "Needs you"), (Group::Running, "Running"), (Group::Done, "Done")]
    {
        let mut rows: Vec<_> = cards.iter().filter(|c| c.agent_state.group == group).collect();
        rows.sort_by(|a, b| rank(a, urgency_first).cmp(rank(b, urgency_first)));
        if rows.is_empty() {
            continue;
        }
        text += &format!("{} {}\n", paint(out, "1", title), rows.len());
        for card in rows {
            text += &row(out, card, now, &widths);
        }
    }
    if text.is_empty() {
        "No session yet. Start `claude` anywhere, or try `flightdeck demo`.\n".to_owned()
    } else {
        text
    }
}

fn rank(card: &Card, urgency_first: bool) -> &str {
    if urgency_first { &card.rank.urgency } else { &card.rank.default }
}

struct Widths {
    label: usize,
    place: usize,
    title: usize,
}

impl Widths {
    /// The label gets what it needs up to a third, the place up to a quarter, the title what is left.
    fn of(cards: &[Card], width: usize) -> Self {
        let widest = |f: &dyn Fn(&Card) -> usize| cards.iter().map(f).max().unwrap_or(0);
        let label = widest(&|c| c.agent_state.label.chars().count()).clamp(10, (width / 3).max(20));
        let place = widest(&|c| place(c).chars().count()).clamp(4, (width / 4).max(12));
        let used = 2 + 2 + 9 + 9 + label + 2 + place + 2;
        Self { label, place, title: width.saturating_sub(used).max(10) }
    }
}

/// Sign, label, how long, project, id, title.
fn row(out: &Out, card: &Card, now: Timestamp, widths: &Widths) -> String {
    let state = &card.agent_state;
    let label = fit(&state.label, widths.label);
    let head = paint(out, colour(state.role), &format!("{} {label}", sign(state.state)));
    let waited = duration(now - state.since);
    let id: String = card.id.chars().take(8).collect();
    let title = one_line(card.title.as_deref().unwrap_or("–"), widths.title.saturating_sub(1));
    let mut line = format!("  {head} {waited:>8}  {}  {id:<8}  {title}", fit(&place(card), widths.place));
    for mark in marks(card) {
        line += &format!(" {}", paint(out, "2", &format!("[{mark}]")));
    }
    line + "\n"
}

fn place(card: &Card) -> String {
    match (&card.project.worktree, &card.git_branch) {
        (Some(tree), _) => format!("{}/{tree}", card.project.name),
        (None, Some(branch)) => format!("{} {branch}", card.project.name),
        (None, None) => card.project.name.clone(),
    }
}

fn marks(card: &Card) -> Vec<String> {
    let mut marks = Vec::new();
    let running = card.sub_agents.iter().filter(|a| a.ended_at.is_none()).count() as u64;
    if running > 0 {
        marks.push(count(running, "agent"));
    }
    if card.background.shells > 0 {
        marks.push(count(card.background.shells, "shell"));
    }
    if let Some(failure) = &card.last_failure {
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

/// Exactly `width` characters.
fn fit(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return format!("{text}{}", " ".repeat(width - count));
    }
    let cut: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_reads_like_a_clock() {
        let said: Vec<_> = [0, 48, 206, 3730, 260_000].map(|s| duration(Millis::seconds(s))).into();
        assert_eq!(said, ["0:00", "0:48", "3:26", "1:02:10", "3 d"]);
    }

    #[test]
    fn a_text_fills_its_column_exactly() {
        assert_eq!(fit("ab", 4), "ab  ");
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("äöüß", 4), "äöüß");
    }
}
