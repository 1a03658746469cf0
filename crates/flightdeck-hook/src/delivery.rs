//! Sends a frame to the daemon and waits for its reply. The wait is so short that a person does not notice it.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType};

use crate::limits::{ACK_WITHIN_PER_MB, HOLD_GRACE, HOLD_MAX, REPLY_BYTES_MAX, REPLY_ROOM_BYTES_MIN};
use crate::private_folder;
use crate::reply::DaemonReply;
use crate::stdin::wait_for;

#[derive(Debug)]
pub(crate) enum Delivery {
    Acknowledged,
    /// Acknowledged with a verdict, which is printed.
    Answered(Verdict),
    /// The payload is not an event: the daemon would refuse it again.
    Refused,
    /// No daemon, no reply in time, or the daemon could not store the event.
    Failed,
}

/// What the hook prints.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) json: Vec<u8>,
    /// The connection to the daemon, if it waits until the verdict is printed. For a person's answer it does not wait.
    daemon: Option<Connection>,
}

impl Verdict {
    /// Tells the daemon that the client has the verdict: without that, the daemon gives its texts again.
    pub(crate) fn confirm_printed(&self) {
        let Some(daemon) = &self.daemon else { return };
        // If the confirmation is lost, the agent gets the texts twice.
        let _ = rustix::net::send(&daemon.socket, PRINTED, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }
}

/// The line that confirms a verdict.
const PRINTED: &[u8] = b"{\"printed\":true}\n";

/// Sends an event to the daemon, and waits for its reply and, if the event is held, for the verdict.
pub(crate) fn deliver(socket: &Path, frame: &[u8], ack_within: Duration) -> Delivery {
    let deadline = Instant::now() + ack_within;
    let Some(mut daemon) = Connection::open(socket, ack_within) else { return Delivery::Failed };
    // The reply decides, not the write: the daemon may refuse and close before it has read everything.
    let _ = daemon.send(frame, deadline);
    let Some(line) = daemon.line(deadline, Held::No) else { return Delivery::Failed };
    if is_plain_acknowledgement(&line) {
        return Delivery::Acknowledged;
    }
    match DaemonReply::parse(&line) {
        Some(DaemonReply { ok: true, verdict: Some(json), .. }) => {
            Delivery::Answered(Verdict { json, daemon: Some(daemon) })
        }
        Some(DaemonReply { ok: true, hold, .. }) => match hold.and_then(|hold| daemon.held_verdict(hold)) {
            Some(json) => Delivery::Answered(Verdict { json, daemon: None }),
            None => Delivery::Acknowledged,
        },
        Some(DaemonReply { is_invalid: true, .. }) => Delivery::Refused,
        _ => Delivery::Failed,
    }
}

/// Sends lines to the daemon and returns the last reply. `within` has one time limit for each reply, counted from now. Returns `None`
/// if a reply is late or the daemon is gone. For `flightdeck rpc`, when a client waits for its output.
pub fn exchange_lines(socket: &Path, lines: &[u8], within: &[Duration]) -> Option<Vec<u8>> {
    let begun = Instant::now();
    let first = *within.first()?;
    let mut daemon = Connection::open(socket, first)?;
    // The reply decides, not the write: see `deliver`.
    let _ = daemon.send(lines, begun + first);
    let mut reply = None;
    for within in within {
        reply = Some(daemon.line(begun + *within, Held::No)?);
    }
    reply
}

/// Sends a small frame without waiting for room or a reply. The daemon reads it even if this process has ended by then.
pub(crate) fn send_without_reply(path: &Path, frame: &[u8]) -> Option<()> {
    private_folder::open(path.parent()?).ok()?;
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).ok()?;
    // With a full backlog connect fails at once instead of waiting.
    rustix::io::ioctl_fionbio(&socket, true).ok()?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path).ok()?).ok()?;
    let sent = rustix::net::send(&socket, frame, SendFlags::NOSIGNAL).ok()?;
    (sent == frame.len()).then_some(())
}

