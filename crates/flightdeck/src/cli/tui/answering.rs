//! The answer keys: which request they act on, the two seconds in which an answer can be taken back, and which request is next.

use flightdeck_core::approval::answer::{Answer, Decision};
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::approval::resolution::NeedKind;
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_core::time::Millis;

use super::super::ask_text::summary;
use super::super::owner;
use super::alike;
use super::answers;
use super::input::{FormInput, InputPurpose, TextInput};
use super::keys::KeyAction;
use super::message::TuiCommand;
use super::model::{ConnectionState, Model, OpenQuestion, PendingAnswer};

/// How long an answer waits before it is sent, as on the page (decision 0018).
const ANSWER_DELAY: Millis = Millis::seconds(2);

/// Most different inputs of requests that are alike that are listed before the person asks for all of them, as on the page.
pub(super) const INPUTS_FIRST: usize = 3;

/// An answer key other than a digit.
pub(super) fn press_answer_key(model: &mut Model, key: KeyAction) -> Vec<TuiCommand> {
    if key == KeyAction::Undo {
        undo(model);
        return Vec::new();
    }
    // A second press of the same key sends the waiting answer at once. So it never answers the next request by accident.
    if model.pending.as_ref().is_some_and(|pending| pending.key == key) {
        return send_now(model);
    }
    let ask = match ready_ask(model) {
        Ok(ask) => ask,
        Err(why) => {
            model.refuse(why);
            return without_field(model, key);
        }
    };
    model.choices.select_ask(&ask);
    match model.selected_bunch().len() {
        0 => press_ask_key(model, &ask, key),
        _ => act_on_all(model, key),
    }
}

/// Called for a refused key. If the key would have opened a text field, the text that follows must not act on the board.
fn without_field(model: &mut Model, key: KeyAction) -> Vec<TuiCommand> {
    if matches!(key, KeyAction::OwnWords | KeyAction::DenyWithReason) {
        model.swallow_typing(Some(key));
    }
    Vec::new()
}

/// The selected line stands for several requests that are alike.
fn act_on_all(model: &mut Model, key: KeyAction) -> Vec<TuiCommand> {
    let bunch = model.selected_bunch();
    let asks: Vec<AskId> = bunch.iter().filter_map(|card| Some(alike::plain_ask(card)?.id.clone())).collect();
    let inputs = alike::by_input(&bunch).len();
    match key {
        KeyAction::Allow if inputs > INPUTS_FIRST && model.all_inputs_of.as_ref() != asks.first() => {
            model.all_inputs_of = asks.first().cloned();
            model.show_note(format!("all {inputs} are listed now: press again to allow them"));
            Vec::new()
        }
        KeyAction::Allow => give_all(model, asks, key, Decision::Allow),
        KeyAction::Deny => give_all(model, asks, key, Decision::Deny),
        KeyAction::OneByOne => {
            model.split.add(asks);
            model.forget_listing();
            Vec::new()
        }
        _ => {
            model.refuse("these are answered together: u shows them one by one");
            without_field(model, key)
        }
    }
}

fn give_all(model: &mut Model, asks: Vec<AskId>, key: KeyAction, decision: Decision) -> Vec<TuiCommand> {
    let words = format!("{} {}", answers::done_words(NeedKind::Permission, decision), asks.len());
    hold_back(model, asks, key, answers::answer_without_details(decision), words)
}

fn press_ask_key(model: &mut Model, ask: &AskCard, key: KeyAction) -> Vec<TuiCommand> {
    let is_question = ask.kind == NeedKind::Question;
    match key {
        KeyAction::Allow => allow(model, ask),
        KeyAction::Always => match ask.suggestions.len() {
            0 => refuse(model, "nothing is suggested to be always allowed"),
            1 => allow_with_suggestion(model, &ask.id, 0),
            _ => {
                model.question = Some(OpenQuestion::Suggestion(ask.id.clone()));
                Vec::new()
            }
        },
        KeyAction::Deny => confirm_or_send(model, ask, key, answers::deny(ask, None)),
        KeyAction::DenyWithReason if ask.kind != NeedKind::Elicitation => {
            open(model, InputPurpose::Reason(ask.id.clone()))
        }
        KeyAction::OwnWords if is_question => {
            open(model, InputPurpose::OwnWords { ask: ask.id.clone(), question: model.choices.question })
        }
        KeyAction::QuestionBefore | KeyAction::QuestionAfter if is_question => {
            model.choices.step_question(ask, if key == KeyAction::QuestionAfter { 1 } else { -1 });
            Vec::new()
        }
        _ => {
            model.refuse(why_no_answer(key));
            without_field(model, key)
        }
    }
}

