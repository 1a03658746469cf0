//! What a person answers, as it comes over the wire and as it stands in the log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{By, How};
use crate::ledger::NeedKind;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
pub struct Answer {
    pub decision: Decision,
    /// To the model, with a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// A refusal that ends the turn, as Esc does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<bool>,
    /// Some of the ask's own suggestions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(type = "Array<Record<string, unknown>>"))]
    pub updated_permissions: Option<Vec<Value>>,
    /// By question: a label, free text, or several of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<BTreeMap<String, OneOrMany>>,
    /// The filled-in form of an elicitation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(type = "Record<string, unknown>"))]
    pub content: Option<Map<String, Value>>,
    /// How edits are asked for once a plan is approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<By>,
    /// Where the policy answers: by which rule. Nobody else may say so.
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

impl Answer {
    pub fn plain(decision: Decision, via: By) -> Self {
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

    pub fn by(&self) -> By {
        self.via.unwrap_or_default()
    }

    /// How an ask of this kind ends by it.
    pub fn how(&self, kind: NeedKind) -> How {
        use Decision::{Allow, Cancel, Deny};
        match (kind, self.decision) {
            (_, Deny) if self.interrupt == Some(true) => How::DeniedAndInterrupted,
            (NeedKind::Permission, Allow) => How::Allowed,
            (NeedKind::Permission, Deny) | (NeedKind::Question, Deny) => How::Denied,
            (NeedKind::Question, Allow) => How::Answered,
            (NeedKind::Plan, Allow) => How::Approved,
            (NeedKind::Plan, Deny) => How::Rejected,
            (NeedKind::Elicitation, Allow) => How::Accepted,
            (NeedKind::Elicitation, Deny) => How::Declined,
            (_, Cancel) => How::Cancelled,
        }
    }
}
