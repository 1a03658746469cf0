//! An HTTP client that sends exactly the headers it is given.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{DEADLINE, must};

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    head: String,
    pub body: Vec<u8>,
}

impl Response {
    pub fn try_parse(bytes: &[u8]) -> Result<Self> {
        let no_head = || format!("no HTTP response: {:?}", String::from_utf8_lossy(bytes));
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").with_context(no_head)?;
        let head = String::from_utf8(bytes[..end].to_vec())?;
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).with_context(no_head)?;
        Ok(Self { status, head, body: bytes[end + 4..].to_vec() })
    }

    #[track_caller]
    pub fn parse(bytes: &[u8]) -> Self {
        must(Self::try_parse(bytes))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    #[track_caller]
    pub fn text(&self) -> String {
        must(String::from_utf8(self.body.clone()).context("the body is not UTF-8"))
    }

    pub fn try_json(&self) -> Result<Value> {
        let body = || format!("{} {}", self.head, String::from_utf8_lossy(&self.body));
        serde_json::from_slice(&self.body).with_context(body)
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        must(self.try_json())
    }

    /// The sentence of a refusal.
    #[track_caller]
    pub fn error(&self) -> String {
        must(self.json()["error"].as_str().map(str::to_owned).context("the body has no error"))
    }
}

/// A request as text. HTTP/1.0: the response ends with the connection and is not chunked.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
    timeout: Duration,
}

impl HttpRequest {
    pub fn new(method: &str, path: &str) -> Self {
        let (headers, body) = (Vec::new(), String::new());
        Self { method: method.into(), path: path.into(), headers, body, timeout: DEADLINE }
    }

    pub fn get(addr: SocketAddr, path: &str) -> Self {
        Self::new("GET", path).host(addr)
    }

    pub fn post(addr: SocketAddr, path: &str, body: &str) -> Self {
        Self::new("POST", path).host(addr).json(body)
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    #[must_use]
    pub fn host(self, addr: SocketAddr) -> Self {
        self.header("host", &addr.to_string())
    }

    #[must_use]
    pub fn json(mut self, body: &str) -> Self {
        self.body = body.into();
        self.header("content-type", "application/json")
    }

    #[must_use]
    pub fn body(mut self, body: &str) -> Self {
        self.body = body.into();
        self
    }

    /// The longest silence before the request fails.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sends the request; the response is still to be read.
    pub fn try_open(&self, addr: SocketAddr) -> Result<TcpStream> {
        let Self { method, path, headers, body, timeout } = self;
        let mut stream = TcpStream::connect(addr).with_context(|| format!("cannot connect to {addr}"))?;
        stream.set_read_timeout(Some(*timeout))?;
        let headers: String = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
        let length = body.len();
        let text = format!("{method} {path} HTTP/1.0\r\n{headers}content-length: {length}\r\n\r\n{body}");
        stream.write_all(text.as_bytes())?;
        Ok(stream)
    }

    pub fn try_send(&self, addr: SocketAddr) -> Result<Response> {
        let context = || format!("{} {}", self.method, self.path);
        let mut bytes = Vec::new();
        self.try_open(addr)?.read_to_end(&mut bytes).with_context(context)?;
        Response::try_parse(&bytes).with_context(context)
    }

    #[track_caller]
    pub fn open(&self, addr: SocketAddr) -> TcpStream {
        must(self.try_open(addr))
    }

    #[track_caller]
    pub fn send(&self, addr: SocketAddr) -> Response {
        must(self.try_send(addr))
    }
}

/// The HTTP API of one daemon.
#[derive(Clone, Copy, Debug)]
pub struct Api {
    pub addr: SocketAddr,
    /// The longest silence before a request fails.
    pub timeout: Duration,
}

impl Api {
    pub fn get(&self, path: &str) -> Result<Response> {
        HttpRequest::get(self.addr, path).timeout(self.timeout).try_send(self.addr)
    }

    pub fn post(&self, path: &str, body: &str) -> Result<Response> {
        HttpRequest::post(self.addr, path, body).timeout(self.timeout).try_send(self.addr)
    }

    /// The JSON of a route, which must reply with 200.
    pub fn get_json(&self, path: &str) -> Result<Value> {
        let response = self.get(path)?;
        if response.status != 200 {
            bail!("GET {path}: {} {}", response.status, String::from_utf8_lossy(&response.body));
        }
        response.try_json()
    }

    /// The cards of the board.
    pub fn board(&self) -> Result<Vec<Value>> {
        let board = self.get_json("/api/sessions")?;
        Ok(board["sessions"].as_array().context("no sessions in the reply")?.clone())
    }
}

#[track_caller]
pub fn get(addr: SocketAddr, path: &str) -> Response {
    HttpRequest::get(addr, path).send(addr)
}

#[track_caller]
pub fn post(addr: SocketAddr, path: &str, body: &str) -> Response {
    HttpRequest::post(addr, path, body).send(addr)
}
