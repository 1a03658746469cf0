//! Text for the columns of the screen: wrapped lines, clipped names and durations.

use flightdeck_core::session::state_name::{Group, StateName};
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::card::Card;
use flightdeck_core::view::lens::TerminalInput;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthChar;

use super::super::draw;
use super::super::line::columns;

/// Variation selector 16.
const EMOJI_STYLE: char = '\u{fe0f}';
/// Columns of a tab in a tool's input.
const TAB_COLUMNS: usize = 4;

/// The text in lines of at most `width` columns, broken at blanks where possible. An empty text is one empty line.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let text = text.replace('\t', &" ".repeat(TAB_COLUMNS));
    text.split('\n').flat_map(|line| wrap_line(line.trim_end(), width.max(2))).collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = line;
    while let Some(at) = break_at(rest, width) {
        let (fits, after) = rest.split_at(at);
        lines.push(fits.trim_end().to_owned());
        rest = after.trim_start();
    }
    lines.push(rest.to_owned());
    lines
}

/// The byte at which a line that is too long is broken: after the last blank that fits, else in the middle of a word. `None` if
/// all of it fits.
fn break_at(line: &str, width: usize) -> Option<usize> {
    let mut used = 0;
    let mut blank = None;
    let mut in_words = false;
    let (mut start, mut before) = (0, 0);
    for (at, c) in line.char_indices() {
        match c {
            ' ' if in_words => blank = Some(at),
            ' ' => {}
            _ => in_words = true,
        }
        let columns = match c {
            // The character before it is drawn as an emoji, which has two columns.
            EMOJI_STYLE => 2_usize.saturating_sub(before),
            _ => c.width().unwrap_or(0),
        };
        if c != EMOJI_STYLE {
            (start, before) = (at, columns);
        }
        used += columns;
        if used > width {
            // A character wider than the line would otherwise never fit.
            return Some(blank.unwrap_or(if start == 0 { at + c.len_utf8() } else { start }));
        }
    }
    None
}

/// How long a session that works or blocks has been in its state. For any other session, the time of day when it entered its state: that
/// text does not change with time, so the screen need not be drawn again.
pub(super) fn in_state_since(card: &Card, now: Timestamp, zone: &TimeZone) -> String {
    let at = card.agent_state.since;
    match is_at_rest(card) {
        false => draw::duration(now - at),
        true => clock_or_day(at, now, zone),
    }
}

/// Whether the session neither works nor blocks, so that its text does not change with time.
pub(super) fn is_at_rest(card: &Card) -> bool {
    let state = card.agent_state.state;
    card.agent_state.group == Group::Done || state.terminal_input() == Some(TerminalInput::Prompt)
}

/// `14:05` today, `17 Nov` before.
fn clock_or_day(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let format = if (now - at) < Millis::hours(20) { "%H:%M" } else { "%d %b" };
    local(at, format, zone)
}

/// `14:05` today, `19 Nov 08:00` on another day.
pub(super) fn moment(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let is_today = local(at, "%F", zone) == local(now, "%F", zone);
    local(at, if is_today { "%H:%M" } else { "%d %b %H:%M" }, zone)
}

pub(super) fn time_of_day(at: Timestamp, zone: &TimeZone) -> String {
    local(at, "%H:%M:%S", zone)
}

fn local(at: Timestamp, format: &str, zone: &TimeZone) -> String {
    match jiff::Timestamp::from_millisecond(at.as_millis()) {
        Ok(at) => at.to_zoned(zone.clone()).strftime(format).to_string(),
        Err(_) => at.to_string(),
    }
}

/// The length of the session so far: `45 s`, `12 m`, `3 h 05 m`. For an idle or ended session it is counted up to the last activity.
pub(super) fn session_length(card: &Card, now: Timestamp) -> String {
    let end = card.ended_at.unwrap_or(if is_at_rest(card) { card.last_activity_at } else { now });
    let seconds = (end - card.started_at).0.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} m", seconds / 60),
        _ => format!("{} h {:02} m", seconds / 3600, seconds / 60 % 60),
    }
}

