//! The daemon's Unix socket, a line at a time.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use flightdeck_sim::Map;
use serde_json::{Value, json};

use crate::stage::DEADLINE;

pub(crate) struct Socket(BufReader<UnixStream>);

impl Socket {
    pub(crate) fn connect(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        Self(BufReader::new(stream))
    }

    pub(crate) fn send(&mut self, line: &Value) -> std::io::Result<()> {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes())
    }

    /// `None` once the daemon has gone.
    pub(crate) fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(n) if n > 0 && line.ends_with('\n') => Some(serde_json::from_str(&line).unwrap()),
            _ => None,
        }
    }

    pub(crate) fn ask(&mut self, line: &Value) -> Value {
        self.send(line).unwrap();
        self.line().unwrap()
    }

    /// A line as it stands, JSON or not.
    pub(crate) fn ask_raw(&mut self, line: &str) -> Value {
        self.raw(format!("{line}\n").as_bytes());
        self.line().unwrap()
    }

    pub(crate) fn hook(&mut self, payload: &Map, env: &Map) -> Value {
        self.ask(&json!({ "cmd": "hook", "args": payload, "env": env }))
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    /// Tells the daemon that no more comes.
    pub(crate) fn close_write(&mut self) {
        self.0.get_mut().shutdown(std::net::Shutdown::Write).unwrap();
    }
}