pub(crate) fn more_time_for(bytes: usize) -> Duration {
    let whole_mb = u32::try_from(bytes / (1024 * 1024)).unwrap_or(u32::MAX);
    ACK_WITHIN_PER_MB.saturating_mul(whole_mb)
}

/// Recognises the usual reply without the parser, because loading the parser's code into memory takes time.
pub fn is_plain_acknowledgement(line: &[u8]) -> bool {
    let rest = line.strip_prefix(br#"{"ok":true,"data":{"seq":"#);
    let seq = rest.and_then(|rest| rest.strip_suffix(b",\"hold_ms\":0,\"verdict\":null}}\n"));
    seq.is_some_and(|seq| !seq.is_empty() && seq.iter().all(u8::is_ascii_digit))
}

/// Whether the daemon holds this hook for a person's answer. While it does, the hook ends if the client stops listening.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Yes,
    No,
}

#[derive(Debug)]
struct Connection {
    socket: OwnedFd,
    /// Bytes that were received and not yet returned as a line.
    received: Vec<u8>,
}

impl Connection {
    fn open(path: &Path, within: Duration) -> Option<Self> {
        // A socket of another user must not receive the person's prompts.
        private_folder::open(path.parent()?).ok()?;
        let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).ok()?;
        // With a full backlog connect blocks. poll does not report that, but the send timeout ends it.
        set_socket_timeout(&socket, Timeout::Send, Some(within)).ok()?;
        let address = SocketAddrUnix::new(path).ok()?;
        retry_on_intr(|| rustix::net::connect(&socket, &address)).ok()?;
        Some(Self { socket, received: Vec::new() })
    }

    fn send(&self, mut frame: &[u8], deadline: Instant) -> Option<()> {
        while !frame.is_empty() {
            match rustix::net::send(&self.socket, frame, SendFlags::DONTWAIT) {
                Ok(sent) => frame = frame.get(sent..)?,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let mut room = [PollFd::new(&self.socket, PollFlags::OUT)];
                    wait_for(&mut room, time_left(deadline)).then_some(())?;
                }
                Err(_) => return None,
            }
        }
        Some(())
    }

    /// The next whole line. `None` if the connection ends, the deadline passes or the line is too long.
    fn line(&mut self, deadline: Instant, held: Held) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = self.received.iter().position(|b| *b == b'\n') {
                let rest = self.received.split_off(end + 1);
                return Some(std::mem::replace(&mut self.received, rest));
            }
            if self.received.len() > REPLY_BYTES_MAX || !self.wait(deadline, held) {
                return None;
            }
            self.received.try_reserve(REPLY_ROOM_BYTES_MIN).ok()?;
            let room = spare_capacity(&mut self.received);
            match rustix::net::recv(&self.socket, room, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return None,
                Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return None,
            }
        }
    }

    fn wait(&self, deadline: Instant, held: Held) -> bool {
        let stdout = rustix::stdio::stdout();
        let reply = PollFd::new(&self.socket, PollFlags::IN);
        // Without flags poll reports only that the reader of stdout is gone. The hook then ends, which the daemon notices.
        let mut fds = [reply, PollFd::new(&stdout, PollFlags::empty())];
        let watched = if held == Held::Yes { 2 } else { 1 };
        wait_for(&mut fds[..watched], time_left(deadline)) && !fds[0].revents().is_empty()
    }

    /// The verdict, if a person answers while the ask is open.
    fn held_verdict(&mut self, hold: Duration) -> Option<Vec<u8>> {
        if hold.is_zero() {
            return None;
        }
        let deadline = Instant::now() + hold.min(HOLD_MAX) + HOLD_GRACE;
        let reply = self.line(deadline, Held::Yes).and_then(|line| DaemonReply::parse(&line))?;
        reply.verdict.filter(|_| reply.ok)
    }
}

