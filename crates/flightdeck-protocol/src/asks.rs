//! Asks: the open requests of a session, and a person's answer.

use flightdeck_core::approval::answer::Answer;
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::ids::{AskId, SessionId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// One ask, whole: a card shortens a large one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetAsk {
    #[serde(alias = "askId", alias = "id")]
    pub ask_id: AskId,
}

/// The asks of one session: the open ones, and those resolved in the last minute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListAsks {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AskList {
    pub asks: Vec<AskCard>,
}

/// Answers an ask. The first answer wins. Over HTTP the body is the answer itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(as = "Answer"))]
pub struct AnswerAsk {
    #[serde(alias = "askId", alias = "id")]
    pub ask_id: AskId,
    #[serde(default)]
    pub answer: SentAnswer,
}

/// An answer as it was sent. It is checked after the ask was found, so that an unknown ask is reported first.
#[derive(Clone, Debug, PartialEq)]
pub enum SentAnswer {
    Readable(Box<Answer>),
    /// What is wrong with it.
    Unreadable(String),
}

impl SentAnswer {
    pub fn parse(json: Value) -> Self {
        Answer::sent(json).map_or_else(Self::Unreadable, Self::from)
    }
}

impl From<Answer> for SentAnswer {
    fn from(answer: Answer) -> Self {
        Self::Readable(Box::new(answer))
    }
}

impl Default for SentAnswer {
    fn default() -> Self {
        Self::parse(Value::Null)
    }
}

impl Serialize for SentAnswer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Readable(answer) => answer.serialize(to),
            Self::Unreadable(error) => Err(serde::ser::Error::custom(error)),
        }
    }
}

impl<'de> Deserialize<'de> for SentAnswer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Value::deserialize(from).map(Self::parse)
    }
}
