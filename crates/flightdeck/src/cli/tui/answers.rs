//! Turns keys into answers: what a key means for a request, without sending anything.

use std::collections::{BTreeMap, BTreeSet};

use flightdeck_core::approval::answer::{Answer, Decision, OneOrMany};
use flightdeck_core::approval::card::{AskCard, Question};
use flightdeck_core::approval::resolution::{AnsweredBy, NeedKind};
use flightdeck_core::ids::AskId;
use flightdeck_core::view::card::Card;
use serde_json::{Map, Value};

use super::super::ask_text::is_cut;
use super::super::owner;
use super::super::suggestion_text;

/// What was chosen so far of the questions of an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choices {
    pub(super) ask: Option<AskId>,
    /// The question that digits answer.
    pub(super) question: usize,
    chosen: BTreeMap<usize, BTreeSet<usize>>,
    own_words: BTreeMap<usize, String>,
}

/// The request of a session that answer keys act on: the first that can be answered here, else the first open one.
pub(super) fn current_ask(card: &Card) -> Option<&AskCard> {
    let mut open = card.asks.iter().filter(|ask| ask.resolution.is_none());
    let first = open.clone().next();
    open.find(|ask| ask.answerable).or(first)
}

/// The request that answer keys act on, if it can be answered here: its hook waits, and its machine accepts answers.
pub(super) fn answerable_ask(card: &Card) -> Option<&AskCard> {
    current_ask(card).filter(|ask| ask.answerable && owner::refusal(card, "answer").is_none())
}

/// Why the request cannot be answered here.
pub(super) fn not_answerable(card: &Card) -> String {
    owner::refusal(card, "answer")
        .unwrap_or_else(|| "only its terminal can answer this: Enter goes there".to_owned())
}

pub(super) fn answer_without_details(decision: Decision) -> Answer {
    Answer::without_details(decision, AnsweredBy::Tui)
}

/// Why an allowed request needs a second press.
pub(super) fn needs_second_press(ask: &AskCard) -> Option<String> {
    match &ask.caution {
        Some(why) => Some(format!("{why}: this cannot be undone")),
        None if is_cut(ask) => Some("only a part of the request is shown".to_owned()),
        None => None,
    }
}

/// The answer that allows, approves or sends. `Err` says what is missing. The fields of a form must be filled in before.
pub(super) fn allow(ask: &AskCard, choices: &Choices) -> Result<Answer, String> {
    match ask.kind {
        NeedKind::Permission | NeedKind::Plan | NeedKind::Elicitation => {
            Ok(answer_without_details(Decision::Allow))
        }
        NeedKind::Question => {
            Ok(Answer { answers: Some(choices.answers(ask)?), ..answer_without_details(Decision::Allow) })
        }
    }
}

pub(super) fn allow_form(content: Map<String, Value>) -> Answer {
    Answer { content: Some(content), ..answer_without_details(Decision::Allow) }
}

/// Allows with the suggestion of this number, counted from 0.
pub(super) fn allow_always(ask: &AskCard, suggestion: usize) -> Result<Answer, String> {
    let suggested = ask.suggestions.get(suggestion).cloned();
    let suggested = suggested.ok_or_else(|| format!("there is no suggestion {}", suggestion + 1))?;
    Ok(Answer { updated_permissions: Some(vec![suggested]), ..answer_without_details(Decision::Allow) })
}

pub(super) fn deny(ask: &AskCard, reason: Option<&str>) -> Answer {
    let reason =
        reason.map(str::trim).filter(|reason| !reason.is_empty() && ask.kind != NeedKind::Elicitation);
    Answer { message: reason.map(str::to_owned), ..answer_without_details(Decision::Deny) }
}

/// The verb for the line at the bottom: what was done to which kind of request.
pub(super) fn done_words(kind: NeedKind, decision: Decision) -> &'static str {
    match (kind, decision) {
        (NeedKind::Permission, Decision::Allow) => "allowed",
        (NeedKind::Permission, _) => "denied",
        (NeedKind::Question, Decision::Allow) => "answered",
        (NeedKind::Question, _) => "not answered",
        (NeedKind::Plan, Decision::Allow) => "approved",
        (NeedKind::Plan, _) => "rejected",
        (NeedKind::Elicitation, Decision::Allow) => "sent",
        (NeedKind::Elicitation, _) => "declined",
    }
}

