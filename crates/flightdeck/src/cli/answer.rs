//! `flightdeck answer`: answers a request of a session from any terminal.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context, bail};
use flightdeck_core::approval::answer::{Answer, Decision, OneOrMany};
use flightdeck_core::approval::card::{AskCard, Question};
use flightdeck_core::approval::form::{FieldType, field_type};
use flightdeck_core::approval::resolution::{AnsweredBy, NeedKind};
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::card::Card;
use flightdeck_core::wire::clip::has_clipped_field;
use flightdeck_protocol::asks::{AnswerAsk, GetAsk};
use serde_json::{Map, Value};

use super::lookup::board_cards;
use super::{draw, out::Out};
use crate::client::Client;
use crate::clock;
use crate::paths::Paths;

/// Longest summary of a request in the list.
const SUMMARY_CHARS_MAX: usize = 100;

#[derive(Debug, clap::Args)]
pub(super) struct AnswerArgs {
    /// The session's id (or its start), or the id of a request; without it, all open requests are listed
    target: Option<String>,
    /// The decision; without it, the request is printed
    #[arg(value_enum)]
    decision: Option<DecisionArg>,
    /// Tell Claude why it is denied, or what to do instead
    #[arg(long, short)]
    message: Option<String>,
    /// Deny and end the turn, as Esc does
    #[arg(long)]
    interrupt: bool,
    /// Allow and remember this suggestion, by its number
    #[arg(long, value_name = "N")]
    always: Option<usize>,
    /// Answer a question by the number of an option or in your own words; once per question, `1,3` for several options
    #[arg(long, short, value_name = "N|TEXT")]
    pick: Vec<String>,
    /// Fill in one field of a form
    #[arg(long, value_name = "NAME=VALUE")]
    field: Vec<String>,
    /// Approve a plan and continue in this mode: default or acceptEdits
    #[arg(long)]
    mode: Option<String>,
    /// Allow without a second confirmation, even a request that cannot be undone
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum DecisionArg {
    #[value(aliases = ["yes", "y", "approve"])]
    Allow,
    #[value(aliases = ["no", "n", "reject"])]
    Deny,
    Cancel,
}

pub(super) fn run(args: &AnswerArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut client = Client::connect(paths)?;
    let cards = board_cards(&mut client)?;
    let Some(target) = &args.target else { return list(&cards, args.json, out) };
    // A card contains only a part of a large request; the daemon reads the rest from the log.
    let ask = &client.call(&GetAsk { ask_id: find_ask(&cards, target)?.id.clone() })?;
    if !args.decides()? {
        if args.json {
            out.json(ask)?;
        } else {
            write!(out, "{}", in_full(out, ask, clock::now()))?;
        }
        return Ok(0);
    }
    let answer = answer(args, ask)?;
    if answer.decision == Decision::Allow && !args.yes {
        confirm(ask, out)?;
    }
    let resolution = client.call_raw(&AnswerAsk { ask_id: ask.id.clone(), answer: answer.into() })?;
    if args.json {
        out.json(&resolution.json()?)?;
    } else {
        writeln!(out, "{}: {}", summary(ask), resolution.decode()?.how.words())?;
    }
    Ok(0)
}

impl AnswerArgs {
    /// Whether the arguments answer the request, or only show it.
    fn decides(&self) -> anyhow::Result<bool> {
        let answers = self.decision.is_some() || self.always.is_some();
        if answers || !self.pick.is_empty() || !self.field.is_empty() {
            return Ok(true);
        }
        if self.message.is_some() || self.interrupt || self.mode.is_some() {
            bail!(
                "not answered: add allow or deny; --message and --interrupt belong to deny, --mode to allow"
            );
        }
        Ok(false)
    }
}

/// Asks the person again before allowing a request that cannot be undone, or that is shown only in part.
fn confirm(ask: &AskCard, out: &mut Out) -> anyhow::Result<()> {
    let (why, more) = match &ask.caution {
        Some(why) => (
            format!("cannot be undone ({})", why.to_lowercase()),
            format!("{why}, and that cannot be undone"),
        ),
        None if is_cut(ask) => {
            ("is larger than the log keeps, read it in its terminal".to_owned(), PART_ONLY.to_owned())
        }
        None => return Ok(()),
    };
    let input = std::io::stdin();
    if !input.is_terminal() || !out.is_terminal() {
        bail!("{} {why}: add --yes if you mean it", summary(ask));
    }
    write!(out, "{}\n{more}. Allow it? [y/N] ", plain(&summary(ask)))?;
    out.flush()?;
    let mut line = String::new();
    input.lock().read_line(&mut line)?;
    if !matches!(line.trim(), "y" | "Y" | "yes") {
        bail!("not answered: the request is still open");
    }
    Ok(())
}

const PART_ONLY: &str = "Only a part of it is in the log; its terminal shows all of it";

/// Whether even the log has only a part of the request.
fn is_cut(ask: &AskCard) -> bool {
    let whole = ask.tool_input.as_ref().is_some_and(|input| !has_clipped_field(input));
    ask.kind != NeedKind::Elicitation && !whole
}

fn open_asks(cards: &[Card]) -> impl Iterator<Item = (&Card, &AskCard)> {
    cards
        .iter()
        .flat_map(|card| card.asks.iter().filter(|a| a.resolution.is_none()).map(move |ask| (card, ask)))
}

/// A request by its id, or the only open request of a session.
fn find_ask<'a>(cards: &'a [Card], target: &str) -> anyhow::Result<&'a AskCard> {
    // An ended request is found too: the daemon then says how it ended.
    if let Some(ask) = cards.iter().flat_map(|card| &card.asks).find(|ask| ask.id == target) {
        return Ok(ask);
    }
    let of_session: Vec<_> = open_asks(cards).filter(|(card, _)| card.id.starts_with(target)).collect();
    match of_session.as_slice() {
        [(_, one)] => Ok(one),
        [] => bail!("{target} has no open request: `flightdeck answer` lists all open requests"),
        many => {
            let ids: Vec<_> = many.iter().map(|(_, ask)| format!("  {}  {}", ask.id, summary(ask))).collect();
            bail!("{target} has {} open requests; name one by its id:\n{}", many.len(), ids.join("\n"))
        }
    }
}

