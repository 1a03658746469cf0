//! Makes the calls to the daemon, each on a connection of its own, and sends the replies to the loop.

use flightdeck_protocol::asks::{AnswerAsk, GetAsk};
use flightdeck_protocol::sessions::{ExplainSession, GetConversation, ListEvents};
use flightdeck_protocol::terminal::{Focus, Interrupt, Peek};
use flightdeck_protocol::usage::GetUsage;
use tokio::sync::mpsc;

use super::message::{Call, Data, Message, Reply};
use crate::client::{AsyncClient, ClientError};
use crate::paths::Paths;

/// Events and messages that the details show: more than a tall terminal has rows.
const ROWS_MAX: usize = 100;
/// After the last event of any log, so that the newest events are read. JavaScript can hold it.
const LAST_SEQ: u64 = (1 << 53) - 1;

/// Starts the call. Its reply is sent when it is there.
pub(super) fn start(call: Call, paths: &Paths, replies: &mpsc::Sender<Message>) {
    let (paths, replies) = (paths.clone(), replies.clone());
    tokio::spawn(async move {
        let result = make(&call, &paths).await;
        let reply = Message::Reply(Box::new(Reply { call, result }));
        // The loop has ended: the person left.
        let _ = replies.send(reply).await;
    });
}

/// Makes the call and waits for its reply.
pub(super) async fn make(call: &Call, paths: &Paths) -> Result<Data, ClientError> {
    let mut client = AsyncClient::connect(paths).await?;
    Ok(match call.clone() {
        Call::Answer { ask, answer } => {
            let request = AnswerAsk { ask_id: ask, answer: (*answer).into() };
            client.call(&request).await?;
            Data::Answered
        }
        Call::Prompt(request) => Data::Pressed(client.call(&request).await?),
        Call::Interrupt { session, stop } => {
            let request = Interrupt { session_id: session, confirm: true, stop };
            Data::Pressed(client.call(&request).await?)
        }
        Call::Focus(session) => Data::Focused(client.call(&Focus { session_id: session }).await?),
        Call::Park(request) => {
            client.call(&request).await?;
            Data::Parked
        }
        Call::Timeline(session_id) => {
            let newest = ListEvents {
                session_id,
                before: Some(LAST_SEQ),
                limit: Some(ROWS_MAX),
                ..ListEvents::default()
            };
            Data::Timeline(client.call(&newest).await?)
        }
        Call::Conversation(session_id) => {
            let newest = GetConversation { session_id, before: None, limit: Some(ROWS_MAX) };
            Data::Conversation(client.call(&newest).await?)
        }
        Call::Pane(session_id) => Data::Pane(client.call(&Peek { session_id }).await?),
        Call::Why(session_id) => Data::Why(Box::new(client.call(&ExplainSession { session_id }).await?)),
        Call::WholeAsk(ask_id) => Data::WholeAsk(Box::new(client.call(&GetAsk { ask_id }).await?)),
        Call::Totals => {
            let today = GetUsage { since: Some("today".to_owned()), ..GetUsage::default() };
            Data::Totals(Box::new(client.call(&today).await?))
        }
    })
}
