//! A running daemon of the built binary.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::http::{Api, Response};
use super::{DEADLINE, must, until};

/// A daemon of a test. Dropping it kills the process.
#[derive(Debug)]
pub struct TestDaemon {
    child: Child,
    pub url: String,
    pub addr: SocketAddr,
    stderr: PathBuf,
    timeout: Duration,
}

impl TestDaemon {
    /// Runs a command that starts a daemon, and waits for the line with its address. Its stderr goes to that file.
    pub fn try_start(mut command: Command, stderr: &Path) -> Result<Self> {
        command.stdout(Stdio::piped()).stderr(fs::File::create(stderr)?);
        let mut child = command.spawn().context("cannot start the daemon")?;
        match address(&mut child) {
            Ok((url, addr)) => Ok(Self { child, url, addr, stderr: stderr.to_owned(), timeout: DEADLINE }),
            Err(error) => {
                // Both fail only if it has ended already.
                let _ = child.kill();
                let status = child.wait()?;
                let text = fs::read_to_string(stderr).unwrap_or_default();
                Err(error.context(format!("the daemon did not start: {status}, {text}")))
            }
        }
    }

    /// The longest silence before a request fails; [`DEADLINE`] if none is given.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    #[track_caller]
    pub fn stderr(&self) -> String {
        must(fs::read_to_string(&self.stderr).context("the daemon's stderr is gone"))
    }

    /// An HTTP client for this daemon whose requests return errors instead of panicking.
    pub fn api(&self) -> Api {
        Api { addr: self.addr, timeout: self.timeout }
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Response {
        must(self.api().get(path))
    }

    #[track_caller]
    pub fn post(&self, path: &str, body: &str) -> Response {
        must(self.api().post(path, body))
    }

    #[track_caller]
    pub fn board(&self) -> Vec<Value> {
        must(self.api().board())
    }

    #[track_caller]
    pub fn card(&self, id: &str) -> Value {
        self.get(&format!("/api/sessions/{id}")).json()
    }

    #[track_caller]
    pub fn events_total(&self) -> u64 {
        must(self.get("/hook/status").json()["events_total"].as_u64().context("no events_total"))
    }

    /// Resident bytes, now and at most.
    pub fn try_memory(&self) -> Result<(u64, u64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid()))?;
        let field = |name: &str| -> Result<u64> {
            let line = status.lines().find(|line| line.starts_with(name));
            let number = line.and_then(|line| line.split_whitespace().nth(1));
            Ok(number.with_context(|| format!("no {name}"))?.parse::<u64>()? * 1024)
        };
        Ok((field("VmRSS:")?, field("VmHWM:")?))
    }

    #[track_caller]
    pub fn memory(&self) -> (u64, u64) {
        must(self.try_memory())
    }

    #[track_caller]
    pub fn signal(&self, signal: Signal) {
        must(kill_process(Pid::from_child(&self.child), signal).context("cannot signal the daemon"));
    }

    pub fn try_kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// `kill -9`.
    #[track_caller]
    pub fn kill(mut self) {
        must(self.try_kill());
    }

    #[track_caller]
    pub fn stop(self) -> ExitStatus {
        self.stop_with(Signal::TERM)
    }

    #[track_caller]
    pub fn stop_with(mut self, signal: Signal) -> ExitStatus {
        self.signal(signal);
        until("the daemon has ended", || must(self.child.try_wait().context("cannot wait")))
    }
}

impl Drop for TestDaemon {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first line on stdout has the address: `Flightdeck is at http://127.0.0.1:47892`.
fn address(child: &mut Child) -> Result<(String, SocketAddr)> {
    let stdout = child.stdout.take().context("no stdout")?;
    let (send, lines) = mpsc::channel();
    // The thread reads on after the first line, so that the daemon never blocks on a full pipe.
    std::thread::spawn(move || {
        BufReader::new(stdout).lines().map_while(Result::ok).for_each(|line| drop(send.send(line)));
    });
    let line = lines.recv_timeout(DEADLINE).context("it printed no address")?;
    let addr = address_in(&line).with_context(|| format!("no address in {line:?}"))?;
    Ok((format!("http://{addr}"), addr))
}

fn address_in(line: &str) -> Option<SocketAddr> {
    let after = line.split("http://").nth(1)?;
    let text: String = after.chars().take_while(|c| !c.is_whitespace() && *c != '/').collect();
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_in_the_line_that_the_daemon_prints() {
        let found = |line| address_in(line).map(|addr| addr.to_string());
        assert_eq!(
            found("Flightdeck on http://127.0.0.1:47892/ (54 sessions)").as_deref(),
            Some("127.0.0.1:47892")
        );
        assert_eq!(found("http://127.0.0.1:1").as_deref(), Some("127.0.0.1:1"));
        assert_eq!(found("starting"), None);
    }
}
