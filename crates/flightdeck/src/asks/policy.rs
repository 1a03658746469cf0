//! The policy at work: what it has a rule for it answers by the same way as a person, and whoever is first wins.

use flightdeck_core::ask::ANSWERED;
use flightdeck_core::ask::answer::Answer;
use flightdeck_core::record::Record;
use flightdeck_core::wire::hook_name::HookName;
use serde_json::{Map, Value, json};

use super::answer::{AnswerError, answer};
use super::holds::Held;
use crate::server::App;
use crate::store::{EventsNamed, StoreError};

/// Where a hook is held for it: what the rules say. Before the event is appended, which takes the record.
pub fn consider(app: &App, record: &Record, held: Option<&Held>) -> Option<Answer> {
    held.and_then(|_| app.policy.answer(record))
}

/// Once the ask is open. On its own: the hook is told first that it is held.
pub fn say(app: &App, held: &Held, said: Option<Answer>) {
    let Some(said) = said else { return };
    let (app, ask_id) = (app.clone(), held.ask_id().to_owned());
    tokio::spawn(async move {
        let rule = said.rule.clone().unwrap_or_default();
        match answer(&app, &ask_id, said).await {
            Ok(ended) => tracing::info!(ask = ask_id, rule, how = ?ended.how, "answered by policy"),
            // Somebody was first, or nobody is asked: a late request, for one.
            Err(error @ (AnswerError::Over(_) | AnswerError::NotHeld | AnswerError::Unknown(_))) => {
                tracing::debug!(ask = ask_id, rule, %error, "the policy had nothing to answer");
            }
            Err(error) => tracing::warn!(ask = ask_id, rule, %error, "the policy could not answer"),
        }
    });
}

/// Requests and answers as the log has them, for `flightdeck policy`: a stretch at a time.
pub async fn history_json(app: &App, args: &Map<String, Value>) -> Result<Value, StoreError> {
    let after_seq = args.get("after").and_then(Value::as_u64).unwrap_or(0);
    let names = [HookName::PermissionRequest.as_str(), ANSWERED];
    let page = app.store.events_named(EventsNamed { names, after_seq }).await?;
    let events: Vec<Value> = page.records.iter().map(event).collect();
    Ok(json!({ "events": events, "next_after": page.next }))
}

fn event(record: &Record) -> Value {
    json!({
        "id": record.id.to_string(),
        "received_at": record.received_at,
        "name": record.name,
        "session_id": record.session_id,
        "agent_id": record.agent_id,
        "project_dir": record.envelope.project_dir,
        "entrypoint": record.envelope.entrypoint,
        "payload": record.payload,
    })
}