/// What the suggestions change, in words.
pub(super) fn suggestions(ask: &AskCard) -> Vec<String> {
    let words = |suggestion| {
        flightdeck_core::text::without_controls(&suggestion_text::suggestion_sentence(suggestion))
    };
    ask.suggestions.iter().map(words).collect()
}

impl Choices {
    /// Starts again if they are about another ask.
    pub(super) fn select_ask(&mut self, ask: &AskCard) {
        if self.ask.as_ref() != Some(&ask.id) {
            *self = Self { ask: Some(ask.id.clone()), ..Self::default() };
        }
    }

    pub(super) fn is_chosen(&self, question: usize, option: usize) -> bool {
        self.chosen.get(&question).is_some_and(|chosen| chosen.contains(&option))
    }

    pub(super) fn own_words(&self, question: usize) -> Option<&str> {
        self.own_words.get(&question).map(String::as_str)
    }

    /// Chooses an option of the present question, counted from 0. True if all is answered by it, so that it can be sent.
    pub(super) fn choose(&mut self, ask: &AskCard, option: usize) -> Result<bool, String> {
        let questions = ask.questions.as_deref().unwrap_or_default();
        let Some(question) = questions.get(self.question).filter(|question| option < question.options.len())
        else {
            return Err(format!("there is no option {}", option + 1));
        };
        let chosen = self.chosen.entry(self.question).or_default();
        self.own_words.remove(&self.question);
        if question.multi_select {
            if !chosen.remove(&option) {
                chosen.insert(option);
            }
            return Ok(false);
        }
        *chosen = BTreeSet::from([option]);
        Ok(self.go_on(questions))
    }

    /// Answers a question in the person's own words. True if all is answered by it.
    pub(super) fn answer_in_own_words(&mut self, ask: &AskCard, question: usize, words: &str) -> bool {
        self.question = question;
        self.chosen.remove(&question);
        self.own_words.insert(question, words.to_owned());
        self.go_on(ask.questions.as_deref().unwrap_or_default())
    }

    /// Goes to the first question without an answer. True if there is none, and none where several may be chosen.
    fn go_on(&mut self, questions: &[Question]) -> bool {
        let open = (0..questions.len()).find(|n| self.answer(*n, questions).is_none());
        self.question = open.unwrap_or(self.question);
        open.is_none() && !questions.iter().any(|question| question.multi_select)
    }

    pub(super) fn step_question(&mut self, ask: &AskCard, by: isize) {
        let count = ask.questions.as_ref().map_or(0, Vec::len);
        self.question = self.question.saturating_add_signed(by).min(count.saturating_sub(1));
    }

    fn answer(&self, n: usize, questions: &[Question]) -> Option<OneOrMany> {
        if let Some(words) = self.own_words.get(&n) {
            return Some(OneOrMany::One(words.clone()));
        }
        let question = questions.get(n)?;
        let chosen = self.chosen.get(&n).into_iter().flatten();
        let mut labels: Vec<String> =
            chosen.filter_map(|option| Some(question.options.get(*option)?.label.clone())).collect();
        match labels.len() {
            0 => None,
            1 => Some(OneOrMany::One(labels.remove(0))),
            _ => Some(OneOrMany::Many(labels)),
        }
    }

    fn answers(&self, ask: &AskCard) -> Result<BTreeMap<String, OneOrMany>, String> {
        let questions = ask.questions.as_deref().unwrap_or_default();
        let answer = |(n, question): (usize, &Question)| {
            let missing = || "choose an option with its digit first".to_owned();
            Ok((question.question.clone(), self.answer(n, questions).ok_or_else(missing)?))
        };
        questions.iter().enumerate().map(answer).collect()
    }
}
