//! The connection for async code.

use flightdeck_protocol::changes::{ChangeFrame, Subscribe};
use flightdeck_protocol::hooks::{Hook, HookReply};
use flightdeck_protocol::{SocketCommand, frame};
use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::error::{ClientError, REPLY_MAX};
use super::raw_reply::RawReply;
use crate::paths::Paths;

/// A connection for calls, one after the other.
#[derive(Debug)]
pub struct AsyncClient {
    stream: BufReader<UnixStream>,
    /// The bytes of a line so far, so that a cancelled read loses nothing.
    line: Vec<u8>,
}

impl AsyncClient {
    pub async fn connect(paths: &Paths) -> Result<Self, ClientError> {
        let connected = timeout(REPLY_MAX, UnixStream::connect(paths.socket())).await;
        let stream = connected.map_err(|_| ClientError::Timeout)?;
        let stream = stream.map_err(|cause| ClientError::connecting(paths, cause))?;
        Ok(Self { stream: BufReader::new(stream), line: Vec::new() })
    }

    pub async fn call<R: SocketCommand>(&mut self, request: &R) -> Result<R::Reply, ClientError> {
        self.call_raw(request).await?.decode()
    }

    /// Like [`Self::call`], and keeps the text of the reply.
    pub async fn call_raw<R: SocketCommand>(&mut self, request: &R) -> Result<RawReply<R>, ClientError> {
        self.exchange(frame::call_line(request)).await
    }

    /// Sends a hook payload with the environment that the hook program adds.
    pub async fn send_hook(
        &mut self,
        payload: &Hook,
        env: &Map<String, Value>,
    ) -> Result<HookReply, ClientError> {
        self.exchange::<Hook>(frame::call_line_in_env(payload, env)).await?.decode()
    }

    /// Waits for the verdict of the hook that was sent before, if the daemon holds it. The daemon ends the wait.
    pub async fn verdict(&mut self) -> Result<HookReply, ClientError> {
        let line = self.read_line().await?.ok_or(ClientError::Closed)?;
        RawReply::<Hook>::read(&line)?.decode()
    }

    /// The changes from now on, after a snapshot; or those since `last_event_id`, after `gap` and a snapshot if it is too old.
    pub async fn subscribe(mut self, last_event_id: Option<String>) -> Result<AsyncChanges, ClientError> {
        let line = frame::call_line(&Subscribe { last_event_id }).map_err(ClientError::Request)?;
        within_limit(self.send(&line)).await?;
        Ok(AsyncChanges { client: self })
    }

    async fn exchange<R: SocketCommand>(
        &mut self,
        line: serde_json::Result<Vec<u8>>,
    ) -> Result<RawReply<R>, ClientError> {
        let line = line.map_err(ClientError::Request)?;
        let reply = within_limit(async {
            self.send(&line).await?;
            self.read_line().await?.ok_or(ClientError::Closed)
        });
        RawReply::read(&reply.await?)
    }

    pub(super) async fn send(&mut self, line: &[u8]) -> Result<(), ClientError> {
        self.stream.get_mut().write_all(line).await.map_err(ClientError::broken)
    }

    /// `None` after the daemon has closed the connection. May be cancelled: the next call continues the line.
    pub(super) async fn read_line(&mut self) -> Result<Option<Vec<u8>>, ClientError> {
        self.stream.read_until(b'\n', &mut self.line).await.map_err(ClientError::broken)?;
        let line = std::mem::take(&mut self.line);
        // A daemon that is killed may leave half a line.
        Ok(line.ends_with(b"\n").then_some(line))
    }
}

pub(super) async fn within_limit<T>(
    work: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, ClientError> {
    timeout(REPLY_MAX, work).await.unwrap_or(Err(ClientError::Timeout))
}

/// The changes of one connection. It ends when the daemon stops.
#[derive(Debug)]
pub struct AsyncChanges {
    client: AsyncClient,
}

impl AsyncChanges {
    /// `None` after the daemon has closed the connection. May be cancelled without losing a change.
    pub async fn next(&mut self) -> Option<Result<ChangeFrame, ClientError>> {
        let line = self.client.read_line().await.transpose()?;
        Some(line.and_then(|line| ChangeFrame::read(&line).map_err(ClientError::Reply)))
    }
}