fn why_no_answer(key: KeyAction) -> &'static str {
    match key {
        KeyAction::OneByOne => "this line is one request: there is nothing to show one by one",
        KeyAction::QuestionBefore | KeyAction::QuestionAfter => {
            "[ and ] go between questions, and this asks none"
        }
        KeyAction::OwnWords => "only a question is answered in your own words; D denies and says why",
        KeyAction::DenyWithReason => "a form takes no reason: d declines it",
        _ => "this key does not fit the request",
    }
}

fn allow(model: &mut Model, ask: &AskCard) -> Vec<TuiCommand> {
    if let Some(form) = FormInput::new(ask) {
        return open(model, InputPurpose::Field(form));
    }
    match answers::allow(ask, &model.choices) {
        Ok(answer) => confirm_or_send(model, ask, KeyAction::Allow, answer),
        Err(why) => refuse(model, &why),
    }
}

/// Allows with one of the suggestions.
pub(super) fn allow_with_suggestion(model: &mut Model, id: &AskId, suggestion: usize) -> Vec<TuiCommand> {
    let Some(ask) = model.selected_ask().filter(|ask| ask.id == *id).cloned() else {
        return refuse_closed_ask(model);
    };
    match answers::allow_always(&ask, suggestion) {
        Ok(answer) => confirm_or_send(model, &ask, KeyAction::Always, answer),
        Err(why) => refuse(model, &why),
    }
}

/// A digit chooses an option of a question, or a suggestion.
pub(super) fn digit(model: &mut Model, digit: usize) -> Vec<TuiCommand> {
    let ask = match ready_ask(model) {
        Ok(ask) => ask,
        Err(why) => return refuse(model, &why),
    };
    model.choices.select_ask(&ask);
    if ask.kind != NeedKind::Question {
        return refuse(model, "digits choose the options of a question");
    }
    match model.choices.choose(&ask, digit - 1) {
        Ok(true) => allow(model, &ask),
        Ok(false) => Vec::new(),
        Err(why) => refuse(model, &why),
    }
}

/// Uses what the person typed: a reason, an answer in their own words, or a field of a form.
pub(super) fn finish_text(model: &mut Model, purpose: InputPurpose, text: &str) -> Vec<TuiCommand> {
    let id = match &purpose {
        InputPurpose::Reason(ask) | InputPurpose::OwnWords { ask, .. } => ask.clone(),
        InputPurpose::Field(form) => form.ask.clone(),
        InputPurpose::Search | InputPurpose::Prompt(_) => return Vec::new(),
    };
    let Some(ask) = model.selected_ask().filter(|ask| ask.id == id).cloned() else {
        return refuse_closed_ask(model);
    };
    match purpose {
        InputPurpose::Reason(_) => {
            confirm_or_send(model, &ask, KeyAction::DenyWithReason, answers::deny(&ask, Some(text)))
        }
        InputPurpose::OwnWords { .. } if text.trim().is_empty() => Vec::new(),
        InputPurpose::OwnWords { question, .. } => {
            match model.choices.answer_in_own_words(&ask, question, text.trim()) {
                true => allow(model, &ask),
                false => Vec::new(),
            }
        }
        InputPurpose::Field(form) => fill_field(model, &ask, form, text.trim()),
        InputPurpose::Search | InputPurpose::Prompt(_) => Vec::new(),
    }
}

fn fill_field(model: &mut Model, ask: &AskCard, mut form: FormInput, text: &str) -> Vec<TuiCommand> {
    match form.fill(text) {
        Ok(true) => confirm_or_send(model, ask, KeyAction::Allow, answers::allow_form(form.content)),
        Ok(false) => open(model, InputPurpose::Field(form)),
        Err(why) => {
            model.input = Some(TextInput::new(InputPurpose::Field(form), text));
            refuse(model, &why)
        }
    }
}

fn open(model: &mut Model, purpose: InputPurpose) -> Vec<TuiCommand> {
    model.input = Some(TextInput::new(purpose, ""));
    Vec::new()
}

fn refuse(model: &mut Model, why: &str) -> Vec<TuiCommand> {
    model.refuse(why);
    Vec::new()
}