fn list(cards: &[Card], json: bool, out: &mut Out) -> anyhow::Result<u8> {
    let open: Vec<_> = open_asks(cards).collect();
    if json {
        out.json(&open.iter().map(|(_, ask)| ask).collect::<Vec<_>>())?;
    } else if open.is_empty() {
        writeln!(out, "No session waits for an answer.")?;
    }
    for (card, ask) in open.iter().filter(|_| !json) {
        let place = if ask.answerable { "" } else { "  (answer in the terminal)" };
        let project = &card.project.name;
        writeln!(out, "{}  {:<16} {}{place}", short(&card.id), project, summary(ask))?;
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
    flightdeck_core::text::one_line(text.lines().next().unwrap_or_default(), SUMMARY_CHARS_MAX)
}

/// Removes control characters, so that no text can move this terminal's cursor.
fn plain(text: &str) -> String {
    flightdeck_core::text::plain(text)
}

/// The whole request, and the possible answers.
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
        }
        NeedKind::Plan => {
            text += &format!("{}\n", plain(ask.plan().unwrap_or_default()));
        }
        NeedKind::Elicitation => {
            let schema = serde_json::to_string_pretty(&ask.requested_schema).unwrap_or_default();
            text += &format!("{}\n", plain(&schema));
        }
    }
    text += &format!("  {}\n", possible_answers(ask.kind));
    if is_cut(ask) {
        text += &format!("{}\n", draw::paint(out, "31;1", &format!("  {PART_ONLY}")));
    }
    match ask.expires_at {
        Some(until) if ask.answerable => text + &format!("  {} left\n", draw::duration(until - now)),
        _ => text + "  only the terminal can answer this\n",
    }
}

/// The arguments that answer this kind of request.
fn possible_answers(kind: NeedKind) -> &'static str {
    match kind {
        NeedKind::Permission => "allow | deny [--message WHY] [--interrupt]",
        NeedKind::Question => {
            "--pick N or your own words, once per question; `--pick 1,3` where several may be chosen"
        }
        NeedKind::Plan => "allow [--mode acceptEdits] | deny --message WHY",
        NeedKind::Elicitation => "allow --field NAME=VALUE | deny | cancel",
    }
}

fn answer(args: &AnswerArgs, ask: &AskCard) -> anyhow::Result<Answer> {
    let decision = match args.decision {
        Some(DecisionArg::Allow) | None => Decision::Allow,
        Some(DecisionArg::Deny) => Decision::Deny,
        Some(DecisionArg::Cancel) => Decision::Cancel,
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
        ..Answer::plain(decision, AnsweredBy::Cli)
    })
}

