//! What a hub may ask of this host. The arguments are read once, and everything about a request follows from its type.

use flightdeck_core::approval::answer::Decision;
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_protocol::asks::{AnswerAsk, GetAsk, SentAnswer};
use flightdeck_protocol::sessions::GetConversation;
use flightdeck_protocol::terminal::{Focus, Interrupt, SendPrompt};
use flightdeck_protocol::{ErrorCode, ErrorReply, SocketCommand};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::settings::RemoteAction;
use super::wire::RemoteRequest;

/// A request of a hub.
#[derive(Clone, Debug, PartialEq)]
pub enum RemoteCall {
    Answer(AnswerAsk),
    Prompt(SendPrompt),
    Interrupt(Interrupt),
    Focus(Focus),
    GetAsk(GetAsk),
    GetConversation(GetConversation),
}

/// What a request names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    Ask(&'a AskId),
    Session(&'a SessionId),
}

impl RemoteCall {
    pub fn parse(request: &RemoteRequest) -> Result<Self, ErrorReply> {
        let arguments = &request.arguments;
        match request.command.as_str() {
            AnswerAsk::COMMAND => read(arguments).map(Self::Answer),
            SendPrompt::COMMAND => read(arguments).map(Self::Prompt),
            Interrupt::COMMAND => read(arguments).map(Self::Interrupt),
            Focus::COMMAND => read(arguments).map(Self::Focus),
            GetAsk::COMMAND => read(arguments).map(Self::GetAsk),
            GetConversation::COMMAND => read(arguments).map(Self::GetConversation),
            other => Err(ErrorReply {
                error: ErrorCode::UnknownCommand,
                message: format!("there is no command {other:?} for other hosts"),
                details: None,
            }),
        }
    }

    pub fn target(&self) -> Named<'_> {
        match self {
            Self::Answer(AnswerAsk { ask_id, .. }) | Self::GetAsk(GetAsk { ask_id }) => Named::Ask(ask_id),
            Self::Prompt(SendPrompt { session_id, .. })
            | Self::Interrupt(Interrupt { session_id, .. })
            | Self::Focus(Focus { session_id })
            | Self::GetConversation(GetConversation { session_id, .. }) => Named::Session(session_id),
        }
    }

    /// `None` for a request that changes nothing.
    pub fn action(&self) -> Option<RemoteAction> {
        match self {
            Self::Answer(_) => Some(RemoteAction::Answer),
            Self::Prompt(_) => Some(RemoteAction::Prompt),
            Self::Interrupt(_) => Some(RemoteAction::Interrupt),
            Self::Focus(_) => Some(RemoteAction::Focus),
            Self::GetAsk(_) | Self::GetConversation(_) => None,
        }
    }

    /// Whether it lets a tool run.
    pub fn allows(&self) -> bool {
        let Self::Answer(AnswerAsk { answer: SentAnswer::Readable(answer), .. }) = self else { return false };
        answer.decision == Decision::Allow
    }
}

fn read<R: DeserializeOwned>(arguments: &Value) -> Result<R, ErrorReply> {
    R::deserialize(arguments).map_err(|error| ErrorReply {
        error: ErrorCode::ValidationError,
        message: format!("the arguments are not understood: {error}"),
        details: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(command: &str, arguments: Value) -> Result<RemoteCall, ErrorReply> {
        let (command, from, by) = (command.to_owned(), "desk".into(), "ann".to_owned());
        RemoteCall::parse(&RemoteRequest { command, arguments, from, by })
    }

    #[test]
    fn an_argument_that_the_command_does_not_have_decides_nothing() {
        let prompt =
            call("prompt", json!({"ask_id": "mine", "session_id": "b@third", "text": "go"})).unwrap();
        assert_eq!(prompt.target(), Named::Session(&"b@third".into()));
        let answer =
            call("answer", json!({"ask_id": "mine", "session_id": "b", "answer": {"decision": "allow"}}))
                .unwrap();
        assert_eq!(answer.target(), Named::Ask(&"mine".into()));
        assert!(answer.allows());
    }

    #[test]
    fn an_unknown_command_and_wrong_arguments_are_refused() {
        assert_eq!(call("shell", json!({})).unwrap_err().error, ErrorCode::UnknownCommand);
        assert_eq!(call("focus", json!({"ask_id": "a"})).unwrap_err().error, ErrorCode::ValidationError);
    }
}
