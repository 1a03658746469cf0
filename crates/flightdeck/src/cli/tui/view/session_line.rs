//! One session in one line: sign, activity, title, numbers, time and place, as many as the width allows.

use flightdeck_core::session::state_name::StateName;
use flightdeck_core::view::card::Card;
use ratatui::style::{Modifier, Style};

use super::super::super::draw::{headline, money};
use super::super::super::line::fit_to_width;
use super::super::super::owner;
use super::super::model::Model;
use super::super::text::{fit_end, gauge, in_state_since, model_name, place_name, short_paths, sign};
use super::canvas::{StyledLine, StyledText};

/// Fewest columns in which both activity and title are shown.
const WITH_TITLE_MIN: usize = 56;
/// Narrowest line that also has context, cost and model.
const WITH_NUMBERS_MIN: usize = 104;
/// Narrowest line in which the name of a project with its host is not cut.
const WITH_LONG_NAMES_MIN: usize = 132;

/// Narrowest column in which `12 sessions` is not cut.
const SESSIONS_IN_WORDS_MIN: usize = 11;

/// Columns of gauge, percent, cost and model.
const NUMBERS_COLUMNS: usize = 32;

/// The bar beside the selected session, and its sign.
pub(super) fn bar_and_sign(model: &Model, card: &Card) -> StyledLine {
    let bar = if is_selected(model, card) { "▌" } else { " " };
    let mut style = model.theme.role(card.agent_state.role);
    if card.needs_person() {
        style = style.add_modifier(Modifier::SLOW_BLINK);
    }
    vec![
        StyledText::new(bar, model.theme.accent()),
        StyledText::new(sign(card.agent_state.state), style),
        StyledText::unstyled(" "),
    ]
}

pub(super) fn is_selected(model: &Model, card: &Card) -> bool {
    model.selected.as_ref() == Some(&card.id)
}

/// What the session does or waits for. It is dim if the session is idle and does not need the person.
pub(super) fn activity(model: &Model, card: &Card) -> StyledText {
    let alike = bunch_len(model, card).map(|count| format!("{count}× ")).unwrap_or_default();
    let style = text_style(model, card, model.theme.role(card.agent_state.role));
    let unreachable = if card.unreachable_since.is_some() { "unreachable · " } else { "" };
    StyledText::new(format!("{unreachable}{alike}{}", short_paths(card, &headline(card))), style)
}

/// How many sessions the line stands for, if their requests are alike.
fn bunch_len(model: &Model, card: &Card) -> Option<usize> {
    model.listing.bunches.get(&card.id).map(Vec::len)
}

pub(super) fn title(model: &Model, card: &Card) -> StyledText {
    let title = card.title.as_deref().unwrap_or("–");
    StyledText::new(flightdeck_core::text::one_line(title, 400), text_style(model, card, Style::new()))
}

fn text_style(model: &Model, card: &Card, style: Style) -> Style {
    let rests = matches!(card.agent_state.state, StateName::Idle | StateName::SessionEnded);
    let may_wait = (card.parked.is_some() || rests) && !card.needs_person();
    let style = match may_wait || card.unreachable_since.is_some() {
        true => style.add_modifier(Modifier::DIM),
        false => style,
    };
    if is_selected(model, card) {
        style.add_modifier(Modifier::BOLD).remove_modifier(Modifier::DIM)
    } else {
        style
    }
}

/// Context and cost: `██░░░ 42%   $1.20`, in fixed columns.
pub(super) fn numbers(model: &Model, card: &Card) -> StyledLine {
    let percent = card.context.as_ref().and_then(|context| context.percent);
    let context = match percent {
        Some(percent) => vec![
            StyledText::new(gauge(percent, 5), model.theme.gauge(percent)),
            StyledText::new(format!(" {percent:>3.0}% "), model.theme.dim()),
        ],
        None => vec![StyledText::unstyled(" ".repeat(11))],
    };
    let cost = card.cost.as_ref().map(|cost| money(cost.usd_micros)).unwrap_or_default();
    context.into_iter().chain([StyledText::new(format!("{cost:>8}"), model.theme.dim())]).collect()
}

pub(super) fn model_of(card: &Card) -> String {
    card.model.as_deref().map(model_name).unwrap_or_default()
}

/// The columns of time and place in a line.
pub(super) fn right_columns(width: usize) -> (usize, usize) {
    match width {
        ..48 => (5, 9),
        48..64 => (5, 13),
        64..WITH_LONG_NAMES_MIN => (7, 16),
        _ => (7, 26),
    }
}

/// The left and right part of the line.
pub(super) fn parts(model: &Model, card: &Card, width: usize) -> (StyledLine, StyledLine) {
    let dim = model.theme.dim();
    let (time_columns, name_columns) = right_columns(width);
    let since = in_state_since(card, model.now, &model.zone);
    let mut right = vec![
        StyledText::new(
            format!("{since:>time_columns$} "),
            if card.needs_person() { model.theme.urgent() } else { dim },
        ),
        StyledText::new(project_column(model, card, name_columns), dim),
    ];
    if width >= WITH_NUMBERS_MIN {
        let mut numbers = numbers(model, card);
        numbers.push(StyledText::new(format!("  {}", fit_to_width(&model_of(card), 11)), dim));
        right = numbers.into_iter().chain(right).collect();
    }
    let room = width.saturating_sub(3 + super::canvas::width(&right) + 1);
    let mut left = bar_and_sign(model, card);
    match room >= WITH_TITLE_MIN {
        true => {
            let activity = activity(model, card);
            left.push(StyledText::new(fit_to_width(&activity.text, room * 9 / 20), activity.style));
            left.push(StyledText::unstyled("  "));
            left.push(title(model, card));
        }
        false => left.push(activity(model, card)),
    }
    (left, right)
}

fn project_column(model: &Model, card: &Card, columns: usize) -> String {
    match bunch_len(model, card) {
        Some(count) if columns < SESSIONS_IN_WORDS_MIN => {
            let others = format!(" +{}", count - 1);
            let place = fit_end(place_name(card), columns.saturating_sub(others.len()));
            fit_to_width(&format!("{}{others}", place.trim_end()), columns)
        }
        Some(count) => fit_to_width(&format!("{count} sessions"), columns),
        None => fit_end(&owner::with_host(card, place_name(card)), columns),
    }
}

/// Whether [`parts`] has the title in it.
pub(super) fn has_title(width: usize) -> bool {
    let (time, name) = right_columns(width);
    let numbers = if width >= WITH_NUMBERS_MIN { NUMBERS_COLUMNS } else { 0 };
    width.saturating_sub(3 + time + 1 + name + numbers + 1) >= WITH_TITLE_MIN
}