fn time_left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::limits::ACK_WITHIN;

    /// How often a wait is measured: another process may take the processor meanwhile, and that does not happen each time.
    const TRIES: usize = 50;
    /// Time to notice that the wait is over.
    const NOTICED_WITHIN: Duration = Duration::from_millis(5);

    /// The shortest of several deliveries that fail; each must have waited for `at_least`.
    fn shortest_wait(socket: &Path, at_least: Duration, at_most: Duration) -> Duration {
        let mut shortest = Duration::MAX;
        for _ in 0..TRIES {
            let begun = Instant::now();
            assert!(matches!(deliver(socket, b"{}\n", ACK_WITHIN), Delivery::Failed));
            let took = begun.elapsed();
            assert!(took >= at_least, "{took:?}");
            shortest = shortest.min(took);
            if shortest <= at_most {
                break;
            }
        }
        shortest
    }

    fn private_home() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        home
    }

    #[test]
    fn a_daemon_that_does_not_answer_is_waited_for_no_longer_than_promised() {
        let home = private_home();
        let socket = home.path().join("busy.sock");
        let _busy = UnixListener::bind(&socket).unwrap();
        let most = ACK_WITHIN + NOTICED_WITHIN;
        let took = shortest_wait(&socket, ACK_WITHIN, most);
        println!("a busy daemon was waited for {took:?}");
        assert!(took <= most, "{took:?}");
    }

    #[test]
    fn the_last_of_several_replies_is_returned_and_each_has_a_time_of_its_own() {
        let home = private_home();
        let socket = home.path().join("slow.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let long = Duration::from_secs(60);
        let asks = |within: &[Duration]| exchange_lines(&socket, b"one\ntwo\n", within);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                use std::io::Write;
                let (mut whole, _) = listener.accept().unwrap();
                whole.write_all(b"first\n").unwrap();
                whole.write_all(b"second\n").unwrap();
                let (mut half, _) = listener.accept().unwrap();
                half.write_all(b"first\n").unwrap();
            });
            assert_eq!(asks(&[long, long]).unwrap(), b"second\n");
            assert_eq!(asks(&[long, long]), None, "it closed the connection");
        });
        assert_eq!(asks(&[ACK_WITHIN, long]), None, "no first reply, so the second is not waited for");
        drop(listener);
        assert_eq!(asks(&[long]), None, "it is down");
    }

    #[test]
    fn a_daemon_that_is_down_is_not_waited_for() {
        let home = private_home();
        for (what, socket) in [("no socket", "none.sock"), ("a socket without a daemon", "left.sock")] {
            let socket = home.path().join(socket);
            if what != "no socket" {
                drop(UnixListener::bind(&socket).unwrap());
            }
            let took = shortest_wait(&socket, Duration::ZERO, NOTICED_WITHIN);
            println!("{what}: {took:?}");
            assert!(took <= NOTICED_WITHIN, "{took:?}");
        }
    }

    #[test]
    fn a_large_event_gets_more_time() {
        assert_eq!(more_time_for(500_000), Duration::ZERO);
        assert_eq!(more_time_for(20 << 20), Duration::from_millis(500));
    }

    #[test]
    fn only_the_plain_acknowledgement_is_recognised_without_the_parser() {
        let plain = |line: &str| is_plain_acknowledgement(format!("{line}\n").as_bytes());
        assert!(plain(r#"{"ok":true,"data":{"seq":7,"hold_ms":0,"verdict":null}}"#));
        for other in [
            r#"{"ok":true,"data":{"seq":7,"hold_ms":9,"verdict":null}}"#,
            r#"{"ok":true,"data":{"seq":7,"hold_ms":0,"verdict":{}}}"#,
            r#"{"ok":true,"data":{"seq":,"hold_ms":0,"verdict":null}}"#,
            r#"{"ok":true,"data":{"seq":1},"error":{"seq":2,"hold_ms":0,"verdict":null}}"#,
        ] {
            assert!(!plain(other), "{other}");
        }
    }
}
