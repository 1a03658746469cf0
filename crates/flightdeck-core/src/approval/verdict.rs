//! An answer in the client's format: what a held hook prints, as the real client accepts it
//! (captures `permhook`, `ask_hook`, `plan_hook`; `cargo xtask e2e answer`).

use serde_json::{Map, Value, json};

use super::answer::{Answer, Decision, OneOrMany};
use super::card::{Question, questions};
use super::form;
use super::resolution::{AnsweredBy, NeedKind};
use crate::limits::{ANSWER_BYTES_MAX, ANSWER_TEXT_BYTES_MAX, PAYLOAD_DEPTH_MAX};
use crate::wire::clip;
use crate::wire::lenient::{borrowed_text, flag, list, object};

/// Why an answer is not valid for its ask, as a sentence for the person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidAnswer(String);

/// The model reads these if the person gave no reason.
const DENIED: &str = "The user denied this in Flightdeck.";
const NOT_ANSWERED: &str = "The user chose not to answer.";
const PLAN_REJECTED: &str = "The user rejected the plan in Flightdeck.";

/// Permission modes in which the client may continue after a plan: the same as in its own dialog.
const PLAN_MODES: [&str; 2] = ["default", "acceptEdits"];

/// Translates an answer into the text that the hook prints. `payload` is the request from the log.
pub fn verdict(
    kind: NeedKind,
    payload: &Map<String, Value>,
    answer: &Answer,
) -> Result<Value, InvalidAnswer> {
    check_unexpected_fields(kind, answer)?;
    if kind == NeedKind::Elicitation {
        return elicitation_output(payload, answer);
    }
    let decision = match answer.decision {
        Decision::Cancel => return refuse("only an elicitation can be cancelled; allow or deny"),
        Decision::Deny => deny_output(kind, answer),
        Decision::Allow => allow_output(kind, payload, answer)?,
    };
    Ok(json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } }))
}

/// Checks an answer that was sent to the daemon: its size, and fields that only Flightdeck itself may set.
pub fn check_sender(answer: &Answer) -> Result<(), InvalidAnswer> {
    let bytes = serde_json::to_vec(answer).map_or(usize::MAX, |json| json.len());
    if bytes > ANSWER_BYTES_MAX {
        return refuse(format!("an answer may be {ANSWER_BYTES_MAX} bytes long, and this one has {bytes}"));
    }
    // A deeper payload could not be read back from the log.
    if answer.content.iter().flat_map(Map::values).any(|value| depth(value) > PAYLOAD_DEPTH_MAX) {
        return refuse(format!("`content` may be nested {PAYLOAD_DEPTH_MAX} deep"));
    }
    match (answer.answered_by(), &answer.rule) {
        (AnsweredBy::Policy | AnsweredBy::Terminal, _) => refuse("`via` is one of web, cli, tui and api"),
        (_, Some(_)) => refuse("`rule` is for answers of the policy"),
        _ => Ok(()),
    }
}

