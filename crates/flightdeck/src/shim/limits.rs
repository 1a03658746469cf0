//! How long and how large, at most. A handler has 5 s: the slowest stdin, the largest body and a dead daemon together
//! stay below that.

use std::time::Duration;

/// A client writes the payload at once; silence this long means it hangs or a person typed `flightdeck hook`.
pub(super) const STDIN_SILENCE: Duration = Duration::from_secs(2);
/// All of stdin, so that one byte a second does not keep us for ever. 64 MB take a tenth of this.
pub(super) const STDIN_TOTAL: Duration = Duration::from_secs(3);
/// What one read asks for: a pipe holds 64 KB. The first pages of it are all that an ordinary event touches.
pub(super) const STDIN_CHUNK_BYTES: usize = 64 * 1024;
/// What a pipe takes before anybody reads: 64 KB on Linux, 16 KB at least on macOS.
pub(super) const PIPE_BYTES: usize = 16 * 1024;
/// Largest status line that is looked into; one has 2 KB. More is only passed on to the person's own command.
pub(super) const STATUS_LINE_FED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Less room than this is not worth a read.
pub(super) const STDIN_ROOM_BYTES_MIN: usize = 16 * 1024;
/// Connect, send and acknowledgement of an ordinary event: long for a daemon, short for a person.
pub(super) const ACK_WITHIN: Duration = Duration::from_millis(50);
/// Most that `--ack-ms` can ask for: handlers that ask for it are held for minutes anyway.
pub(super) const ACK_WITHIN_MAX: Duration = Duration::from_secs(30);
/// More time for each whole MB: a slow daemon is given the time of reading 40 MB a second.
pub(super) const ACK_WITHIN_PER_MB: Duration = Duration::from_millis(25);
/// Longer than the daemon itself holds, so that it is the daemon who ends an ask.
pub(super) const HOLD_GRACE: Duration = Duration::from_secs(2);
/// No handler's timeout is longer than a day; more is a mistake.
pub(super) const HOLD_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Longest reply: a verdict may carry a changed tool input, which is at most as large as a payload.
pub(super) const REPLY_BYTES_MAX: usize = flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
/// Room for the next piece of a reply; nearly every one is shorter than this, and it grows by doubling.
pub(super) const REPLY_ROOM_BYTES_MIN: usize = 256;
/// Longest variable that travels: a path is at most this long.
pub(super) const VARIABLE_BYTES_MAX: usize = 4096;
/// Longest text picked out of a payload that was too large.
pub(super) const PICKED_BYTES_MAX: usize = 4096;
/// Shells and wrappers between the client and us: usually one.
#[cfg(target_os = "linux")]
pub(super) const ANCESTORS_MAX: usize = 16;
/// One spooled event in this many counts the files: a full spool takes some milliseconds to read.
pub(super) const BOUNDS_EVERY: u128 = 64;
/// So many spooled bytes, on average, and one event also adds up their sizes, at a stat for each file.
pub(super) const BOUNDS_EVERY_BYTES: usize = 16 * 1024 * 1024;
/// A spooled event from this size on always does: few of them fill the spool.
pub(super) const BOUNDS_ALWAYS_FROM_BYTES: usize = 1024 * 1024;
