//! Asks the daemon over its socket.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use flightdeck_core::board::Card;
use serde_json::{Value, json};

use super::next;
use crate::paths::Paths;

/// A daemon that does not answer a question in this time is stuck.
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// Rows asked for at once: the most the daemon gives.
const PAGE_ROWS: usize = 1000;

/// A session's id is a UUID.
const WHOLE_ID_CHARS: usize = 36;

pub(super) struct Daemon {
    stream: BufReader<UnixStream>,
}

/// A no, with what a program needs to ask the person.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) message: String,
    pub(super) details: Value,
}

impl Daemon {
    pub(super) fn connect(paths: &Paths) -> anyhow::Result<Self> {
        let socket = paths.socket();
        match UnixStream::connect(&socket) {
            Ok(stream) => {
                stream.set_read_timeout(Some(ANSWER_MAX))?;
                stream.set_write_timeout(Some(ANSWER_MAX))?;
                Ok(Self { stream: BufReader::new(stream) })
            }
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                bail!("no daemon is running for {}: start it with `flightdeck`", paths.home.display())
            }
            Err(e) => Err(e).with_context(|| format!("cannot reach the daemon at {}", socket.display())),
        }
    }

    pub(super) fn ask(&mut self, cmd: &str, args: Value) -> anyhow::Result<Value> {
        self.try_ask(cmd, args)?.map_err(|refused| anyhow!("{}", refused.message))
    }

    /// The inner error is the daemon's no, for whoever can do something about it.
    pub(super) fn try_ask(&mut self, cmd: &str, args: Value) -> anyhow::Result<Result<Value, Refused>> {
        self.send(cmd, args)?;
        let mut answer: Value =
            serde_json::from_str(&self.line()?).context("the daemon's answer is not JSON")?;
        if answer["ok"] == json!(true) {
            return Ok(Ok(answer["data"].take()));
        }
        let message = answer["message"].as_str().unwrap_or("the daemon refused").to_owned();
        Ok(Err(Refused { message, details: answer["details"].take() }))
    }

    fn send(&mut self, cmd: &str, args: Value) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(&json!({ "cmd": cmd, "args": args }))?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line).context("the daemon hung up")
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => bail!("the daemon hung up"),
            Ok(_) => Ok(line),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                bail!("the daemon did not answer within {} s", ANSWER_MAX.as_secs())
            }
            Err(e) => Err(e).context("the daemon hung up"),
        }
    }

    pub(super) fn cards(&mut self) -> anyhow::Result<Vec<Card>> {
        let board = self.ask("sessions", json!({}))?;
        Ok(serde_json::from_value(board["sessions"].clone())?)
    }

    /// With those that left the board, page after page.
    pub(super) fn all_cards(&mut self) -> anyhow::Result<Vec<Card>> {
        let mut cards = Vec::new();
        let mut before = Value::Null;
        loop {
            let mut page =
                self.ask("sessions", json!({ "all": true, "before": before, "limit": PAGE_ROWS }))?;
            cards.append(&mut serde_json::from_value(page["sessions"].take())?);
            before = page["next_before"].take();
            if before.is_null() {
                return Ok(cards);
            }
        }
    }

    /// The one session whose id starts with `wanted`, on the board or among those that left it.
    pub(super) fn find(&mut self, wanted: &str) -> anyhow::Result<String> {
        let of = |cards: Vec<Card>| cards.into_iter().map(|c| c.id).filter(|id| id.starts_with(wanted));
        let mut found: Vec<_> = of(self.cards()?).collect();
        // Perhaps one that left the board. A whole id the daemon knows without going through them all.
        if found.is_empty() && wanted.len() < WHOLE_ID_CHARS {
            found = of(self.all_cards()?).collect();
        }
        match found.as_slice() {
            [one] => Ok(one.clone()),
            [] => Ok(wanted.to_owned()),
            many => bail!("{} sessions start with {wanted}: give more of the id", many.len()),
        }
    }

    /// A session as a person names it: by its seat, by the start of its id, or `next` for the one that needs them most.
    pub(super) fn find_seat(&mut self, wanted: &str) -> anyhow::Result<String> {
        let mut cards = self.cards()?;
        if wanted == "next" {
            next::waiting(&mut cards, false);
            return cards.first().map(|c| c.id.clone()).context("nobody waits for you");
        }
        let here = |c: &&Card| c.ended_at.is_none() && c.seat.name.as_deref() == Some(wanted);
        match cards.iter().filter(here).collect::<Vec<_>>().as_slice() {
            [one] => Ok(one.id.clone()),
            [] => self.find(wanted),
            many => bail!("{} sessions sit at {wanted}: give the start of an id", many.len()),
        }
    }

    /// The newest `count` events of a session, oldest first.
    pub(super) fn last_events(&mut self, id: &str, count: usize) -> anyhow::Result<Vec<Value>> {
        let newest = json!({ "session_id": id, "before": i64::MAX, "limit": count });
        let mut page = self.ask("events", newest)?;
        Ok(page["events"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }

    /// Every change from now on, a JSON line each.
    pub(super) fn subscribe(mut self) -> anyhow::Result<impl Iterator<Item = anyhow::Result<Value>>> {
        self.send("subscribe", json!({}))?;
        self.stream.get_ref().set_read_timeout(None)?;
        Ok(std::iter::from_fn(move || {
            let mut line = String::new();
            match self.stream.read_line(&mut line) {
                Ok(0) => None,
                Ok(_) => Some(serde_json::from_str(&line).context("the daemon's change is not JSON")),
                Err(e) => Some(Err(e.into())),
            }
        }))
    }
}
