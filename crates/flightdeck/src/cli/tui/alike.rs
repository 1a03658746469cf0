//! Requests that are alike: the list shows them as one line and one key answers all, by the rule of the page (decision 0018).

use std::collections::BTreeMap;

use flightdeck_core::approval::card::AskCard;
use flightdeck_core::approval::resolution::NeedKind;
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_core::session::state_name::Group;
use flightdeck_core::view::card::Card;
use flightdeck_core::wire::suggestion::{PermissionRule, SuggestedChange, Suggestion};
use serde_json::{Map, Value};

use super::super::ask_text::is_cut;
use super::super::owner;

/// Longest input that is answered together with others, as on a card of the page. A longer one is read by itself.
const INPUT_LINES_MAX: usize = 12;
const INPUT_CHARS_MAX: usize = 700;
/// Most requests that are remembered as shown one by one; the program may run for days.
const SPLIT_MAX: usize = 500;

/// For each session whose line stands for several: all of these sessions, itself first.
pub(super) type Bunches = BTreeMap<SessionId, Vec<SessionId>>;

/// Requests that the person wants to see one by one.
#[derive(Debug, Default)]
pub(super) struct SplitAsks(Vec<AskId>);

impl SplitAsks {
    pub(super) fn add(&mut self, asks: Vec<AskId>) {
        self.0.extend(asks);
        self.0.drain(..self.0.len().saturating_sub(SPLIT_MAX));
    }

    fn contains(&self, ask: &AskCard) -> bool {
        self.0.contains(&ask.id)
    }
}

/// The only request of the session that can be answered here, if it may be answered together with others.
pub(super) fn plain_ask(card: &Card) -> Option<&AskCard> {
    if owner::refusal(card, "answer").or_else(|| owner::allow_refusal(card)).is_some() {
        return None;
    }
    let mut open = card.asks.iter().filter(|ask| ask.resolution.is_none() && ask.answerable);
    let only = open.next().filter(|_| open.next().is_none())?;
    let is_plain = only.kind == NeedKind::Permission && only.caution.is_none() && !is_cut(only);
    (is_plain && only.tool_input.as_ref().is_some_and(is_short)).then_some(only)
}

fn is_short(input: &Map<String, Value>) -> bool {
    let texts: Vec<String> = input.values().map(text).collect();
    let lines: usize = texts.iter().map(|text| text.split('\n').count()).sum();
    let chars: usize = texts.iter().map(|text| text.chars().count()).sum();
    lines <= INPUT_LINES_MAX && chars <= INPUT_CHARS_MAX
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    }
}

/// The bunches among cards in the order of the board. If a bunch contains the selected session, that session stands for it. Otherwise the
/// session that stood for it before does, or else its first session.
pub(super) fn bunches(
    cards: &[&Card],
    split: &SplitAsks,
    before: &Bunches,
    selected: Option<&SessionId>,
) -> Bunches {
    let stands = |alike: &[SessionId]| {
        let mut ids = alike.iter();
        let chosen = ids.clone().find(|id| Some(*id) == selected);
        chosen.or_else(|| ids.find(|id| before.contains_key(*id))).or(alike.first()).cloned()
    };
    let several = alike_groups(cards, split).into_iter().filter(|alike| alike.len() > 1);
    several
        .filter_map(|alike| {
            let leader = stands(&alike)?;
            let others = alike.into_iter().filter(|id| *id != leader);
            Some((leader.clone(), std::iter::once(leader.clone()).chain(others).collect()))
        })
        .collect()
}

fn alike_groups(cards: &[&Card], split: &SplitAsks) -> Vec<Vec<SessionId>> {
    let mut groups: Vec<Vec<SessionId>> = Vec::new();
    let mut group_of: BTreeMap<String, usize> = BTreeMap::new();
    let waiting = cards.iter().filter(|card| card.agent_state.group == Group::NeedsYou);
    for (card, ask) in waiting.filter_map(|card| Some((card, plain_ask(card)?))) {
        if split.contains(ask) {
            continue;
        }
        let texts = likenesses(ask);
        let known = texts.iter().find_map(|text| group_of.get(text).copied());
        let group = known.unwrap_or_else(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(card.id.clone());
        for text in texts {
            group_of.entry(text).or_insert(group);
        }
    }
    groups
}

/// Two requests that share one of these texts are alike: the same tool and input, or the same suggested rule.
fn likenesses(ask: &AskCard) -> Vec<String> {
    let tool = ask.tool_name.as_deref().unwrap_or_default();
    let same_input = format!("input {tool} {}", Value::Object(input_that_counts(ask)));
    std::iter::once(same_input).chain(narrow_rule(ask)).collect()
}

/// The description of a command is left out, because it only explains the command.
pub(super) fn input_that_counts(ask: &AskCard) -> Map<String, Value> {
    let mut input = ask.tool_input.clone().unwrap_or_default();
    if input.contains_key("command") {
        input.shift_remove("description");
    }
    input
}

/// The first suggestion, if it is a rule with a content: "every Edit" would make all edits alike.
fn narrow_rule(ask: &AskCard) -> Option<String> {
    let SuggestedChange::AddRules { behavior, rules } = Suggestion::parse(ask.suggestions.first()?).change
    else {
        return None;
    };
    let is_narrow = |rule: &PermissionRule<'_>| rule.content.is_some_and(|text| !text.is_empty());
    let is_shared = behavior != "deny" && !rules.is_empty() && rules.iter().all(is_narrow);
    is_shared.then(|| format!("rule {rules:?}"))
}

/// The sessions by their input, in the order of the first of each.
pub(super) fn by_input<'a>(cards: &[&'a Card]) -> Vec<(&'a AskCard, Vec<&'a Card>)> {
    let mut inputs: Vec<(&AskCard, Vec<&Card>)> = Vec::new();
    for (card, ask) in cards.iter().filter_map(|card| Some((*card, plain_ask(card)?))) {
        let same = |(other, _): &&mut (&AskCard, Vec<&Card>)| {
            other.tool_name == ask.tool_name && input_that_counts(other) == input_that_counts(ask)
        };
        match inputs.iter_mut().find(same) {
            Some((_, members)) => members.push(card),
            None => inputs.push((ask, vec![card])),
        }
    }
    inputs
}

/// The suggestion that makes different requests alike.
pub(super) fn shared_rule<'a>(asks: impl Iterator<Item = &'a AskCard>) -> Option<&'a Value> {
    asks.filter(|ask| narrow_rule(ask).is_some()).find_map(|ask| ask.suggestions.first())
}