fn picks(args: &AnswerArgs, ask: &AskCard) -> anyhow::Result<BTreeMap<String, OneOrMany>> {
    let questions: Vec<&Question> = ask.questions.iter().flatten().collect();
    if questions.is_empty() {
        bail!("--pick answers a question, but this request has none: {}", possible_answers(ask.kind));
    }
    if questions.len() != args.pick.len() {
        bail!(
            "there are {} and {}: give one --pick for each",
            draw::count(questions.len() as u64, "question"),
            draw::count(args.pick.len() as u64, "answer")
        );
    }
    let answers = questions.iter().zip(&args.pick);
    answers.map(|(q, pick)| Ok((q.question.clone(), chosen(q, pick)?))).collect()
}

/// The labels of the chosen numbers; any other text is the person's own words.
fn chosen(question: &Question, pick: &str) -> anyhow::Result<OneOrMany> {
    let options = &question.options;
    let numbers: Result<Vec<usize>, _> = pick.split(',').map(|n| n.trim().parse::<usize>()).collect();
    let Some(numbers) = numbers.ok().filter(|_| !options.iter().any(|o| o.label == pick)) else {
        return Ok(OneOrMany::One(pick.to_owned()));
    };
    let label = |n: usize| {
        let option = n.checked_sub(1).and_then(|at| options.get(at)).map(|o| o.label.clone());
        option.with_context(|| {
            format!(
                "there is no option {n} of {:?}, there are {}; to answer with the number itself, add a word to it",
                question.question,
                options.len()
            )
        })
    };
    let mut labels: Vec<String> = numbers.into_iter().map(label).collect::<anyhow::Result<_>>()?;
    Ok(match labels.len() {
        1 => OneOrMany::One(labels.remove(0)),
        _ => OneOrMany::Many(labels),
    })
}

/// Reads each value as the type that the form gives its field.
fn fields(args: &AnswerArgs, ask: &AskCard) -> anyhow::Result<Map<String, Value>> {
    let mut content = Map::new();
    for field in &args.field {
        let (name, text) = field.split_once('=').with_context(|| format!("{field:?} is not NAME=VALUE"))?;
        let value = match ask.requested_schema.as_ref().and_then(|schema| field_type(schema, name)) {
            None | Some(FieldType::Text) => Value::from(text),
            Some(kind) => serde_json::from_str(text)
                .with_context(|| format!("`{name}` needs a {}, not {text:?}", kind.as_str()))?,
        };
        content.insert(name.to_owned(), value);
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flightdeck_core::approval::card::QuestionOption;
    use flightdeck_core::wire::clip;
    use serde_json::json;

    fn question(labels: &[&str]) -> Question {
        let option = |label: &&str| QuestionOption { label: (*label).to_owned(), description: None };
        let options = labels.iter().map(option).collect();
        Question { question: "Which?".to_owned(), header: None, options, multi_select: true }
    }

    #[test]
    fn a_number_always_means_an_option() {
        let which = question(&["Left", "Right", "7"]);
        let picked = |pick: &str| chosen(&which, pick).map_err(|e| e.to_string());
        assert_eq!(picked("2"), Ok(OneOrMany::One("Right".into())));
        assert_eq!(picked("1, 3"), Ok(OneOrMany::Many(vec!["Left".into(), "7".into()])));
        assert_eq!(picked("7"), Ok(OneOrMany::One("7".into())));
        assert_eq!(picked("straight on"), Ok(OneOrMany::One("straight on".into())));
        for none in ["5", "0", "1,5"] {
            assert!(picked(none).unwrap_err().starts_with("there is no option"), "{none}");
        }
    }

    #[test]
    fn a_shortened_request_is_known_by_its_mark() {
        let cut = |mut input: Value, bytes: usize| {
            let map = input.as_object_mut().unwrap();
            clip::shorten(map, bytes);
            has_clipped_field(map)
        };
        let many: Vec<u32> = (0..3000).collect();
        assert!(!cut(json!({ "content": "short", "deep": { "list": [1, 2] } }), 1000));
        assert!(cut(json!({ "content": "x".repeat(5000) }), 1000));
        assert!(cut(json!({ "deep": { "list": many } }), 8000));
        assert!(cut(json!({ "x".repeat(5000): 1 }), 1000));
    }
}
