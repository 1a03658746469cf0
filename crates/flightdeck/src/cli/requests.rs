//! The requests on the board: finds a request by its name, lists the open ones, and says how to answer them.

use std::io::Write;

use anyhow::{Context, bail};
use flightdeck_core::approval::card::{AskCard, ResolutionCard};
use flightdeck_core::approval::resolution::NeedKind;
use flightdeck_core::ids::AskId;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::card::Card;

use super::ask_text::{summary, without_controls};
use super::line::column;
use super::lookup::{ambiguous, cards_named, keep_waiting, unique_prefix_chars};
use super::{draw, out::Out, owner};

/// Fewest characters of a request's id that are printed. The ninth character of a session's id is a hyphen, so these never
/// name a session too.
const ID_CHARS_MIN: usize = 9;
/// Characters of a session's id in the list.
const SESSION_ID_CHARS: usize = 8;
/// The width of a project's name in the list.
const PROJECT_COLUMNS: usize = 16;
/// The width of a request's age in the list.
const AGE_COLUMNS: usize = 7;

pub(super) fn open_asks<'a>(
    cards: impl IntoIterator<Item = &'a Card>,
) -> impl Iterator<Item = (&'a Card, &'a AskCard)> {
    let open =
        |card: &'a Card| card.asks.iter().filter(|ask| ask.resolution.is_none()).map(move |ask| (card, ask));
    cards.into_iter().flat_map(open)
}

/// The start of each request's id that tells it from all others on the board.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortAskIds {
    chars: usize,
}

impl ShortAskIds {
    pub(super) fn on_board(cards: &[Card]) -> Self {
        let ids = cards.iter().flat_map(|card| &card.asks).map(|ask| &*ask.id);
        Self { chars: unique_prefix_chars(ids, ID_CHARS_MIN) }
    }

    pub(super) fn shortened<'a>(&self, id: &'a AskId) -> &'a str {
        id.get(..self.chars).unwrap_or(id)
    }
}

/// A request by the start of its id, the only open request of a session, or the first one of the session that needs the person
/// most.
pub(super) fn find_ask<'a>(cards: &'a [Card], target: &str) -> anyhow::Result<&'a AskCard> {
    // An ended request is found too: the daemon then says how it ended.
    if let Some(ask) = cards.iter().flat_map(|card| &card.asks).find(|ask| ask.id == target) {
        return Ok(ask);
    }
    if target == "next" {
        let mut waiting: Vec<&Card> = cards.iter().collect();
        keep_waiting(&mut waiting, false);
        let first = open_asks(waiting).map(|(_, ask)| ask).next();
        return first.context("no session waits for an answer");
    }
    match cards_named(cards, target).as_slice() {
        [] => by_start_of_id(cards, target),
        [session] => only_open_ask(cards, session, target),
        sessions => Err(ambiguous(sessions, target)),
    }
}

fn by_start_of_id<'a>(cards: &'a [Card], target: &str) -> anyhow::Result<&'a AskCard> {
    let all = cards.iter().flat_map(|card| card.asks.iter().map(move |ask| (card, ask)));
    let found: Vec<_> = all.filter(|(_, ask)| ask.id.starts_with(target)).collect();
    match found.as_slice() {
        [(_, one)] => Ok(one),
        [] => {
            bail!("no session and no request is called {target}: `flightdeck answer` lists all open requests")
        }
        many => bail!(
            "{} requests start with {target}: give more of the id:\n{}",
            many.len(),
            candidates(cards, many)
        ),
    }
}

fn only_open_ask<'a>(cards: &[Card], session: &'a Card, target: &str) -> anyhow::Result<&'a AskCard> {
    let open: Vec<_> = open_asks([session]).collect();
    match open.as_slice() {
        [(_, one)] => Ok(one),
        [] => bail!("{target} has no open request: `flightdeck answer` lists all open requests"),
        many => bail!(
            "{target} has {} open requests; name one by its id:\n{}",
            many.len(),
            candidates(cards, many)
        ),
    }
}