fn refuse_closed_ask(model: &mut Model) -> Vec<TuiCommand> {
    refuse(model, "that request is over")
}

/// The request that an answer key acts on, or why none can be answered now.
fn ready_ask(model: &mut Model) -> Result<AskCard, String> {
    if model.link != ConnectionState::Live {
        return Err("the daemon does not answer: nothing was sent".to_owned());
    }
    let ask = model.selected_ask().ok_or("the selected session asks nothing")?;
    let card = model.selected_card().ok_or("no session is selected")?;
    if answers::answerable_ask(card).is_none() {
        return Err(answers::not_answerable(card));
    }
    if model.pending.as_ref().is_some_and(|pending| pending.asks.contains(&ask.id)) {
        return Err("it is answered already: z takes it back".to_owned());
    }
    if model.ask_has_just_changed() {
        return Err("the request has just changed: look at it and press again".to_owned());
    }
    let ask = ask.clone();
    if !model.shows_detail() {
        model.chosen_detail = Some(true);
        return Err("read the request and press again".to_owned());
    }
    Ok(ask)
}

/// A request that cannot be undone is allowed only by a second press.
fn confirm_or_send(model: &mut Model, ask: &AskCard, key: KeyAction, answer: Answer) -> Vec<TuiCommand> {
    let hidden = model.selected_card().and_then(owner::allow_refusal);
    if let Some(why) = hidden.filter(|_| answer.decision == Decision::Allow) {
        return refuse(model, &why);
    }
    match answers::needs_second_press(ask).filter(|_| answer.decision == Decision::Allow) {
        Some(why) => {
            let (ask, answer) = (ask.id.clone(), Box::new(answer));
            model.question = Some(OpenQuestion::SecondPress { ask, key, answer, why });
            Vec::new()
        }
        None => wait_and_send(model, &ask.id.clone(), key, answer),
    }
}

/// Holds the answer back for [`ANSWER_DELAY`] and selects the next request. An answer that was already waiting is sent now.
pub(super) fn wait_and_send(
    model: &mut Model,
    id: &AskId,
    key: KeyAction,
    answer: Answer,
) -> Vec<TuiCommand> {
    let Some(ask) = model.selected_ask().filter(|ask| ask.id == *id) else { return refuse_closed_ask(model) };
    let words = format!("{}: {}", answers::done_words(ask.kind, answer.decision), summary(ask));
    hold_back(model, vec![id.clone()], key, answer, words)
}

fn hold_back(
    model: &mut Model,
    asks: Vec<AskId>,
    key: KeyAction,
    answer: Answer,
    words: String,
) -> Vec<TuiCommand> {
    let Some(session) = model.selected.clone() else { return refuse_closed_ask(model) };
    let due = model.now + ANSWER_DELAY;
    let before = send_now(model);
    model.pending = Some(PendingAnswer { session, asks, answer: Box::new(answer), key, words, due });
    if let Some(next) = next_ask(model) {
        model.select_by_itself(&next);
    }
    before
}

/// The next session in the order of the board whose request can be answered here.
fn next_ask(model: &Model) -> Option<SessionId> {
    let order = &model.listing.order;
    let pending = model.pending.as_ref()?;
    let after = (1..order.len()).map(|step| &order[(model.selected_at() + step) % order.len()]);
    let mut asking = after.filter(|id| {
        let ask = model.board.card(id).and_then(answers::answerable_ask);
        ask.is_some_and(|ask| !pending.asks.contains(&ask.id))
    });
    asking.next().cloned()
}

fn undo(model: &mut Model) {
    match model.pending.take() {
        Some(pending) => {
            // If its line stands for requests that are alike, it is the line of this session again.
            model.forget_listing();
            model.select(&pending.session);
            model.show_note("taken back: nothing was sent");
        }
        None => model.refuse("there is nothing to take back"),
    }
}

pub(super) fn send_now(model: &mut Model) -> Vec<TuiCommand> {
    let Some(pending) = model.pending.take() else { return Vec::new() };
    let commands = pending.calls().map(TuiCommand::Call).collect();
    model.show_note(pending.words);
    commands
}

pub(super) fn send_if_due(model: &mut Model) -> Vec<TuiCommand> {
    let is_due = model.pending.as_ref().is_some_and(|pending| pending.due <= model.now);
    if is_due { send_now(model) } else { Vec::new() }
}
