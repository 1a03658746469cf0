//! A client that sends exactly what a story says, header by header.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::stage::DEADLINE;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").expect_head(bytes);
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[end + 4..].to_vec() }
    }
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {} {}", self.head, self.text()))
    }
    /// The sentence of a refusal.
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap().to_owned()
    }
}

trait ExpectHead {
    fn expect_head(self, bytes: &[u8]) -> usize;
}

impl ExpectHead for Option<usize> {
    fn expect_head(self, bytes: &[u8]) -> usize {
        self.unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(bytes)))
    }
}

/// A request as text. HTTP/1.0: the answer ends with the connection, and nothing is cut into chunks.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self { method: method.into(), path: path.into(), headers: Vec::new(), body: String::new() }
    }
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
    pub(crate) fn host(self, addr: SocketAddr) -> Self {
        self.header("host", &addr.to_string())
    }
    pub(crate) fn json(mut self, body: &str) -> Self {
        self.body = body.into();
        self.header("content-type", "application/json")
    }
    pub(crate) fn body(mut self, body: &str) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn open(&self, addr: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let Self { method, path, headers, body } = self;
        let headers: String = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
        let length = body.len();
        let text = format!("{method} {path} HTTP/1.0\r\n{headers}content-length: {length}\r\n\r\n{body}");
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    pub(crate) fn send(&self, addr: SocketAddr) -> Answer {
        let mut bytes = Vec::new();
        self.open(addr).read_to_end(&mut bytes).unwrap();
        Answer::parse(&bytes)
    }
}

pub(crate) fn get(addr: SocketAddr, path: &str) -> Answer {
    Request::new("GET", path).host(addr).send(addr)
}

pub(crate) fn post(addr: SocketAddr, path: &str, body: &str) -> Answer {
    Request::new("POST", path).host(addr).json(body).send(addr)
}
