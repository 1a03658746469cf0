//! `flightdeck answer`: answers a request of a session from any terminal.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context, bail};
use flightdeck_core::approval::answer::{Answer, Decision, OneOrMany};
use flightdeck_core::approval::card::{AskCard, Question};
use flightdeck_core::approval::form::{FieldType, FormField, field_type, form_fields};
use flightdeck_core::approval::resolution::{AnsweredBy, NeedKind};
use flightdeck_core::view::card::Card;
use flightdeck_protocol::asks::{AnswerAsk, GetAsk};
use serde_json::{Map, Value};

use super::ask_text::{PART_ONLY, in_full, is_cut, possible_answers, summary, without_controls};
use super::lookup::board_cards;
use super::requests::{find_ask, list};
use super::suggestion_text::suggestion_sentence;
use super::{draw, out::Out};
use crate::client::BlockingClient;
use crate::clock;
use crate::paths::Paths;
use crate::program::quoted;

#[derive(Debug, clap::Args)]
pub(super) struct AnswerArgs {
    /// The session (the start of its id, its seat or its pid), `next` for the most urgent request, or the start of a request's id;
    /// without it, all open requests are listed
    target: Option<String>,
    /// The decision; without it, the request is printed
    #[arg(value_enum)]
    decision: Option<DecisionArg>,
    /// A reason without --message; it is refused with the right command
    #[arg(hide = true)]
    words: Vec<String>,
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
    let mut client = BlockingClient::connect(paths)?;
    let cards = board_cards(&mut client)?;
    let Some(target) = &args.target else { return list(&cards, clock::now(), args.json, out) };
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
    refuse_misplaced(args, ask)?;
    let answer = answer(args, ask)?;
    if answer.decision == Decision::Allow {
        refuse_unshared(&cards, ask)?;
        if !args.yes {
            confirm(ask, out)?;
        }
    }
    let resolution = client.call_raw(&AnswerAsk { ask_id: ask.id.clone(), answer: answer.into() })?;
    if args.json {
        out.json(&resolution.json()?)?;
    } else {
        writeln!(out, "{}: {}", summary(ask), resolution.decode()?.how.in_words())?;
    }
    Ok(0)
}

