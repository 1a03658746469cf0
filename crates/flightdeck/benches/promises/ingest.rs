//! Requests per second of POST /api/live/hook, which replies when the event is durable, against a handler that does nothing and a bare
//! append, one after the other.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::post;
use axum::serve::ListenerExt;

use crate::daemon::Daemon;
use crate::store::{BareAppend, batches};
use crate::world::{SESSIONS, World, payload, session};
use crate::{PromisePlan, Series};

/// A connection for each session of a large fleet, in two threads: few enough to leave the cores to the server.
const THREADS: usize = 2;
const CONNECTIONS: usize = SESSIONS as usize / THREADS;
const WINDOW: Duration = Duration::from_millis(1000);

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let world = World::new(plan)?;
    let daemon = Daemon::start(&world)?;
    let empty = Empty::start()?;
    let append_world = World::new(plan)?;
    let append = BareAppend::new(&append_world)?;
    let names = ["empty axum handler", "durable hook", "bare append", "handler and append"];
    let mut series = names.map(|name| Series::new(name, "req/s"));
    let next = AtomicU64::new(0);
    let mut appended = 0;
    for round in 0..=plan.rounds(6, 20) {
        let handled = load(&empty.address, &next)?;
        let durable = load(&daemon.address(), &next)?;
        let rate = append.rate(batches(&mut appended)?)?;
        // The first round warms up.
        if round > 0 {
            let rates = [handled, durable, rate, in_series(handled, rate)];
            series.iter_mut().zip(rates).for_each(|(series, rate)| series.samples.push(rate));
        }
    }
    Ok(series.into())
}

/// The rate of doing both, one after the other.
fn in_series(one: f64, other: f64) -> f64 {
    1.0 / (1.0 / one + 1.0 / other)
}

/// Requests per second over one window.
fn load(address: &str, next: &AtomicU64) -> Result<f64> {
    let begun = Instant::now();
    let done: Result<Vec<u64>> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| client(address, next, begun))).collect();
        clients.into_iter().map(|c| c.join().unwrap_or_else(|_| bail!("a client panicked"))).collect()
    });
    Ok(done?.iter().sum::<u64>() as f64 / begun.elapsed().as_secs_f64())
}

/// Keeps one request in flight on each connection: the next is sent as soon as the reply was read.
fn client(address: &str, next: &AtomicU64, begun: Instant) -> Result<u64> {
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut connection = BufReader::new(stream);
        send(&mut connection, address, next)?;
        connections.push(connection);
    }
    let mut done = 0;
    while begun.elapsed() < WINDOW {
        for connection in &mut connections {
            read_no_content(connection)?;
            done += 1;
            send(connection, address, next)?;
        }
    }
    for connection in &mut connections {
        read_no_content(connection)?;
        done += 1;
    }
    Ok(done)
}

fn send(connection: &mut BufReader<TcpStream>, address: &str, next: &AtomicU64) -> Result<()> {
    let n = next.fetch_add(1, Ordering::Relaxed);
    // Pairs of start and end, spread over the fleet.
    let body = serde_json::to_vec(&payload(n, &session(n / 2 % SESSIONS)))?;
    let head = format!(
        "POST /api/live/hook HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    Ok(connection.get_mut().write_all(&[head.as_bytes(), &body].concat())?)
}

fn read_no_content(connection: &mut BufReader<TcpStream>) -> Result<()> {
    let mut line = String::new();
    connection.read_line(&mut line)?;
    if !line.starts_with("HTTP/1.1 204") {
        bail!("a hook was answered {line:?}");
    }
    while line != "\r\n" {
        line.clear();
        connection.read_line(&mut line)?;
    }
    Ok(())
}

/// The anchor in a process of its own, as the daemon is.
struct Empty {
    child: Child,
    address: String,
}

impl Empty {
    fn start() -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("serve-empty")
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        BufReader::new(child.stdout.take().context("no stdout")?).read_line(&mut address)?;
        Ok(Self { child, address: address.trim().to_owned() })
    }
}

impl Drop for Empty {
    fn drop(&mut self) {
        // Both fail only if the child has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The same runtime and socket options as the daemon's, the body given to a handler that does nothing with it. Ends with its stdin.
pub(crate) fn serve_empty() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.spawn(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let router =
            axum::Router::new().route("/api/live/hook", post(async |_: Bytes| StatusCode::NO_CONTENT));
        axum::serve(listener, router).await
    });
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
