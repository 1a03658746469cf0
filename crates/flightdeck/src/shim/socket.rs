//! Hands a frame to the daemon and waits for its word, within a time nobody feels.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::limits::{ACK_WITHIN_PER_MB, HOLD_GRACE, HOLD_MAX, REPLY_BYTES_MAX, REPLY_ROOM_BYTES_MIN};
use super::stdin::wait_for;
use crate::private_folder;

/// What became of the event.
#[derive(Debug)]
pub(super) enum Outcome {
    Taken {
        verdict: Option<Box<RawValue>>,
    },
    /// Not an event, now or ever.
    Refused,
    NotTaken,
}

/// `{"ok", "data": {"seq", "hold_ms", "verdict"}, "error"}`
#[derive(Deserialize)]
struct Reply {
    ok: bool,
    #[serde(default)]
    data: Option<Data>,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Default, Deserialize)]
struct Data {
    #[serde(default)]
    hold_ms: Option<u64>,
    #[serde(default)]
    verdict: Option<Box<RawValue>>,
}

pub(super) fn deliver(socket: &Path, frame: &[u8], ack_within: Duration) -> Outcome {
    let deadline = Instant::now() + ack_within + more_for(frame.len());
    let Some(mut daemon) = Daemon::connect(socket, ack_within) else { return Outcome::NotTaken };
    // The reply decides, not the write: a daemon may refuse and close before it has read all.
    let _ = daemon.send(frame, deadline);
    let Some(line) = daemon.line(deadline, Hold::No) else { return Outcome::NotTaken };
    if is_plainly_taken(&line) {
        return Outcome::Taken { verdict: None };
    }
    let Some(reply) = parse(&line) else { return Outcome::NotTaken };
    if !reply.ok {
        let refused = reply.error.as_deref() == Some("VALIDATION_ERROR");
        return if refused { Outcome::Refused } else { Outcome::NotTaken };
    }
    let data = reply.data.unwrap_or_default();
    let verdict = data.verdict.or_else(|| daemon.held_verdict(Duration::from_millis(data.hold_ms?)));
    Outcome::Taken { verdict }
}

/// Hands over a small frame without waiting for anything, an answer least of all. The daemon reads it even though we are
/// gone by then.
pub(super) fn tell(path: &Path, frame: &[u8]) -> Option<()> {
    private_folder::open(path.parent()?).ok()?;
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).ok()?;
    // With a full backlog connect fails at once instead of waiting.
    rustix::io::ioctl_fionbio(&socket, true).ok()?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path).ok()?).ok()?;
    let sent = rustix::net::send(&socket, frame, SendFlags::NOSIGNAL).ok()?;
    (sent == frame.len()).then_some(())
}

fn more_for(bytes: usize) -> Duration {
    let whole_mb = u32::try_from(bytes / (1024 * 1024)).unwrap_or(u32::MAX);
    ACK_WITHIN_PER_MB.saturating_mul(whole_mb)
}

/// The answer to nearly every event, known by sight: the parser is code that a hook would have to bring into memory.
fn is_plainly_taken(line: &[u8]) -> bool {
    let rest = line.strip_prefix(br#"{"ok":true,"data":{"seq":"#);
    let seq = rest.and_then(|rest| rest.strip_suffix(b",\"hold_ms\":0,\"verdict\":null}}\n"));
    seq.is_some_and(|seq| !seq.is_empty() && seq.iter().all(u8::is_ascii_digit))
}

fn parse(line: &[u8]) -> Option<Reply> {
    serde_json::from_slice(line).ok()
}

/// While an ask is held, nobody waiting for our answer ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hold {
    Yes,
    No,
}

struct Daemon {
    socket: OwnedFd,
    inbox: Vec<u8>,
}