fn candidates(cards: &[Card], asks: &[(&Card, &AskCard)]) -> String {
    let ids = ShortAskIds::on_board(cards);
    let line = |(card, ask): &(&Card, &AskCard)| {
        format!(
            "  {}  {}  {}",
            ids.shortened(&ask.id),
            without_controls(&card.project.name),
            without_controls(&summary(ask))
        )
    };
    asks.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// One line per open request: its id, its age, its session, and what is asked. Exits 1 if there is none.
pub(super) fn list(cards: &[Card], now: Timestamp, json: bool, out: &mut Out) -> anyhow::Result<u8> {
    let open: Vec<_> = open_asks(cards).collect();
    if json {
        out.json(&open.iter().map(|(_, ask)| ask).collect::<Vec<_>>())?;
    } else if open.is_empty() {
        writeln!(out, "No session waits for an answer.")?;
    }
    let ids = ShortAskIds::on_board(cards);
    for (card, ask) in open.iter().filter(|_| !json) {
        let place = match (ask.answerable, owner::refusal(card, "answer")) {
            (_, Some(why)) => format!("  ({why})"),
            (true, None) => String::new(),
            (false, None) => "  (answer in the terminal)".to_owned(),
        };
        let age = column(out, &draw::duration(now - ask.opened_at), AGE_COLUMNS);
        let session = card.id.get(..SESSION_ID_CHARS).unwrap_or(&card.id);
        let project = column(out, &owner::with_host(card, &card.project.name), PROJECT_COLUMNS);
        let seat = card.seat.name.as_deref().map(|name| format!("{name}  ")).unwrap_or_default();
        let id = ids.shortened(&ask.id);
        writeln!(out, "{id}  {age}  {session}  {project}  {seat}{}{place}", without_controls(&summary(ask)))?;
    }
    Ok(u8::from(open.is_empty()))
}

/// The requests of one card, each with the commands that answer it or with how it ended. `program` is what to type before
/// `answer`.
pub(super) fn lines(card: &Card, ids: ShortAskIds, program: &str) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| text += &format!("  {name:<10} {}\n", without_controls(value));
    for ask in &card.asks {
        match &ask.resolution {
            Some(resolution) => {
                line("request", &format!("{}: {}", summary(ask), resolution_words(resolution)));
            }
            None => {
                line("request", &summary(ask));
                match owner::refusal(card, "answer") {
                    Some(why) => line("answer", &why),
                    None => {
                        commands(ask, ids.shortened(&ask.id), program).iter().for_each(|c| line("answer", c))
                    }
                }
            }
        }
    }
    text
}

/// `denied (cli): use just`
fn resolution_words(resolution: &ResolutionCard) -> String {
    let by = resolution.by.map(|by| format!(" ({})", by.as_str())).unwrap_or_default();
    let message = resolution.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
    format!("{}{by}{message}", resolution.how.in_words()).replace('\n', " ")
}

/// The commands that answer the request, as one types them.
fn commands(ask: &AskCard, id: &str, program: &str) -> Vec<String> {
    if !ask.answerable {
        return vec![format!("only in its terminal: {program} focus {}", ask.session_id)];
    }
    let questions = ask.questions.as_ref().map_or(1, Vec::len).max(1);
    let arguments = match ask.kind {
        NeedKind::Permission | NeedKind::Plan => vec!["allow".to_owned(), "deny --message WHY".to_owned()],
        NeedKind::Question => vec![vec!["--pick N"; questions].join(" "), "deny --message WHY".to_owned()],
        NeedKind::Elicitation => vec!["allow --field NAME=VALUE".to_owned(), "deny".to_owned()],
    };
    arguments.into_iter().map(|arguments| format!("{program} answer {id} {arguments}")).collect()
}