impl AnswerArgs {
    /// The decision of the arguments. `--pick`, `--field` and `--always` mean allow.
    fn decision(&self) -> Decision {
        match self.decision {
            Some(DecisionArg::Allow) | None => Decision::Allow,
            Some(DecisionArg::Deny) => Decision::Deny,
            Some(DecisionArg::Cancel) => Decision::Cancel,
        }
    }

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

/// A request that the session's host does not show cannot be allowed from here.
fn refuse_unshared(cards: &[Card], ask: &AskCard) -> anyhow::Result<()> {
    let card = cards.iter().find(|card| card.id == ask.session_id);
    let unshared = card.filter(|card| card.owner.as_ref().is_some_and(|owner| !owner.shares_payloads));
    match unshared.and_then(|card| card.host.as_ref()) {
        Some(host) => {
            bail!("not answered: {host} shares no payloads, so its requests can be allowed only there")
        }
        None => Ok(()),
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
    write!(out, "{}\n{more}. Allow it? [y/N] ", without_controls(&summary(ask)))?;
    out.flush()?;
    let mut line = String::new();
    input.lock().read_line(&mut line)?;
    if !matches!(line.trim(), "y" | "Y" | "yes") {
        bail!("not answered: the request is still open");
    }
    Ok(())
}

/// Refuses what the daemon would refuse too, with the argument that is missing or that belongs elsewhere.
fn refuse_misplaced(args: &AnswerArgs, ask: &AskCard) -> anyhow::Result<()> {
    let decision = args.decision();
    if !args.words.is_empty() {
        let why = quoted(&args.words.join(" "));
        bail!("not answered: a reason follows --message, as in `deny --message {why}`");
    }
    if args.message.is_some() && ask.kind == NeedKind::Elicitation {
        bail!("not answered: a form takes no --message: {}", possible_answers(ask.kind));
    }
    if args.message.is_some() && decision != Decision::Deny {
        bail!("not answered: --message belongs to deny; to allow it, leave --message out");
    }
    match (decision, ask.kind) {
        (Decision::Allow, NeedKind::Question) if args.pick.is_empty() => bail!(needs_pick(ask)),
        (Decision::Allow, NeedKind::Elicitation) => refuse_empty_fields(args, ask),
        _ => Ok(()),
    }
}

fn needs_pick(ask: &AskCard) -> String {
    let mut text =
        "not answered: choose with --pick N or --pick 'your own words', once per question:".to_owned();
    for question in ask.questions.iter().flatten() {
        text += &without_controls(&format!("\n  {} ({})", question.question, numbered_labels(question)));
    }
    text
}

/// `1 Nights only, 2 Any time`
fn numbered_labels(question: &Question) -> String {
    numbered(question.options.iter().map(|option| option.label.clone()))
}

fn numbered(texts: impl Iterator<Item = String>) -> String {
    texts.enumerate().map(|(n, text)| format!("{} {text}", n + 1)).collect::<Vec<_>>().join(", ")
}

fn refuse_empty_fields(args: &AnswerArgs, ask: &AskCard) -> anyhow::Result<()> {
    let given: Vec<&str> = args.field.iter().filter_map(|field| Some(field.split_once('=')?.0)).collect();
    let mut required = ask.requested_schema.iter().flat_map(form_fields).filter(|field| field.is_required);
    match required.find(|field| !given.contains(&field.name)) {
        Some(FormField { name, .. }) => {
            bail!("not answered: the form needs {name:?}: add --field {name}=VALUE")
        }
        None => Ok(()),
    }
}

fn answer(args: &AnswerArgs, ask: &AskCard) -> anyhow::Result<Answer> {
    let decision = args.decision();
    let answers = if args.pick.is_empty() { None } else { Some(picked_options(args, ask)?) };
    let always = args.always.map(|n| {
        let chosen = n.checked_sub(1).and_then(|i| ask.suggestions.get(i)).cloned();
        chosen.map(|c| vec![c]).with_context(|| no_suggestion(n, ask))
    });
    Ok(Answer {
        message: args.message.clone(),
        interrupt: args.interrupt.then_some(true),
        updated_permissions: always.transpose()?,
        answers,
        content: if args.field.is_empty() { None } else { Some(fields(args, ask)?) },
        mode: args.mode.clone(),
        ..Answer::without_details(decision, AnsweredBy::Cli)
    })
}

fn picked_options(args: &AnswerArgs, ask: &AskCard) -> anyhow::Result<BTreeMap<String, OneOrMany>> {
    let questions: Vec<&Question> = ask.questions.iter().flatten().collect();
    if questions.is_empty() {
        bail!("--pick answers a question, but this request has none: {}", possible_answers(ask.kind));
    }
    if questions.len() != args.pick.len() {
        bail!(
            "{} but {}: give one --pick for each question",
            draw::count(questions.len() as u64, "question"),
            draw::count(args.pick.len() as u64, "answer")
        );
    }
    let answers = questions.iter().zip(&args.pick);
    answers.map(|(q, pick)| Ok((q.question.clone(), chosen(q, pick)?))).collect()
}

fn no_suggestion(n: usize, ask: &AskCard) -> String {
    match ask.suggestions.as_slice() {
        [] => format!("there is no suggestion {n}: nothing was suggested to remember"),
        some => without_controls(&format!(
            "there is no suggestion {n}; there are: {}",
            numbered(some.iter().map(suggestion_sentence))
        )),
    }
}

/// The labels of the chosen numbers. A label may be written in any case. Any other text is an answer in the person's own words.
fn chosen(question: &Question, pick: &str) -> anyhow::Result<OneOrMany> {
    let options = &question.options;
    let numbers: Result<Vec<usize>, _> = pick.split(',').map(|n| n.trim().parse::<usize>()).collect();
    let named = options.iter().find(|o| o.label.to_lowercase() == pick.trim().to_lowercase());
    let Some(numbers) = numbers.ok().filter(|_| named.is_none()) else {
        return Ok(OneOrMany::One(named.map_or(pick, |option| &option.label).to_owned()));
    };
    let label = |n: usize| {
        let option = n.checked_sub(1).and_then(|at| options.get(at)).map(|o| o.label.clone());
        option.with_context(|| {
            format!(
                "there is no option {n} of {:?}, there are: {}; to answer with the number itself, add a word to it",
                question.question,
                without_controls(&numbered_labels(question))
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
        assert_eq!(picked(" left"), Ok(OneOrMany::One("Left".into())));
        for none in ["5", "0", "1,5"] {
            assert!(picked(none).unwrap_err().starts_with("there is no option"), "{none}");
        }
        assert!(picked("5").unwrap_err().contains("there are: 1 Left, 2 Right, 3 7"));
    }
}
