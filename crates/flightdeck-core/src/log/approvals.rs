//! How records and approvals belong together: the request that a record contains, the record of an answer, and the record of the end of a hold.

use serde_json::{Map, Value, json};

use super::record::{EventId, Record, Source};
use crate::approval::answer::Answer;
use crate::approval::ask::Asked;
use crate::approval::policy::{Policy, PolicyRequest};
use crate::approval::resolution::HoldEnd;
use crate::ids::{AskId, SessionId};
use crate::wire::lenient::text;

/// Name of an answer in the log.
pub const ANSWERED: &str = "answered";
/// Name in the log of the end of a hold; `why` gives the reason.
pub const ASK_GONE: &str = "ask_gone";

/// The record of an answer.
pub fn answered_record(session_id: &SessionId, ask_id: &AskId, answer: &Answer, id: EventId) -> Record {
    // An answer is always valid JSON.
    let answer = serde_json::to_value(answer).unwrap_or_default();
    let payload = Map::from_iter([("ask_id".to_owned(), json!(ask_id)), ("answer".to_owned(), answer)]);
    Record::noticed_here(Source::User, ANSWERED, session_id, payload, id)
}

/// The payload of an answer in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct AnsweredPayload {
    pub ask_id: AskId,
    pub answer: Answer,
}

impl AnsweredPayload {
    /// `None` if the event is not an answer, or if the answer cannot be read.
    pub fn from_event(name: &str, payload: &Map<String, Value>) -> Option<Self> {
        let answer = payload.get("answer").filter(|_| name == ANSWERED)?;
        let answer = serde_json::from_value(answer.clone()).ok()?;
        Some(Self { ask_id: text(payload, "ask_id")?.into(), answer })
    }
}

/// The record of the end of a hold.
pub fn hold_ended_record(session_id: &SessionId, ask_id: &AskId, why: HoldEnd, id: EventId) -> Record {
    let payload =
        Map::from_iter([("ask_id".to_owned(), json!(ask_id)), ("why".to_owned(), json!(why.as_str()))]);
    Record::noticed_here(Source::Process, ASK_GONE, session_id, payload, id)
}

impl Asked {
    /// The request of a record, with its input shortened for a card. `None` for a record that asks nothing.
    pub fn from_record(record: &Record) -> Option<Self> {
        Self::shortened(&record.name, &record.payload)
    }

    /// The request of a record, with its whole input. `None` for a record that asks nothing.
    pub fn with_whole_input(record: &Record) -> Option<Self> {
        Self::of_hook(&record.name, &record.payload)
    }
}

impl<'a> PolicyRequest<'a> {
    /// The permission request of a record. `None` for any other record: only a person answers questions, plans and forms.
    pub fn from_record(record: &'a Record) -> Option<Self> {
        Self::of_hook(&record.name, &record.payload, record.envelope.project_dir.as_deref())
    }
}

impl Policy {
    /// The answer of the first rule that matches. `None` if the policy is off or leaves the request to the person.
    pub fn answer(&self, record: &Record) -> Option<Answer> {
        if !self.enabled {
            return None;
        }
        self.answer_request(&PolicyRequest::from_record(record)?)
    }
}
