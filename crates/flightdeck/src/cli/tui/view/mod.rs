//! Draws the model. Nothing here changes it: what a frame contained comes back as [`DrawnFrame`].

mod ask;
mod canvas;
mod columns;
mod detail;
mod footer;
mod header;
mod help;
mod list;
mod panel;
mod session_line;
mod timeline;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use self::canvas::{StyledText, draw_styled};
use super::listing::{Filter, View};
use super::model::{ClickTarget, ConnectionState, DrawnFrame, Mode, Model};

/// The part of the width that the list gets beside the details, and its bounds in columns.
const LIST_PERCENT: u16 = 46;
const LIST_COLUMNS: (u16, u16) = (38, 140);
/// The part of the width that the details get beside three columns, and their bounds in columns.
const DETAIL_PERCENT: u16 = 33;
const DETAIL_COLUMNS: (u16, u16) = (52, 110);

/// Draws a frame of the model's size.
pub(super) fn draw(model: &Model, frame: &mut Buffer) -> DrawnFrame {
    let mut drawn = DrawnFrame { tops: model.drawn.tops, ..DrawnFrame::default() };
    let area = frame.area;
    if area.height < 3 || area.width < 12 {
        draw_styled(frame, area, 0, &StyledText::new("too small", model.theme.dim()));
        return drawn;
    }
    let footer_rows = footer::rows(model, area.width).min(area.height - 2);
    let [header, body, footer] = [
        Rect { height: 1, ..area },
        Rect { y: area.y + 1, height: area.height - 1 - footer_rows, ..area },
        Rect { y: area.bottom() - footer_rows, height: footer_rows, ..area },
    ];
    header::draw(model, frame, header, &mut drawn);
    match model.help {
        true => help::draw(model, frame, body),
        false => draw_body(model, frame, body, &mut drawn),
    }
    footer::draw(model, frame, footer, &mut drawn);
    drawn
}

fn draw_body(model: &Model, frame: &mut Buffer, body: Rect, drawn: &mut DrawnFrame) {
    if model.listing.order.is_empty() {
        return draw_empty(model, frame, body);
    }
    let (board, detail) = board_and_detail(model, body);
    if let Some(board) = board {
        match model.view() {
            View::Columns => columns::draw(model, frame, board, drawn),
            View::List | View::Tree => list::draw(model, frame, board, drawn),
        }
    }
    if let Some(area) = detail {
        drawn.hits.push((area, ClickTarget::Detail));
        let beside = board.is_some();
        let inside = if beside { separated(model, frame, area) } else { area };
        detail::draw(model, frame, inside, drawn);
    }
}

/// The areas of the board and of the details. In a small terminal the details cover the board.
fn board_and_detail(model: &Model, body: Rect) -> (Option<Rect>, Option<Rect>) {
    if !model.shows_detail() {
        return (Some(body), None);
    }
    if !model.has_room_for_detail() {
        return (None, Some(body));
    }
    let part = |percent: u16, (least, most): (u16, u16)| {
        let part = u32::from(body.width) * u32::from(percent) / 100;
        (part as u16).clamp(least, most).min(body.width)
    };
    let board = match model.view() {
        View::Columns => body.width - part(DETAIL_PERCENT, DETAIL_COLUMNS),
        View::List | View::Tree => part(LIST_PERCENT, LIST_COLUMNS),
    };
    let detail = Rect { x: body.x + board, width: body.width - board, ..body };
    (Some(Rect { width: board - 1, ..body }), Some(detail))
}

/// Draws a line at the left edge, and returns the area right of it.
fn separated(model: &Model, frame: &mut Buffer, area: Rect) -> Rect {
    for y in area.top()..area.bottom() {
        frame.set_string(area.x, y, "│", model.theme.dim());
    }
    Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area }
}

fn draw_empty(model: &Model, frame: &mut Buffer, body: Rect) {
    let is_filtered = model.board.cards().len() > 0;
    let parked = format!("All {} are parked: f shows them.", model.listing.parked);
    let text = match &model.link {
        ConnectionState::Connecting => "connecting to the daemon …",
        ConnectionState::Lost(_) => "the daemon is not heard; this reconnects by itself",
        ConnectionState::Live if model.listing.parked > 0 && model.view_options.filter == Filter::All => {
            parked.as_str()
        }
        ConnectionState::Live if is_filtered && model.mode == Mode::Popup => "no session matches",
        ConnectionState::Live if is_filtered => {
            "no session matches: Esc clears the search, f changes the filter"
        }
        ConnectionState::Live => "No session yet. Start `claude` anywhere, or try `flightdeck demo`.",
    };
    draw_styled(frame, Rect { height: 1, ..body }, 1, &StyledText::new(text, model.theme.dim()));
}