/// The sign of a state, one column wide in every terminal: `☰` is two columns wide in some.
pub(super) fn sign(state: StateName) -> &'static str {
    match state {
        StateName::AwaitingApproval => "≡",
        other => draw::sign(other),
    }
}

/// The end of a text in exactly `width` columns: names of places differ at their ends.
pub(super) fn fit_end(text: &str, width: usize) -> String {
    let mut end = text;
    while columns(end) > width.saturating_sub(usize::from(end.len() < text.len())) {
        let mut chars = end.chars();
        chars.next();
        end = chars.as_str();
    }
    let mark = if end.len() < text.len() && width > 0 { "…" } else { "" };
    let rest = width.saturating_sub(columns(end) + columns(mark));
    format!("{mark}{end}{}", " ".repeat(rest))
}

/// The text with the paths below the session's folder as they are called there: `src/cart.rs`.
pub(super) fn short_paths(card: &Card, text: &str) -> String {
    match card.project.path.as_deref().map(|path| path.trim_end_matches('/')) {
        Some(folder) if folder.len() > 1 => text.replace(&format!("{folder}/"), ""),
        _ => text.to_owned(),
    }
}

/// The name of the place where a session runs, short: its seat, its worktree, or its project.
pub(super) fn place_name(card: &Card) -> &str {
    card.seat.name.as_deref().or(card.project.worktree.as_deref()).unwrap_or(&card.project.name)
}

/// `opus-5-5` of `claude-opus-5-5-20260401`.
pub(super) fn model_name(model: &str) -> String {
    let name = model.strip_prefix("claude-").unwrap_or(model);
    let is_date = |word: &str| word.len() == 8 && word.bytes().all(|b| b.is_ascii_digit());
    name.split('-').filter(|word| !is_date(word)).collect::<Vec<_>>().join("-")
}

/// A bar of `width` columns for a part of 100 percent.
pub(super) fn gauge(percent: f64, width: usize) -> String {
    let full = ((percent / 100.0 * width as f64).round().max(0.0) as usize).min(width);
    format!("{}{}", "█".repeat(full), "░".repeat(width - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_wrapped_at_blanks_and_never_wider_than_its_columns() {
        assert_eq!(wrap("git rebase main", 10), ["git rebase", "main"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("ログイン ページ", 8), ["ログイン", "ページ"]);
        assert_eq!(wrap("日本語日本語", 5), ["日本", "語日", "本語"]);
        assert_eq!(wrap("a\n\n  b", 9), ["a", "", "  b"]);
        assert_eq!(wrap("", 9), [""]);
        assert_eq!(wrap("🦀🦀🦀", 2), ["🦀", "🦀", "🦀"]);
        // A heart that is drawn as an emoji has two columns.
        assert_eq!(wrap("❤\u{fe0f}❤\u{fe0f}", 2), ["❤\u{fe0f}", "❤\u{fe0f}"]);
        assert_eq!(wrap("❤\u{fe0f}❤\u{fe0f}", 3), ["❤\u{fe0f}", "❤\u{fe0f}"]);
    }

    #[test]
    fn the_end_of_a_long_name_is_kept() {
        assert_eq!(fit_end("storefront-a11y-5", 8), "…-a11y-5");
        assert_eq!(fit_end("api-2", 8), "api-2   ");
        assert_eq!(fit_end("日本語", 4), "…語 ");
        assert_eq!(fit_end("abc", 0), "");
    }

    #[test]
    fn a_model_is_named_without_its_maker_and_date() {
        assert_eq!(model_name("claude-opus-5-5-20260401"), "opus-5-5");
        assert_eq!(model_name("sonnet"), "sonnet");
    }

    #[test]
    fn a_gauge_is_full_at_a_hundred_percent() {
        assert_eq!(
            (gauge(0.0, 5), gauge(42.0, 5), gauge(180.0, 5)),
            ("░░░░░".into(), "██░░░".into(), "█████".into())
        );
    }
}
