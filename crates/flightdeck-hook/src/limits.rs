//! How long and how large, at most. The client gives a handler 5 s: the slowest stdin, the largest body and a dead daemon
//! together stay below that.

use std::time::Duration;

/// Largest payload that is delivered whole. The daemon has the same bound; a larger one is sent without its large parts.
pub const HOOK_BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest text of a status line that is kept: as long as the longest path.
pub const STATUS_LINE_TEXT_BYTES_MAX: usize = 4096;

/// The client writes the payload at once. Silence this long means that it hangs, or that a person typed `flightdeck hook`.
pub(crate) const STDIN_SILENCE: Duration = Duration::from_secs(2);
/// Longest time for all of stdin, so that a writer of one byte a second does not keep the hook for ever. 64 MB take a tenth of it.
pub(crate) const STDIN_TOTAL: Duration = Duration::from_secs(3);
/// Bytes asked for in one read: a pipe holds 64 KB. An ordinary event touches only the first pages of the buffer.
pub(crate) const STDIN_CHUNK_BYTES: usize = 64 * 1024;
/// Bytes that fit into a pipe without a reader: 64 KB on Linux, 16 KB at least on macOS.
pub(crate) const PIPE_BYTES: usize = 16 * 1024;
/// Largest status line that is read; an ordinary one has 2 KB. A larger one is only passed on to the person's own command.
pub(crate) const STATUS_LINE_READ_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The buffer grows before a read if it has less free space than this.
pub(crate) const STDIN_ROOM_BYTES_MIN: usize = 16 * 1024;
/// Longest time to connect, send and get the acknowledgement of an ordinary event. The daemon needs far less, and a person does not
/// notice it.
pub const ACK_WITHIN: Duration = Duration::from_millis(50);
/// Longest time that `--ack-ms` can ask for: handlers that ask for it are held for minutes anyway.
pub(crate) const ACK_WITHIN_MAX: Duration = Duration::from_secs(30);
/// More time for each whole MB: a slow daemon reads 40 MB a second.
pub(crate) const ACK_WITHIN_PER_MB: Duration = Duration::from_millis(25);
/// The hook waits this much longer than the daemon holds, so that the daemon ends the ask.
pub(crate) const HOLD_GRACE: Duration = Duration::from_secs(2);
/// No handler's timeout is longer than a day; a longer one is a mistake.
pub(crate) const HOLD_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Longest reply: a verdict may carry a changed tool input, which is at most as large as a payload.
pub(crate) const REPLY_BYTES_MAX: usize = HOOK_BODY_BYTES_MAX;
/// Free space for the next part of a reply. Most replies are shorter than this; the buffer grows by doubling.
pub(crate) const REPLY_ROOM_BYTES_MIN: usize = 256;
/// Longest environment variable that is sent: as long as the longest path.
pub(crate) const VARIABLE_BYTES_MAX: usize = 4096;
/// Longest text that is kept of a payload which is too large to send.
pub(crate) const HEAD_TEXT_BYTES_MAX: usize = 4096;
/// Most shells and wrappers between the client and its hook; usually there is one.
#[cfg(target_os = "linux")]
pub(crate) const ANCESTORS_MAX: usize = 16;
