//! The daemon's Unix socket, one JSON line at a time.

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use flightdeck_sim::Map;
use serde_json::{Value, json};

use super::{DEADLINE, must};

/// Sends lines as they are, for tests of the wire. Tests of meaning use `flightdeck::client`.
#[derive(Debug)]
pub struct SocketClient(BufReader<UnixStream>);

impl SocketClient {
    pub fn try_connect(path: &Path, timeout: Duration) -> Result<Self> {
        let stream =
            UnixStream::connect(path).with_context(|| format!("cannot connect to {}", path.display()))?;
        stream.set_read_timeout(Some(timeout))?;
        Ok(Self(BufReader::new(stream)))
    }

    #[track_caller]
    pub fn connect(path: &Path) -> Self {
        must(Self::try_connect(path, DEADLINE))
    }

    pub fn send(&mut self, line: &Value) -> std::io::Result<()> {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes())
    }

    /// Sends a line and reads the reply as text.
    pub fn try_ask(&mut self, line: &Value) -> Result<String> {
        self.send(line).context("the connection to the daemon broke")?;
        let mut reply = String::new();
        self.0.read_line(&mut reply).context("the daemon did not reply")?;
        if reply.is_empty() {
            bail!("the daemon closed the connection");
        }
        Ok(reply)
    }

    /// `None` once the daemon has closed the connection.
    #[track_caller]
    pub fn line(&mut self) -> Option<Value> {
        self.text().map(|line| must(parsed(&line)))
    }

    /// The next line as it was sent.
    pub fn text(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line);
        (matches!(read, Ok(1..)) && line.ends_with('\n')).then_some(line)
    }

    /// The reply as it was sent.
    #[track_caller]
    pub fn ask_text(&mut self, line: &Value) -> String {
        must(self.send(line).context("the connection to the daemon broke"));
        must(self.text().context("the daemon did not reply")).trim_end().to_owned()
    }

    #[track_caller]
    pub fn ask(&mut self, line: &Value) -> Value {
        must(self.send(line).context("the connection to the daemon broke"));
        must(self.line().context("the daemon did not reply"))
    }

    /// Sends a line as it is, JSON or not.
    #[track_caller]
    pub fn ask_raw(&mut self, line: &str) -> Value {
        self.raw(format!("{line}\n").as_bytes());
        must(self.line().context("the daemon did not reply"))
    }

    #[track_caller]
    pub fn hook(&mut self, payload: &Map, env: &Map) -> Value {
        self.ask(&json!({ "cmd": "hook", "args": payload, "env": env }))
    }

    #[track_caller]
    pub fn raw(&mut self, bytes: &[u8]) {
        must(self.0.get_mut().write_all(bytes).context("the connection to the daemon broke"));
    }

    /// Ends our side of the connection.
    #[track_caller]
    pub fn close_write(&mut self) {
        must(self.0.get_mut().shutdown(Shutdown::Write).context("cannot close"));
    }
}

fn parsed(line: &str) -> Result<Value> {
    serde_json::from_str(line).with_context(|| format!("no JSON: {line:?}"))
}