impl Daemon {
    fn connect(path: &Path, within: Duration) -> Option<Self> {
        // Somebody else's socket would get our prompts.
        private_folder::open(path.parent()?).ok()?;
        let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).ok()?;
        // A full backlog makes connect wait, and it cannot be polled for; its own timeout is the send timeout.
        set_socket_timeout(&socket, Timeout::Send, Some(within)).ok()?;
        let address = SocketAddrUnix::new(path).ok()?;
        retry_on_intr(|| rustix::net::connect(&socket, &address)).ok()?;
        Some(Self { socket, inbox: Vec::new() })
    }

    fn send(&self, mut frame: &[u8], deadline: Instant) -> Option<()> {
        while !frame.is_empty() {
            match rustix::net::send(&self.socket, frame, SendFlags::DONTWAIT) {
                Ok(sent) => frame = frame.get(sent..)?,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let mut room = [PollFd::new(&self.socket, PollFlags::OUT)];
                    wait_for(&mut room, left(deadline)).then_some(())?;
                }
                Err(_) => return None,
            }
        }
        Some(())
    }

    /// The next whole line, or `None` at the end of connection, patience or bounds.
    fn line(&mut self, deadline: Instant, hold: Hold) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = self.inbox.iter().position(|b| *b == b'\n') {
                let rest = self.inbox.split_off(end + 1);
                return Some(std::mem::replace(&mut self.inbox, rest));
            }
            if self.inbox.len() > REPLY_BYTES_MAX || !self.wait(deadline, hold) {
                return None;
            }
            self.inbox.try_reserve(REPLY_ROOM_BYTES_MIN).ok()?;
            let room = spare_capacity(&mut self.inbox);
            match rustix::net::recv(&self.socket, room, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return None,
                Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return None,
            }
        }
    }

    fn wait(&self, deadline: Instant, hold: Hold) -> bool {
        let stdout = rustix::stdio::stdout();
        let news = PollFd::new(&self.socket, PollFlags::IN);
        // No flags: only that the reader of our stdout is gone. Ending then tells the daemon the same.
        let mut fds = [news, PollFd::new(&stdout, PollFlags::empty())];
        let watched = if hold == Hold::Yes { 2 } else { 1 };
        wait_for(&mut fds[..watched], left(deadline)) && !fds[0].revents().is_empty()
    }

    /// The answer to an ask, if one comes while it is open.
    fn held_verdict(&mut self, hold: Duration) -> Option<Box<RawValue>> {
        if hold.is_zero() {
            return None;
        }
        let deadline = Instant::now() + hold.min(HOLD_MAX) + HOLD_GRACE;
        let reply = self.line(deadline, Hold::Yes).and_then(|l| parse(&l))?;
        reply.data.filter(|_| reply.ok)?.verdict
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inlet::socket::hook_reply;

    #[test]
    fn a_large_event_gets_more_time() {
        assert_eq!(more_for(500_000), Duration::ZERO);
        assert_eq!(more_for(20 << 20), Duration::from_millis(500));
    }

    #[test]
    fn what_the_daemon_says_of_nearly_every_event_is_known_by_sight() {
        let line = |reply: serde_json::Value| reply.to_string() + "\n";
        assert!(is_plainly_taken(line(hook_reply(7, 0, None)).as_bytes()));
        for other in [
            line(hook_reply(7, 9, None)),
            line(hook_reply(7, 0, Some(b"{}"))),
            r#"{"ok":true,"data":{"seq":,"hold_ms":0,"verdict":null}}"#.to_owned() + "\n",
            r#"{"ok":true,"data":{"seq":1},"error":{"seq":2,"hold_ms":0,"verdict":null}}"#.to_owned() + "\n",
        ] {
            assert!(!is_plainly_taken(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_verdict_keeps_its_spelling() {
        let reply = parse(br#"{"ok":true,"data":{"seq":1,"hold_ms":0,"verdict":{"b": 1.0, "a":"\u00e4"}}}"#);
        assert_eq!(reply.unwrap().data.unwrap().verdict.unwrap().get(), r#"{"b": 1.0, "a":"\u00e4"}"#);
        let none =
            parse(br#"{"ok":true,"data":{"seq":1,"hold_ms":9,"verdict":null}}"#).unwrap().data.unwrap();
        assert!(none.verdict.is_none() && none.hold_ms == Some(9));
    }
}