/// What a held hook prints after the person left its request with Esc in the terminal. Only the hook of a form prints
/// something: without it, the client would open the form although the person left it (decision 0011).
pub fn left_in_terminal(kind: NeedKind) -> Option<Value> {
    let cancel = json!({ "hookSpecificOutput": { "hookEventName": "Elicitation", "action": "cancel" } });
    (kind == NeedKind::Elicitation).then_some(cancel)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn refuse<T>(why: impl Into<String>) -> Result<T, InvalidAnswer> {
    Err(InvalidAnswer(why.into()))
}

/// Refuses fields that have no meaning for this ask and decision.
fn check_unexpected_fields(kind: NeedKind, answer: &Answer) -> Result<(), InvalidAnswer> {
    let allows = answer.decision == Decision::Allow;
    let given = [
        (answer.updated_permissions.is_some(), "updated_permissions", kind == NeedKind::Permission && allows),
        (answer.answers.is_some(), "answers", kind == NeedKind::Question && allows),
        (answer.content.is_some(), "content", kind == NeedKind::Elicitation && allows),
        (answer.mode.is_some(), "mode", kind == NeedKind::Plan && allows),
        (
            answer.interrupt == Some(true),
            "interrupt",
            kind != NeedKind::Elicitation && answer.decision == Decision::Deny,
        ),
        (
            answer.message.is_some(),
            "message",
            kind != NeedKind::Elicitation && answer.decision == Decision::Deny,
        ),
    ];
    match given.iter().find(|(given, _, fits)| *given && !fits) {
        Some((_, field, _)) => {
            refuse(format!("`{field}` is not a field for this kind of request and this decision"))
        }
        None => Ok(()),
    }
}

fn deny_output(kind: NeedKind, answer: &Answer) -> Value {
    let otherwise = match kind {
        NeedKind::Question => NOT_ANSWERED,
        NeedKind::Plan => PLAN_REJECTED,
        _ => DENIED,
    };
    let message = answer.message.as_deref().map(str::trim).filter(|m| !m.is_empty()).unwrap_or(otherwise);
    let mut decision = json!({ "behavior": "deny", "message": message });
    if answer.interrupt == Some(true) {
        decision["interrupt"] = json!(true);
    }
    decision
}

/// The decision of an allowed request. It contains `updatedInput` only if the client requires that, because `updatedInput` makes the client
/// check its rules again.
fn allow_output(
    kind: NeedKind,
    payload: &Map<String, Value>,
    answer: &Answer,
) -> Result<Value, InvalidAnswer> {
    let mut decision = json!({ "behavior": "allow" });
    // `updatedInput` replaces the input of the call, so a clipped input would lose the rest of the question or plan.
    let is_cut = payload.contains_key(clip::MARK) || flag(payload, "truncated");
    if is_cut && matches!(kind, NeedKind::Question | NeedKind::Plan) {
        return refuse(
            "this request is too long to be returned complete from here: answer it in the terminal",
        );
    }
    let empty = Map::new();
    let input = object(payload, "tool_input").unwrap_or(&empty);
    match kind {
        NeedKind::Permission => {
            if let Some(chosen) = &answer.updated_permissions {
                decision["updatedPermissions"] = json!(chosen_suggestions(payload, chosen)?);
            }
        }
        NeedKind::Question => decision["updatedInput"] = input_with_answers(input, answer)?,
        NeedKind::Plan => approve_plan(&mut decision, input, answer)?,
        NeedKind::Elicitation => {}
    }
    Ok(decision)
}

/// Adds the plan and the permission mode in which the client continues.
fn approve_plan(
    decision: &mut Value,
    input: &Map<String, Value>,
    answer: &Answer,
) -> Result<(), InvalidAnswer> {
    let Some(plan) = borrowed_text(input, "plan") else {
        return refuse("the client sent no plan that could be approved here: approve it in the terminal");
    };
    let mode = answer.mode.as_deref().unwrap_or("default");
    if !PLAN_MODES.contains(&mode) {
        return refuse(format!("`mode` is {mode:?}; a plan continues in {}", PLAN_MODES.join(" or ")));
    }
    decision["updatedInput"] = json!({ "plan": plan });
    if mode != "default" {
        let set = json!({ "type": "setMode", "mode": mode, "destination": "session" });
        decision["updatedPermissions"] = json!([set]);
    }
    Ok(())
}

/// The chosen suggestions, if each of them is one of the client's own. So no permission is widened by mistake.
fn chosen_suggestions<'a>(
    payload: &Map<String, Value>,
    chosen: &'a [Value],
) -> Result<&'a [Value], InvalidAnswer> {
    let offered = list(payload, "permission_suggestions");
    match chosen.iter().find(|c| !offered.contains(c)) {
        Some(_) => {
            refuse("`updated_permissions` may hold only entries of the ask's `suggestions`, unchanged")
        }
        None => Ok(chosen),
    }
}

/// The questions with the answers of the person, as the client expects them.
fn input_with_answers(input: &Map<String, Value>, answer: &Answer) -> Result<Value, InvalidAnswer> {
    let asked = questions(input);
    let empty = Default::default();
    let given = answer.answers.as_ref().unwrap_or(&empty);
    if let Some(unknown) = given.keys().find(|key| asked.iter().all(|q| q.question != **key)) {
        return refuse(format!("there is no question {unknown:?}"));
    }
    let mut answers = Map::new();
    for question in &asked {
        let Some(given) = given.get(&question.question) else {
            return refuse(format!("every question needs an answer; {:?} has none", question.question));
        };
        answers.insert(question.question.clone(), json!(encode_answer(question, given)?));
    }
    let questions = input.get("questions").cloned().unwrap_or_default();
    Ok(json!({ "questions": questions, "answers": answers }))
}

/// Encodes the answer to one question as the terminal does: several picks are joined by commas, a label that contains a comma
/// is put in double quotes, and free text stays unchanged.
fn encode_answer(question: &Question, given: &OneOrMany) -> Result<String, InvalidAnswer> {
    let picks = match given {
        OneOrMany::One(one) => std::slice::from_ref(one),
        OneOrMany::Many(many) => many.as_slice(),
    };
    if picks.is_empty() || picks.iter().any(|p| p.trim().is_empty()) {
        return refuse(format!("the answer to {:?} is empty", question.question));
    }
    if picks.len() > 1 && !question.multi_select {
        return refuse(format!("{:?} takes one answer, not {}", question.question, picks.len()));
    }
    if picks.iter().map(String::len).sum::<usize>() > ANSWER_TEXT_BYTES_MAX {
        return refuse(format!("an answer may be {ANSWER_TEXT_BYTES_MAX} bytes long"));
    }
    let is_label = |pick: &String| question.options.iter().any(|o| o.label == *pick);
    let encoded = picks.iter().map(|pick| match pick.contains(',') && is_label(pick) {
        true => format!("\"{pick}\""),
        false => pick.clone(),
    });
    Ok(encoded.collect::<Vec<_>>().join(", "))
}

fn elicitation_output(payload: &Map<String, Value>, answer: &Answer) -> Result<Value, InvalidAnswer> {
    let mut output = json!({ "hookEventName": "Elicitation" });
    match answer.decision {
        Decision::Allow => {
            let empty = Map::new();
            let content = answer.content.as_ref().unwrap_or(&empty);
            form::check_form(object(payload, "requested_schema"), content).map_err(InvalidAnswer)?;
            output["action"] = json!("accept");
            output["content"] = json!(content);
        }
        Decision::Deny => output["action"] = json!("decline"),
        Decision::Cancel => output["action"] = json!("cancel"),
    }
    Ok(json!({ "hookSpecificOutput": output }))
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
