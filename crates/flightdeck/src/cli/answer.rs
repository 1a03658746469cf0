//! `flightdeck answer`: decide what a session waits for, from any terminal.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context, bail};
use flightdeck_core::ask::By;
use flightdeck_core::ask::answer::{Answer, Decision, OneOrMany};
use flightdeck_core::ask::card::{AskCard, Question};
use flightdeck_core::board::Card;
use flightdeck_core::ledger::NeedKind;
use flightdeck_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::ask::Daemon;
use super::{draw, out::Out};
use crate::clock;
use crate::paths::Paths;

/// Most of a request that is printed.
const REQUEST_CHARS_MAX: usize = 100_000;

#[derive(Debug, clap::Args)]
pub(super) struct AnswerArgs {
    /// The session (or the start of its id), or an ask's id. Without it: everything that can be answered
    target: Option<String>,
    /// What to say; without it the request is printed
    #[arg(value_enum)]
    decision: Option<Say>,
    /// Tell Claude why not, or what to do instead
    #[arg(long, short)]
    message: Option<String>,
    /// Deny and end the turn, as Esc does
    #[arg(long)]
    interrupt: bool,
    /// Allow and remember: the number of the suggestion
    #[arg(long, value_name = "N")]
    always: Option<usize>,
    /// Answer a question: the number of an option or your own words; once for each question, `1,3` for several
    #[arg(long, short, value_name = "N|TEXT")]
    pick: Vec<String>,
    /// Fill in a form: NAME=VALUE
    #[arg(long, value_name = "NAME=VALUE")]
    field: Vec<String>,
    /// Approve a plan and go on in this mode: default or acceptEdits
    #[arg(long)]
    mode: Option<String>,
    /// Allow even what cannot be undone, without being asked again
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Say {
    #[value(aliases = ["yes", "y", "approve"])]
    Allow,
    #[value(aliases = ["no", "n", "reject"])]
    Deny,
    Cancel,
}

pub(super) fn run(args: &AnswerArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut daemon = Daemon::connect(paths)?;
    let cards = daemon.cards()?;
    let Some(target) = &args.target else { return list(&cards, args.json, out) };
    let ask = find(&cards, target)?;
    let wants =
        args.decision.is_some() || !args.pick.is_empty() || !args.field.is_empty() || args.always.is_some();
    if !wants {
        if args.json {
            out.json(&ask)?;
        } else {
            write!(out, "{}", in_full(out, ask, clock::now()))?;
        }
        return Ok(0);
    }
    let answer = answer(args, ask)?;
    if answer.decision == Decision::Allow && !args.yes {
        confirm(ask, out)?;
    }
    let resolution = daemon.ask("answer", json!({ "ask_id": ask.id, "answer": answer }))?;
    if args.json {
        out.json(&resolution)?;
    } else {
        let how = resolution["how"].as_str().unwrap_or("answered").replace('_', " ");
        writeln!(out, "{}: {how}", summary(ask))?;
    }
    Ok(0)
}

/// Nothing takes an answer back: what cannot be undone is said twice.
fn confirm(ask: &AskCard, out: &mut Out) -> anyhow::Result<()> {
    let Some(why) = &ask.caution else { return Ok(()) };
    let input = std::io::stdin();
    if !input.is_terminal() || !out.is_terminal() {
        bail!("{} cannot be undone ({}): add --yes if you mean it", summary(ask), why.to_lowercase());
    }
    write!(out, "{}\n{}, and that cannot be undone. Allow it? [y/N] ", plain(&summary(ask)), why)?;
    out.flush()?;
    let mut said = String::new();
    input.lock().read_line(&mut said)?;
    if !matches!(said.trim(), "y" | "Y" | "yes") {
        bail!("not answered: the request is still open");
    }
    Ok(())
}

fn open_asks(cards: &[Card]) -> impl Iterator<Item = (&Card, &AskCard)> {
    cards
        .iter()
        .flat_map(|card| card.asks.iter().filter(|a| a.resolution.is_none()).map(move |ask| (card, ask)))
}

/// An ask by its id, or the one open ask of a session.
fn find<'a>(cards: &'a [Card], target: &str) -> anyhow::Result<&'a AskCard> {
    // One that has ended too: the daemon then tells how.
    if let Some(ask) = cards.iter().flat_map(|card| &card.asks).find(|ask| ask.id == target) {
        return Ok(ask);
    }
    let of_session: Vec<_> = open_asks(cards).filter(|(card, _)| card.id.starts_with(target)).collect();
    match of_session.as_slice() {
        [(_, one)] => Ok(one),
        [] => bail!("no open request of {target}: `flightdeck answer` lists what can be answered"),
        many => {
            let ids: Vec<_> = many.iter().map(|(_, ask)| format!("  {}  {}", ask.id, summary(ask))).collect();
            bail!("{} requests are open there; name one by its id:\n{}", many.len(), ids.join("\n"))
        }
    }
}

