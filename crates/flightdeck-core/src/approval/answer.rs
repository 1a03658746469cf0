//! A person's answer, as JSON on the wire and in the log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::resolution::{AnsweredBy, AskOutcome, NeedKind};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
pub struct Answer {
    pub decision: Decision,
    /// The reason of a refusal. The model reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether a refusal also ends the turn, as Esc does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<bool>,
    /// The suggestions of the ask that the person accepts.
    #[serde(default, alias = "updatedPermissions", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(type = "Array<Record<string, unknown>>"))]
    pub updated_permissions: Option<Vec<Value>>,
    /// The answer to each question: a label, free text, or several of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<BTreeMap<String, OneOrMany>>,
    /// The filled-in form of an elicitation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(type = "Record<string, unknown>"))]
    pub content: Option<Map<String, Value>>,
    /// The permission mode after a plan is approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<AnsweredBy>,
    /// The rule that answered. Only the policy may set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(skip))]
    pub rule: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename_all = "snake_case"))]
pub enum Decision {
    Allow,
    Deny,
    Cancel,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// The fields of an answer, in every accepted spelling.
const FIELDS: [&str; 10] = [
    "decision",
    "message",
    "interrupt",
    "updated_permissions",
    "updatedPermissions",
    "answers",
    "content",
    "mode",
    "via",
    "rule",
];

impl Answer {
    /// Parses an answer that was sent to the daemon. An unknown field is refused, because the sender may rely on it. The log is
    /// read without this check, because a later version may have written it.
    pub fn sent(json: Value) -> Result<Self, String> {
        if let Some(unknown) = json.as_object().and_then(|o| o.keys().find(|k| !FIELDS.contains(&k.as_str())))
        {
            return Err(format!("an answer has no field `{unknown}`"));
        }
        serde_json::from_value(json).map_err(|e| e.to_string())
    }

    pub fn without_details(decision: Decision, via: AnsweredBy) -> Self {
        Self {
            decision,
            message: None,
            interrupt: None,
            updated_permissions: None,
            answers: None,
            content: None,
            mode: None,
            via: Some(via),
            rule: None,
        }
    }

    pub fn answered_by(&self) -> AnsweredBy {
        self.via.unwrap_or_default()
    }

    /// How this answer resolves an ask of this kind.
    pub fn outcome_for(&self, kind: NeedKind) -> AskOutcome {
        use Decision::{Allow, Cancel, Deny};
        match (kind, self.decision) {
            (_, Deny) if self.interrupt == Some(true) => AskOutcome::DeniedAndInterrupted,
            (NeedKind::Permission, Allow) => AskOutcome::Allowed,
            (NeedKind::Permission, Deny) | (NeedKind::Question, Deny) => AskOutcome::Denied,
            (NeedKind::Question, Allow) => AskOutcome::Answered,
            (NeedKind::Plan, Allow) => AskOutcome::Approved,
            (NeedKind::Plan, Deny) => AskOutcome::Rejected,
            (NeedKind::Elicitation, Allow) => AskOutcome::Accepted,
            (NeedKind::Elicitation, Deny) => AskOutcome::Declined,
            (_, Cancel) => AskOutcome::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_spelt_either_way_and_an_unknown_one_is_refused() {
        let either = ["updated_permissions", "updatedPermissions"]
            .map(|name| Answer::sent(json!({"decision": "allow", name: [{"type": "setMode"}]})).unwrap());
        assert_eq!(either[0], either[1]);
        assert_eq!(either[0].updated_permissions.as_ref().unwrap().len(), 1);
        let unknown = Answer::sent(json!({"decision": "allow", "updated_permission": []}));
        assert_eq!(unknown.unwrap_err(), "an answer has no field `updated_permission`");
        assert!(Answer::sent(json!("allow")).is_err());
    }

    #[test]
    fn every_field_that_is_written_may_be_sent() {
        let whole = Answer {
            message: Some(String::new()),
            interrupt: Some(true),
            updated_permissions: Some(Vec::new()),
            answers: Some(BTreeMap::new()),
            content: Some(Map::new()),
            mode: Some(String::new()),
            rule: Some(String::new()),
            ..Answer::without_details(Decision::Allow, AnsweredBy::Web)
        };
        assert_eq!(Answer::sent(serde_json::to_value(&whole).unwrap()), Ok(whole));
    }
}
