//! The blocking connection.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use flightdeck_protocol::changes::{ChangeFrame, Subscribe};
use flightdeck_protocol::{SocketCommand, frame};
use serde_json::{Map, Value};

use super::error::{ClientError, REPLY_MAX};
use super::raw_reply::RawReply;
use crate::paths::Paths;

/// A connection for calls, one after the other.
#[derive(Debug)]
pub struct BlockingClient {
    stream: BufReader<UnixStream>,
}

impl BlockingClient {
    pub fn connect(paths: &Paths) -> Result<Self, ClientError> {
        Self::connect_within(paths, REPLY_MAX)
    }

    /// Like [`Self::connect`], with a shorter time for each reply.
    pub fn connect_within(paths: &Paths, reply_max: Duration) -> Result<Self, ClientError> {
        let failed = |cause| ClientError::connecting(paths, cause);
        let stream = UnixStream::connect(paths.socket()).map_err(failed)?;
        stream.set_read_timeout(Some(reply_max)).map_err(failed)?;
        stream.set_write_timeout(Some(reply_max)).map_err(failed)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    pub fn call<R: SocketCommand>(&mut self, request: &R) -> Result<R::Reply, ClientError> {
        self.call_raw(request)?.decode()
    }

    /// Like [`Self::call`], and keeps the text of the reply.
    pub fn call_raw<R: SocketCommand>(&mut self, request: &R) -> Result<RawReply<R>, ClientError> {
        self.send(request)?;
        let line = self.read_line()?.ok_or(ClientError::Closed)?;
        RawReply::read(line.as_bytes())
    }

    /// Calls a command by its name, with what a script has in its environment. Returns the data of the reply.
    pub fn call_named(
        &mut self,
        cmd: &str,
        args: &Value,
        env: &Map<String, Value>,
    ) -> Result<Value, ClientError> {
        let line = frame::named_call_line(cmd, args, env).map_err(ClientError::Request)?;
        self.stream.get_mut().write_all(&line).map_err(ClientError::broken)?;
        let line = self.read_line()?.ok_or(ClientError::Closed)?;
        frame::read_reply(line.as_bytes()).map_err(ClientError::Reply)?.map_err(ClientError::Refused)
    }

    /// The changes from now on, after a snapshot; or those since `last_event_id`, after `gap` and a snapshot if it is too old.
    pub fn subscribe(mut self, last_event_id: Option<String>) -> Result<BlockingChanges, ClientError> {
        self.send(&Subscribe { last_event_id })?;
        self.stream.get_ref().set_read_timeout(None).map_err(ClientError::broken)?;
        Ok(BlockingChanges { client: self })
    }

    fn send<R: SocketCommand>(&mut self, request: &R) -> Result<(), ClientError> {
        let line = frame::call_line(request).map_err(ClientError::Request)?;
        self.stream.get_mut().write_all(&line).map_err(ClientError::broken)
    }

    /// `None` after the daemon has closed the connection.
    fn read_line(&mut self) -> Result<Option<String>, ClientError> {
        let mut line = String::new();
        let bytes = self.stream.read_line(&mut line).map_err(ClientError::broken)?;
        // A daemon that is killed may leave half a line.
        Ok((bytes > 0 && line.ends_with('\n')).then_some(line))
    }
}

/// The changes of one connection. It ends when the daemon stops.
#[derive(Debug)]
pub struct BlockingChanges {
    client: BlockingClient,
}

impl BlockingChanges {
    /// The next change as one line of JSON, without the newline.
    pub fn next_line(&mut self) -> Option<Result<String, ClientError>> {
        let line = self.client.read_line().transpose()?;
        Some(line.map(|mut line| {
            line.truncate(line.trim_end().len());
            line
        }))
    }
}

impl Iterator for BlockingChanges {
    type Item = Result<ChangeFrame, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.next_line()?;
        Some(line.and_then(|line| ChangeFrame::read(line.as_bytes()).map_err(ClientError::Reply)))
    }
}
