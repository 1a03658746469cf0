//! Every bound has a name, a unit at its end and a reason.

use crate::time::Millis;

/// Largest hook body taken whole: PostToolUse of a Write carries the file twice. More is 413, or `truncated` by the shim.
pub const HOOK_BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest session id taken: a uuid has 36; the wire shape promises 128.
pub const SESSION_ID_BYTES_MAX: usize = 128;
/// A payload smaller than this is kept whole, whatever it is; most are.
pub const CLIP_PAYLOAD_FROM_BYTES: usize = 16 * 1024;
/// Most bytes kept of what a tool was given or returned: a timeline line and its detail need no more.
pub const TOOL_PAYLOAD_BYTES_MAX: usize = 16 * 1024;
/// Most bytes kept of any other event: a long prompt, a long answer.
pub const OTHER_PAYLOAD_BYTES_MAX: usize = 64 * 1024;
/// Most bytes kept of what a person decides on (an input, questions, a plan), and so of any payload in the log.
pub const PAYLOAD_BYTES_MAX: usize = 256 * 1024;
/// Longest key inside a clipped payload: names are short, data used as a key may be anything.
pub const CLIPPED_KEY_BYTES_MAX: usize = 128;
/// Deepest payload taken as it is: our parser goes no deeper than 128, and what is stored must be read again.
pub const PAYLOAD_DEPTH_MAX: usize = 100;
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
/// Longest name on a card: of a tool, a model, an agent type, a server.
pub const NAME_CHARS_MAX: usize = 100;
/// Longest text kept of a status line: a path is at most this long.
pub const STATUS_LINE_TEXT_BYTES_MAX: usize = 4096;
/// Longest failure note on a card.
pub const FAILURE_CHARS_MAX: usize = 300;
/// Most open calls remembered per agent: parallel calls are a handful; more means their ends were lost.
pub const OPEN_CALLS_MAX: usize = 64;
/// Most open needs per agent, for the same reason.
pub const OPEN_NEEDS_MAX: usize = 32;
/// Calls whose end came first are remembered this long, so that a late start does not open them again.
pub const CLOSED_CALLS_MAX: usize = 64;
/// And beyond the end of their turn at least this long, for events without a clock of their own.
pub const CLOSED_CALLS_STAY: Millis = Millis::minutes(1);
/// Turns whose late events are still known to be late, for events without a clock of their own.
pub const ENDED_TURNS_MAX: usize = 8;
/// Most subagents kept per session; the oldest finished ones go first.
pub const CHILDREN_MAX: usize = 64;
/// Most to-dos on a card.
pub const TODOS_MAX: usize = 100;
/// Stretches of one session in the overview: some hundred turns.
pub const STRIP_MAX: usize = 256;
/// Sessions that left the board and are still in the overview: a day of many short ones.
pub const PAST_SESSIONS_MAX: usize = 500;
/// State changes remembered per session, for "why is it here": the last half hour of a busy session. The log has them all.
pub const HISTORY_MAX: usize = 64;
/// Most sessions in the fleet; over it the longest silent one is dropped from the board (never from the store).
pub const FLEET_SESSIONS_MAX: usize = 20_000;
/// Ended sessions remembered by id alone, so that a late hook makes no ghost.
pub const ENDED_IDS_MAX: usize = 20_000;
/// An ended session leaves the live set after this, so that a person sees it go.
pub const COMPLETED_AFTER: Millis = Millis::seconds(10);
/// How long Done keeps an ended card unless configured.
pub const DONE_KEEPS: Millis = Millis::minutes(30);
/// A working session without any sign of life for this long is marked quiet.
pub const QUIET_AFTER: Millis = Millis::seconds(60);
/// A transcript that grows is worth an event where a working session gave no sign of life for this long.
pub const GROWTH_COUNTS_AFTER: Millis = Millis::seconds(10);
/// A session without activity for this long is marked stale.
pub const STALE_AFTER: Millis = Millis::hours(8);
/// Events of one session tolerate this much disorder: they have no clock of their own, or looked at it late.
pub const DISORDER_MAX: Millis = Millis::seconds(1);
/// A word of the registry counts once it has stood for this long: nothing it shows flickers.
pub const SETTLE: Millis = Millis(250);
/// If the client is still busy this long after its Stop, a Stop hook sent it on.
pub const BUSY_AFTER_STOP: Millis = Millis::seconds(1);
/// Longest path on a card: what the kernel takes.
pub const PATH_CHARS_MAX: usize = 4096;
/// Longest id of a call, a prompt, a subagent: a uuid has 36.
pub const ID_CHARS_MAX: usize = 128;
/// Longest piece of the last answer on a card.
pub const CARD_ANSWER_CHARS_MAX: usize = 500;
/// Most files named on a card as touched; all are counted.
pub const FILES_TOUCHED_MAX: usize = 200;
/// Most files beyond those that are counted, each by a mark of eight bytes.
pub const FILES_COUNTED_MAX: usize = 5000;
/// Most subagents whose own tokens are told apart; the session's totals hold those of all.
pub const AGENTS_PRICED_MAX: usize = 512;
/// Most prompts waiting in a session's queue that are told apart.
pub const QUEUE_MAX: usize = 256;
/// How long a provider keeps a cached prompt after its last use, by the class it was written with.
pub const CACHE_LIVES_5M: Millis = Millis::minutes(5);
pub const CACHE_LIVES_1H: Millis = Millis::hours(1);
/// Most of an ask's input that its card carries to every viewer: a long file is reviewed in the drawer, from the log.
pub const ASK_INPUT_BYTES_MAX: usize = 64 * 1024;
/// Longest text beside an ask: a description of a choice, the message of a form.
pub const ASK_TEXT_CHARS_MAX: usize = 4_000;
/// Longest pattern in a rule of the policy.
pub const POLICY_TEXT_CHARS_MAX: usize = 1_000;
/// Most of a rule's name that an answer carries: some long rules side by side.
pub const RULE_NAME_CHARS_MAX: usize = 500;
/// Most questions of one ask; the client's own dialog has four.
pub const QUESTIONS_MAX: usize = 16;
/// Longest answer to one question.
pub const ANSWER_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Longest answer in all: it is an event like any other.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Most asks on one card; over it the oldest that ended leaves, else the oldest.
pub const ASKS_MAX: usize = 64;
/// An ask that ended stays on its card this long, so that a person sees how.
pub const ASK_STAYS: Millis = Millis::seconds(60);
/// Asks that left their card and whose end is still told to one who answers late.
pub const PAST_ASKS_MAX: usize = 8;