fn list(cards: &[Card], json: bool, out: &mut Out) -> anyhow::Result<u8> {
    let open: Vec<_> = open_asks(cards).collect();
    if json {
        out.json(&open.iter().map(|(_, ask)| ask).collect::<Vec<_>>())?;
    } else if open.is_empty() {
        writeln!(out, "Nobody waits for an answer.")?;
    }
    for (card, ask) in open.iter().filter(|_| !json) {
        let where_from = if ask.answerable { "" } else { "  (answer in the terminal)" };
        let project = &card.project.name;
        writeln!(out, "{}  {:<16} {}{where_from}", short(&card.id), project, summary(ask))?;
    }
    Ok(u8::from(open.is_empty()))
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

fn summary(ask: &AskCard) -> String {
    let tool = ask.tool_name.as_deref().unwrap_or("input");
    let input = |name: &str| ask.tool_input.as_ref().and_then(|i| i.get(name)?.as_str()).map(first_line);
    match ask.kind {
        NeedKind::Permission => {
            match input("command").or_else(|| input("file_path")).or_else(|| input("url")) {
                Some(what) => format!("{tool}: {what}"),
                None => tool.to_owned(),
            }
        }
        NeedKind::Question => {
            let first = ask.questions.iter().flatten().next();
            first.map_or("a question".to_owned(), |q| first_line(&q.question))
        }
        NeedKind::Plan => "plan ready".to_owned(),
        NeedKind::Elicitation => ask.message.as_deref().map_or("a form".to_owned(), first_line),
    }
}

fn first_line(text: &str) -> String {
    flightdeck_core::text::one_line(text.lines().next().unwrap_or_default(), 100)
}

/// Whatever a prompt or a tool wrote, it must not move this terminal's cursor.
fn plain(text: &str) -> String {
    flightdeck_core::text::lines(text, REQUEST_CHARS_MAX)
}

/// The request as a person reads it, and what may be said to it.
fn in_full(out: &Out, ask: &AskCard, now: Timestamp) -> String {
    let mut text = format!("{}\n", draw::paint(out, "1", &summary(ask)));
    match ask.kind {
        NeedKind::Permission => {
            let input = serde_json::to_string_pretty(&ask.tool_input).unwrap_or_default();
            text += &format!("{}\n", plain(&input));
            for (n, suggestion) in ask.suggestions.iter().enumerate() {
                text += &format!("  --always {}  {}\n", n + 1, plain(&suggestion.to_string()));
            }
            if let Some(why) = &ask.caution {
                text +=
                    &format!("{}\n", draw::paint(out, "31;1", &format!("  {why}: this cannot be undone")));
            }
            text += "  allow | deny [--message WHY] [--interrupt]\n";
        }
        NeedKind::Question => {
            for question in ask.questions.iter().flatten() {
                text += &format!("{}\n", plain(&question.question));
                for (n, option) in question.options.iter().enumerate() {
                    let why = option.description.as_deref().map(first_line).unwrap_or_default();
                    text +=
                        &format!("  {}  {}  {}\n", n + 1, plain(&option.label), draw::paint(out, "2", &why));
                }
            }
            text += "  --pick N or your own words, once for each question; `--pick 1,3` where several may be chosen\n";
        }
        NeedKind::Plan => {
            let plan = ask.tool_input.as_ref().and_then(|i| i.get("plan")?.as_str()).unwrap_or_default();
            text += &format!("{}\n  allow [--mode acceptEdits] | deny --message WHY\n", plain(plan));
        }
        NeedKind::Elicitation => {
            let schema = serde_json::to_string_pretty(&ask.requested_schema).unwrap_or_default();
            text += &format!("{}\n  allow --field NAME=VALUE | deny | cancel\n", plain(&schema));
        }
    }
    match ask.expires_at {
        Some(until) if ask.answerable => text + &format!("  {} left\n", draw::duration(until - now)),
        _ => text + "  only the terminal can answer this\n",
    }
}

fn answer(args: &AnswerArgs, ask: &AskCard) -> anyhow::Result<Answer> {
    let decision = match args.decision {
        Some(Say::Allow) | None => Decision::Allow,
        Some(Say::Deny) => Decision::Deny,
        Some(Say::Cancel) => Decision::Cancel,
    };
    let answers = if args.pick.is_empty() { None } else { Some(picks(args, ask)?) };
    let always = args.always.map(|n| {
        let chosen = n.checked_sub(1).and_then(|i| ask.suggestions.get(i)).cloned();
        chosen
            .map(|c| vec![c])
            .with_context(|| format!("there is no suggestion {n}; there are {}", ask.suggestions.len()))
    });
    Ok(Answer {
        message: args.message.clone(),
        interrupt: args.interrupt.then_some(true),
        updated_permissions: always.transpose()?,
        answers,
        content: if args.field.is_empty() { None } else { Some(fields(args, ask)?) },
        mode: args.mode.clone(),
        ..Answer::plain(decision, By::Cli)
    })
}

fn picks(args: &AnswerArgs, ask: &AskCard) -> anyhow::Result<BTreeMap<String, OneOrMany>> {
    let questions: Vec<&Question> = ask.questions.iter().flatten().collect();
    if questions.len() != args.pick.len() {
        bail!(
            "there are {} questions and {} answers: give one --pick for each",
            questions.len(),
            args.pick.len()
        );
    }
    let answers = questions.iter().zip(&args.pick).map(|(q, pick)| (q.question.clone(), chosen(q, pick)));
    Ok(answers.collect())
}

/// Numbers of options are their labels; anything else is the person's own words.
fn chosen(question: &Question, pick: &str) -> OneOrMany {
    let label = |n: &str| {
        let at = n.trim().parse::<usize>().ok()?.checked_sub(1)?;
        question.options.get(at).map(|o| o.label.clone())
    };
    let labels: Option<Vec<String>> = pick.split(',').map(label).collect();
    match labels {
        Some(many) if many.len() > 1 => OneOrMany::Many(many),
        Some(mut one) => OneOrMany::One(one.pop().unwrap_or_default()),
        None => OneOrMany::One(pick.to_owned()),
    }
}

/// A value is read as the form's own kind of field.
fn fields(args: &AnswerArgs, ask: &AskCard) -> anyhow::Result<Map<String, Value>> {
    let kinds = ask.requested_schema.as_ref().and_then(|s| s.get("properties"));
    let mut content = Map::new();
    for field in &args.field {
        let (name, text) = field.split_once('=').with_context(|| format!("{field:?} is not NAME=VALUE"))?;
        let kind = kinds.and_then(|k| k.get(name)?.get("type")?.as_str()).unwrap_or("string");
        let value = match kind {
            "string" => json!(text),
            _ => serde_json::from_str(text)
                .with_context(|| format!("`{name}` wants a {kind}, not {text:?}"))?,
        };
        content.insert(name.to_owned(), value);
    }
    Ok(content)
}
