//! Reads the payload from standard input. Its bytes, the time without new bytes and the total time are bounded.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::limits::{STDIN_CHUNK_BYTES, STDIN_ROOM_BYTES_MIN, STDIN_SILENCE, STDIN_TOTAL};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Whole,
    /// More than `max` bytes. The beginning was kept; the rest was read and dropped, so that the client's write succeeds.
    TooLong,
    /// The writer stopped without closing.
    Stalled,
}

/// Appends all of `input` to `buffer`. The payload is read in place and never copied.
pub(crate) fn read_to_end(input: impl AsFd, buffer: &mut Vec<u8>, max: usize) -> Body {
    let input = Reader { input, deadline: Instant::now() + STDIN_TOTAL };
    let most = buffer.len().saturating_add(max);
    loop {
        if buffer.len() > most || make_room(buffer).is_err() {
            input.drain();
            return Body::TooLong;
        }
        match input.read(buffer) {
            Some(0) => return Body::Whole,
            Some(_) => {}
            None => return Body::Stalled,
        }
    }
}

/// Grows the buffer only when little room is left. For most events the first chunk is enough, and the kernel maps only the pages of
/// it that are written.
fn make_room(buffer: &mut Vec<u8>) -> Result<(), std::collections::TryReserveError> {
    let left = buffer.capacity() - buffer.len();
    if left < STDIN_ROOM_BYTES_MIN { buffer.try_reserve(STDIN_CHUNK_BYTES) } else { Ok(()) }
}

struct Reader<F> {
    input: F,
    deadline: Instant,
}

impl<F: AsFd> Reader<F> {
    /// The number of bytes read, 0 at the end; `None` if the writer stalled.
    fn read(&self, buffer: &mut Vec<u8>) -> Option<usize> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now()).min(STDIN_SILENCE);
            if !wait_for(&mut [PollFd::new(&self.input, PollFlags::IN)], left) {
                return None;
            }
            match rustix::io::read(&self.input, spare_capacity(buffer)) {
                Ok(len) => return Some(len),
                Err(Errno::INTR | Errno::AGAIN) => {}
                // After a read error no more bytes can come.
                Err(_) => return Some(0),
            }
        }
    }

    fn drain(&self) {
        let mut scratch = Vec::with_capacity(STDIN_CHUNK_BYTES);
        while self.read(&mut scratch).is_some_and(|len| len > 0) {
            scratch.clear();
        }
    }
}

/// Sleeps until one of `fds` is ready or the time is up. Returns whether one is ready.
pub(crate) fn wait_for(fds: &mut [PollFd<'_>], within: Duration) -> bool {
    let until = Instant::now() + within;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left) else { return false };
        match poll(fds, Some(&timeout)) {
            Ok(ready) => return ready > 0,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(bytes: &'static [u8], max: usize) -> (Body, Vec<u8>) {
        let (input, mut writer) = std::io::pipe().unwrap();
        let writing = std::thread::spawn(move || writer.write_all(bytes).unwrap());
        let mut buffer = b"> ".to_vec();
        let body = read_to_end(&input, &mut buffer, max);
        writing.join().unwrap();
        (body, buffer)
    }

    #[test]
    fn a_payload_is_appended_whole() {
        assert_eq!(read(b"{}", 10), (Body::Whole, b"> {}".to_vec()));
        assert_eq!(read(b"", 10), (Body::Whole, b"> ".to_vec()));
    }

    #[test]
    fn a_payload_over_the_limit_is_read_to_its_end() {
        static LONG: [u8; 1 << 20] = [b'x'; 1 << 20];
        assert_eq!(read(&LONG, 10).0, Body::TooLong);
        assert_eq!(read(&LONG, 1 << 20).0, Body::Whole);
    }
}
