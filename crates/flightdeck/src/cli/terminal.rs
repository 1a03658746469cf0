//! `flightdeck send`, `focus`, `interrupt`: control a session's terminal from this one.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use anyhow::{Context, bail};
use clap::ValueEnum;
use flightdeck_protocol::terminal::{Draft, Focus, Interrupt, PROMPT_BYTES_MAX, PromptKind, SendPrompt};
use flightdeck_protocol::terminal::{TerminalRefusal, TerminalRefusalCode};
use flightdeck_protocol::{ErrorReply, SocketCommand};

use super::lookup::find_session;
use super::out::Out;
use crate::client::{BlockingClient, ClientError, RawReply};
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct SendArgs {
    /// The session: the start of its id, its seat or its pid, or `next` for the session that needs you most
    session: String,
    /// The prompt; `-` reads it from standard input
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    text: Vec<String>,
    /// Send a text that Claude Code would run (`/…`, `!…`, exit) as a command or as text
    #[arg(long = "as", value_enum)]
    kind: Option<PromptKindArg>,
    /// What to do with a draft in the prompt box
    #[arg(long, value_enum)]
    draft: Option<DraftArg>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PromptKindArg {
    /// Let Claude Code run it
    Command,
    /// Send it as a prompt if possible
    Text,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DraftArg {
    /// Stash it; it is restored after the prompt was sent
    Keep,
    /// Delete it
    Replace,
}

impl From<PromptKindArg> for PromptKind {
    fn from(kind: PromptKindArg) -> Self {
        match kind {
            PromptKindArg::Command => Self::Command,
            PromptKindArg::Text => Self::Text,
        }
    }
}

impl From<DraftArg> for Draft {
    fn from(draft: DraftArg) -> Self {
        match draft {
            DraftArg::Keep => Self::Keep,
            DraftArg::Replace => Self::Replace,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct FocusArgs {
    /// The session: the start of its id, its seat or its pid, or `next` for the session that needs you most
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct InterruptArgs {
    /// The session: the start of its id, its seat or its pid, or `next` for the session that needs you most
    session: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// End Claude Code, not only its turn
    #[arg(long)]
    stop: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn send(args: &SendArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let from_stdin = args.text == ["-"];
    let text = if from_stdin { read_stdin()? } else { args.text.join(" ") };
    let mut client = BlockingClient::connect(paths)?;
    let mut request = SendPrompt {
        session_id: find_session(&mut client, &args.session)?,
        text,
        kind: args.kind.map(PromptKind::from),
        draft: args.draft.map(Draft::from),
    };
    let interactive = !args.json && !from_stdin && io::stdin().is_terminal();
    loop {
        let refusal = match try_call(&mut client, &request)? {
            Ok(reply) => {
                let message = reply.decode()?.message;
                return print_done(out, args.json, &reply, &message);
            }
            Err(refusal) => refusal,
        };
        // No question is asked twice, because the next request contains its answer.
        let next = if interactive { choose_and_change(&request, &refusal)? } else { Choice::NotOffered };
        match next {
            Choice::Again(changed) => request = changed,
            Choice::Left => return Ok(1),
            Choice::NotOffered => return print_refused(out, args.json, &refusal, hint(&refusal)),
        }
    }
}

enum Choice {
    /// Send this request.
    Again(SendPrompt),
    /// The person gave up.
    Left,
    /// There is nothing to choose.
    NotOffered,
}

/// Asks the person how to go on after a refusal.
fn choose_and_change(request: &SendPrompt, refusal: &ErrorReply) -> anyhow::Result<Choice> {
    let Some(details) = TerminalRefusal::read(refusal) else { return Ok(Choice::NotOffered) };
    let mut changed = request.clone();
    let chosen = match details.error {
        TerminalRefusalCode::Command if request.kind.is_none() => {
            let letter = choose(refusal, "c: run it as a command, t: send it as text", &["c", "t"])?;
            changed.kind =
                letter.map(|letter| if letter == "c" { PromptKind::Command } else { PromptKind::Text });
            letter
        }
        TerminalRefusalCode::Draft if request.draft.is_none() && details.has_choices() => {
            let letter = choose(refusal, "k: keep the draft, r: replace it", &["k", "r"])?;
            changed.draft = letter.map(|letter| if letter == "k" { Draft::Keep } else { Draft::Replace });
            letter
        }
        _ => return Ok(Choice::NotOffered),
    };
    Ok(if chosen.is_some() { Choice::Again(changed) } else { Choice::Left })
}

/// The inner error is the daemon's refusal.
fn try_call<R: SocketCommand>(
    client: &mut BlockingClient,
    request: &R,
) -> Result<Result<RawReply<R>, ErrorReply>, ClientError> {
    match client.call_raw(request) {
        Ok(reply) => Ok(Ok(reply)),
        Err(ClientError::Refused(refusal)) => Ok(Err(refusal)),
        Err(error) => Err(error),
    }
}

/// What to add to the command line. It must come before the text, because after it it would be part of the text.
fn hint(refusal: &ErrorReply) -> Option<&'static str> {
    let details = TerminalRefusal::read(refusal)?;
    match details.error {
        TerminalRefusalCode::Command => Some("add --as command or --as text, before the text"),
        TerminalRefusalCode::Draft if details.has_choices() => {
            Some("add --draft keep or --draft replace, before the text")
        }
        TerminalRefusalCode::Confirm => Some("--yes"),
        _ => None,
    }
}

pub(super) fn focus(args: &FocusArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut client = BlockingClient::connect(paths)?;
    let session_id = find_session(&mut client, &args.session)?;
    match try_call(&mut client, &Focus { session_id })? {
        Ok(reply) => {
            let message = reply.decode()?.message;
            print_done(out, args.json, &reply, &message)
        }
        Err(refusal) => print_refused(out, args.json, &refusal, None),
    }
}

pub(super) fn interrupt(args: &InterruptArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut client = BlockingClient::connect(paths)?;
    let session_id = find_session(&mut client, &args.session)?;
    let mut request = Interrupt { session_id, confirm: args.yes, stop: args.stop };
    loop {
        let refusal = match try_call(&mut client, &request)? {
            Ok(reply) => {
                let message = reply.decode()?.message;
                return print_done(out, args.json, &reply, &message);
            }
            Err(refusal) => refusal,
        };
        let details = TerminalRefusal::read(&refusal);
        let needs_confirm = details.is_some_and(|details| details.error == TerminalRefusalCode::Confirm);
        if !needs_confirm || request.confirm || args.json || !io::stdin().is_terminal() {
            return print_refused(out, args.json, &refusal, hint(&refusal));
        }
        if choose(&refusal, "y: do it", &["y"])?.is_none() {
            return Ok(1);
        }
        request.confirm = true;
    }
}

fn print_done<R: SocketCommand>(
    out: &mut Out,
    json: bool,
    reply: &RawReply<R>,
    message: &str,
) -> anyhow::Result<u8> {
    match json {
        true => out.json(&reply.json()?)?,
        false => writeln!(out, "{message}")?,
    }
    Ok(0)
}

fn print_refused(out: &mut Out, json: bool, refusal: &ErrorReply, hint: Option<&str>) -> anyhow::Result<u8> {
    if let Some(details) = refusal.details.as_ref().filter(|details| json && details.is_object()) {
        out.json(details)?;
        return Ok(1);
    }
    match hint {
        Some(hint) => bail!("{} ({hint})", refusal.message),
        None => bail!("{}", refusal.message),
    }
}

/// Asks on standard error; returns the typed letter, or `None` for any other input.
fn choose(
    refusal: &ErrorReply,
    what: &str,
    letters: &[&'static str],
) -> anyhow::Result<Option<&'static str>> {
    let mut stderr = io::stderr();
    write!(stderr, "{}\n{what}, Enter: leave it? ", refusal.message)?;
    stderr.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let typed = line.trim().to_ascii_lowercase();
    Ok(letters.iter().copied().find(|letter| *letter == typed))
}

fn read_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    let most = PROMPT_BYTES_MAX as u64 + 1;
    io::stdin().lock().take(most).read_to_string(&mut text).context("cannot read the prompt")?;
    if text.len() > PROMPT_BYTES_MAX {
        bail!("the prompt is longer than {PROMPT_BYTES_MAX} bytes: write it to a file and name the file");
    }
    Ok(text)
}
