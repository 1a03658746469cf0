//! Makes the calls to the daemon, each on a connection of its own, and sends the replies to the loop.

use flightdeck_protocol::asks::{AnswerAsk, GetAsk};
use flightdeck_protocol::sessions::{ExplainSession, GetConversation, ListEvents};
use flightdeck_protocol::terminal::{Focus, Interrupt, Peek};
use flightdeck_protocol::usage::GetUsage;
use tokio::sync::mpsc;

use super::message::{DaemonCall, Reply, ReplyData, TuiMessage};
use crate::client::{AsyncClient, ClientError};
use crate::paths::Paths;

/// Events and messages that the details show: more than a tall terminal has rows.
const ROWS_MAX: usize = 100;
/// Larger than the `seq` of any event, so that the newest events are read, and small enough for JavaScript.
const LAST_SEQ: u64 = (1 << 53) - 1;

/// Starts the call in a task. Its reply is sent to `replies`.
pub(super) fn spawn_call(call: DaemonCall, paths: &Paths, replies: &mpsc::Sender<TuiMessage>) {
    let (paths, replies) = (paths.clone(), replies.clone());
    tokio::spawn(async move {
        let result = call_daemon(&call, &paths).await;
        let reply = TuiMessage::Reply(Box::new(Reply { call, result }));
        // Fails if the loop has ended because the person left.
        let _ = replies.send(reply).await;
    });
}

/// Makes the call and waits for its reply.
pub(super) async fn call_daemon(call: &DaemonCall, paths: &Paths) -> Result<ReplyData, ClientError> {
    let mut client = AsyncClient::connect(paths).await?;
    Ok(match call.clone() {
        DaemonCall::Answer { ask, answer } => {
            let request = AnswerAsk { ask_id: ask, answer: (*answer).into() };
            client.call(&request).await?;
            ReplyData::Answered
        }
        DaemonCall::Prompt(request) => ReplyData::Pressed(client.call(&request).await?),
        DaemonCall::Interrupt { session, stop } => {
            let request = Interrupt { session_id: session, confirm: true, stop };
            ReplyData::Pressed(client.call(&request).await?)
        }
        DaemonCall::Focus(session) => ReplyData::Focused(client.call(&Focus { session_id: session }).await?),
        DaemonCall::Park(request) => {
            client.call(&request).await?;
            ReplyData::Parked
        }
        DaemonCall::Timeline(session_id) => {
            let newest = ListEvents {
                session_id,
                before: Some(LAST_SEQ),
                limit: Some(ROWS_MAX),
                ..ListEvents::default()
            };
            ReplyData::Timeline(client.call(&newest).await?)
        }
        DaemonCall::Conversation(session_id) => {
            let newest = GetConversation { session_id, before: None, limit: Some(ROWS_MAX) };
            ReplyData::Conversation(client.call(&newest).await?)
        }
        DaemonCall::Pane(session_id) => ReplyData::Pane(client.call(&Peek { session_id }).await?),
        DaemonCall::Why(session_id) => {
            ReplyData::Why(Box::new(client.call(&ExplainSession { session_id }).await?))
        }
        DaemonCall::WholeAsk(ask_id) => ReplyData::WholeAsk(Box::new(client.call(&GetAsk { ask_id }).await?)),
        DaemonCall::Totals => {
            let today = GetUsage { since: Some("today".to_owned()), ..GetUsage::default() };
            ReplyData::Totals(Box::new(client.call(&today).await?))
        }
    })
}
