//! The connection of a supervisor: orders about the client that it has started.

use flightdeck_protocol::frame;
use flightdeck_protocol::supervise::{OrderReply, RestartOrder, Supervise};

use super::async_client::{AsyncClient, within_limit};
use super::error::ClientError;

#[derive(Debug)]
pub struct Supervision {
    client: AsyncClient,
}

impl AsyncClient {
    /// Orders about the client with this process group.
    pub async fn supervise(mut self, group: u32) -> Result<Supervision, ClientError> {
        let line = frame::call_line(&Supervise { group }).map_err(ClientError::Request)?;
        within_limit(self.send(&line)).await?;
        Ok(Supervision { client: self })
    }
}

impl Supervision {
    /// The next order. It must be answered before the next one comes. May be cancelled without losing an order.
    pub async fn next_order(&mut self) -> Result<RestartOrder, ClientError> {
        let line = self.client.read_line().await?.ok_or(ClientError::Closed)?;
        frame::read_reply(&line).map_err(ClientError::Reply)?.map_err(ClientError::Refused)
    }

    pub async fn answer(&mut self, accepted: bool) -> Result<(), ClientError> {
        let mut line = serde_json::to_vec(&OrderReply { accepted }).map_err(ClientError::Request)?;
        line.push(b'\n');
        within_limit(self.client.send(&line)).await
    }
}
