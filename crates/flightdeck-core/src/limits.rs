//! Every bound has a name, a unit at its end and a reason.

use crate::time::Millis;

/// Largest hook body taken whole: PostToolUse of a Write carries the file twice. More is 413, or `truncated` by the shim.
pub const HOOK_BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest session id taken: a uuid has 36; the wire shape promises 128.
pub const SESSION_ID_BYTES_MAX: usize = 128;
/// Longest string kept inside a clipped tool payload: enough for a timeline line and its detail.
pub const CLIPPED_STRING_BYTES_MAX: usize = 2 * 1024;
/// Longest list kept inside a clipped tool payload.
pub const CLIPPED_LIST_ITEMS_MAX: usize = 64;
/// A tool payload smaller than this is kept whole; most are.
pub const CLIP_PAYLOAD_FROM_BYTES: usize = 16 * 1024;
/// Longest prompt on a card; the full text stays in the event.
pub const CARD_PROMPT_CHARS_MAX: usize = 500;
/// Longest one-line summary of a tool's input: a card is one line wide.
pub const TOOL_SUMMARY_CHARS_MAX: usize = 160;
/// Longest message of an elicitation on a card.
pub const ELICITATION_CHARS_MAX: usize = 100;
/// A spooled event older than this tells nothing about now.
pub const SPOOL_AGE_MAX: Millis = Millis::hours(24 * 7);
/// Most bytes the spool may hold while the daemon is down; the oldest are dropped and counted.
pub const SPOOL_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Most files the spool may hold, so that listing it stays quick.
pub const SPOOL_FILES_MAX: usize = 50_000;
