//! `flightdeck send`, `focus`, `interrupt`: a session's own terminal, from this one.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use anyhow::{Context, bail};
use clap::ValueEnum;
use serde_json::{Value, json};

use super::ask::{Daemon, Refused};
use super::out::Out;
use crate::outlet::terminal::PROMPT_BYTES_MAX;
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct SendArgs {
    /// The start of its id, the name of its seat, or `next` for the one that needs you most
    session: String,
    /// The prompt; `-` reads it from standard input
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    text: Vec<String>,
    /// How a text is meant that the client would run itself (`/…`, `!…`, exit)
    #[arg(long = "as", value_enum)]
    meant: Option<Meant>,
    /// What becomes of a draft that is in the prompt box
    #[arg(long, value_enum)]
    draft: Option<Draft>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Meant {
    /// Let the client run it
    Command,
    /// Send it as a prompt, where there is a way
    Text,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Draft {
    /// Set it aside; it comes back after the prompt was sent
    Keep,
    /// Take it away
    Replace,
}

#[derive(Debug, clap::Args)]
pub(super) struct FocusArgs {
    /// The start of its id, the name of its seat, or `next` for the one that needs you most
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct InterruptArgs {
    /// The start of its id, the name of its seat, or `next` for the one that needs you most
    session: String,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// End the client, not only its turn
    #[arg(long)]
    stop: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn send(args: &SendArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let from_stdin = args.text == ["-"];
    let text = if from_stdin { read_stdin()? } else { args.text.join(" ") };
    let mut daemon = Daemon::connect(paths)?;
    let mut body = json!({
        "session_id": daemon.find_seat(&args.session)?,
        "text": text,
        "as": word(args.meant),
        "draft": word(args.draft),
    });
    let ask = !args.json && !from_stdin && io::stdin().is_terminal();
    loop {
        let refused = match daemon.try_ask("prompt", body.clone())? {
            Ok(done) => return told(out, args.json, &done),
            Err(refused) => refused,
        };
        // At most once each: the answer is in the next request.
        let is = |code: &str| refused.details["error"] == code;
        if ask && is("command") && body["as"].is_null() {
            body["as"] = match choose(&refused, "c: run it as a command, t: send it as text", &["c", "t"])? {
                Some("c") => "command".into(),
                Some(_) => "text".into(),
                None => return Ok(1),
            };
        } else if ask && is("draft") && body["draft"].is_null() && refused.details["choices"].is_array() {
            body["draft"] = match choose(&refused, "k: keep the draft, r: replace it", &["k", "r"])? {
                Some("k") => "keep".into(),
                Some(_) => "replace".into(),
                None => return Ok(1),
            };
        } else {
            return not_done(out, args.json, &refused, hint(&refused));
        }
    }
}

/// A choice as the daemon names it, the same as on the command line.
fn word(choice: Option<impl ValueEnum>) -> Option<String> {
    choice?.to_possible_value().map(|value| value.get_name().to_owned())
}

/// What to add to the command line. After the text it would be a part of it.
fn hint(refused: &Refused) -> Option<&'static str> {
    match refused.details["error"].as_str()? {
        "command" => Some("say --as command or --as text, before the text"),
        "draft" if refused.details["choices"].is_array() => {
            Some("say --draft keep or --draft replace, before the text")
        }
        "confirm" => Some("--yes"),
        _ => None,
    }
}

pub(super) fn focus(args: &FocusArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut daemon = Daemon::connect(paths)?;
    let id = daemon.find_seat(&args.session)?;
    match daemon.try_ask("focus", json!({ "session_id": id }))? {
        Ok(done) => told(out, args.json, &done),
        Err(refused) => not_done(out, args.json, &refused, None),
    }
}

pub(super) fn interrupt(args: &InterruptArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut daemon = Daemon::connect(paths)?;
    let id = daemon.find_seat(&args.session)?;
    let mut body = json!({ "session_id": id, "confirm": args.yes, "stop": args.stop });
    loop {
        let refused = match daemon.try_ask("interrupt", body.clone())? {
            Ok(done) => return told(out, args.json, &done),
            Err(refused) => refused,
        };
        let asks = refused.details["error"] == "confirm" && body["confirm"] == json!(false);
        if !asks || args.json || !io::stdin().is_terminal() {
            return not_done(out, args.json, &refused, hint(&refused));
        }
        if choose(&refused, "y: do it", &["y"])?.is_none() {
            return Ok(1);
        }
        body["confirm"] = json!(true);
    }
}

fn told(out: &mut Out, json: bool, done: &Value) -> anyhow::Result<u8> {
    match json {
        true => out.json(done)?,
        false => writeln!(out, "{}", done["message"].as_str().unwrap_or("done"))?,
    }
    Ok(0)
}

fn not_done(out: &mut Out, json: bool, refused: &Refused, hint: Option<&str>) -> anyhow::Result<u8> {
    if json && refused.details.is_object() {
        out.json(&refused.details)?;
        return Ok(1);
    }
    match hint {
        Some(hint) => bail!("{} ({hint})", refused.message),
        None => bail!("{}", refused.message),
    }
}

/// One of the letters, or `None` for anything else: the question stands on standard error, like every complaint.
fn choose(refused: &Refused, what: &str, letters: &[&'static str]) -> anyhow::Result<Option<&'static str>> {
    let mut stderr = io::stderr();
    write!(stderr, "{}\n{what}, Enter: leave it? ", refused.message)?;
    stderr.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let said = line.trim().to_ascii_lowercase();
    Ok(letters.iter().copied().find(|letter| *letter == said))
}

fn read_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    let most = PROMPT_BYTES_MAX as u64 + 1;
    io::stdin().lock().take(most).read_to_string(&mut text).context("cannot read the prompt")?;
    if text.len() > PROMPT_BYTES_MAX {
        bail!("the prompt is over {PROMPT_BYTES_MAX} bytes: write it to a file and name that");
    }
    Ok(text)
}
