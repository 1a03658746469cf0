//! Changes that continue after the daemon restarts.

use std::time::Duration;

use flightdeck_protocol::changes::ChangeFrame;
use tokio::time::{Instant, sleep_until};

use super::async_client::{AsyncChanges, AsyncClient};
use super::blocking::{BlockingChanges, BlockingClient};
use super::error::ClientError;
use super::reconnect::Reconnect;
use crate::paths::Paths;

#[derive(Debug)]
pub enum LiveChange {
    Change(ChangeFrame),
    /// The connection is lost, or there is no daemon. The next call tries again after `retry_in`.
    Disconnected {
        error: ClientError,
        retry_in: Duration,
    },
}

/// All changes, blocking. Never ends.
#[derive(Debug)]
pub struct LiveChanges {
    paths: Paths,
    reconnect: Reconnect,
    connection: Option<BlockingChanges>,
    delay: Duration,
    last_line: String,
}

impl LiveChanges {
    pub fn new(paths: Paths) -> Self {
        Self {
            paths,
            reconnect: Reconnect::default(),
            connection: None,
            delay: Duration::ZERO,
            last_line: String::new(),
        }
    }

    pub fn next_change(&mut self) -> LiveChange {
        match self.try_next() {
            Ok(frame) => {
                self.reconnect.received(&frame);
                LiveChange::Change(frame)
            }
            Err(error) => {
                self.connection = None;
                self.delay = self.reconnect.failed();
                LiveChange::Disconnected { error, retry_in: self.delay }
            }
        }
    }

    /// The last change as the daemon wrote it, with all its fields, also those of a newer daemon.
    pub fn last_line(&self) -> &str {
        &self.last_line
    }

    fn try_next(&mut self) -> Result<ChangeFrame, ClientError> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                std::thread::sleep(self.delay);
                let client = BlockingClient::connect(&self.paths)?;
                self.connection.insert(client.subscribe(self.reconnect.last_event_id())?)
            }
        };
        self.last_line = connection.next_line().unwrap_or(Err(ClientError::Closed))?;
        ChangeFrame::read(self.last_line.as_bytes()).map_err(ClientError::Reply)
    }
}

/// All changes, for async code. Never ends.
#[derive(Debug)]
pub struct AsyncLiveChanges {
    paths: Paths,
    reconnect: Reconnect,
    connection: Option<AsyncChanges>,
    retry_at: Instant,
}

impl AsyncLiveChanges {
    pub fn new(paths: Paths) -> Self {
        Self { paths, reconnect: Reconnect::default(), connection: None, retry_at: Instant::now() }
    }

    /// May be cancelled without losing a change.
    pub async fn next_change(&mut self) -> LiveChange {
        match self.try_next().await {
            Ok(frame) => {
                self.reconnect.received(&frame);
                LiveChange::Change(frame)
            }
            Err(error) => {
                self.connection = None;
                let retry_in = self.reconnect.failed();
                self.retry_at = Instant::now() + retry_in;
                LiveChange::Disconnected { error, retry_in }
            }
        }
    }

    async fn try_next(&mut self) -> Result<ChangeFrame, ClientError> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                sleep_until(self.retry_at).await;
                let client = AsyncClient::connect(&self.paths).await?;
                self.connection.insert(client.subscribe(self.reconnect.last_event_id()).await?)
            }
        };
        connection.next().await.unwrap_or(Err(ClientError::Closed))
    }
}
