//! Bounds. Each has a name, a unit at its end and a reason.

use crate::time::Millis;

/// Largest hook body accepted: PostToolUse of a Write carries the file twice. A larger one gets 413, or the hook truncates it.
pub const HOOK_BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest session id accepted: a uuid has 36; the wire format promises 128.
pub const SESSION_ID_BYTES_MAX: usize = 128;
/// A payload smaller than this is never clipped. Most payloads are smaller.
pub const CLIP_PAYLOAD_FROM_BYTES: usize = 16 * 1024;
/// Most bytes kept of a tool's input and result: the timeline and its detail need no more.
pub const TOOL_PAYLOAD_BYTES_MAX: usize = 16 * 1024;
/// Most bytes kept of any other event: a long prompt, a long answer.
pub const OTHER_PAYLOAD_BYTES_MAX: usize = 64 * 1024;
/// Most bytes kept of a request that a person decides on (an input, questions, a plan), and so of any payload in the log.
pub const PAYLOAD_BYTES_MAX: usize = 256 * 1024;
/// Longest key inside a clipped payload: names are short, but data may be used as a key.
pub const CLIPPED_KEY_BYTES_MAX: usize = 128;
/// Deepest payload accepted unchanged: the parser's own limit is 128, and a stored payload must be readable again.
pub const PAYLOAD_DEPTH_MAX: usize = 100;
/// Longest prompt on a card; the full text stays in the event.
pub const CARD_PROMPT_CHARS_MAX: usize = 500;
/// Longest one-line summary of a tool's input: a card is one line wide.
pub const TOOL_SUMMARY_CHARS_MAX: usize = 160;
/// Longest message of an elicitation on a card.
pub const ELICITATION_CHARS_MAX: usize = 100;
/// Longest name on a card: of a tool, a model, an agent type, a server.
pub const NAME_CHARS_MAX: usize = 100;
/// Longest text kept of a status line: a path is at most this long.
pub const STATUS_LINE_TEXT_BYTES_MAX: usize = 4096;
/// Longest failure note on a card.
pub const FAILURE_CHARS_MAX: usize = 300;
/// Most open calls remembered per agent: a few run in parallel; more means that their ends were lost.
pub const OPEN_CALLS_MAX: usize = 64;
/// Most open needs per agent, for the same reason.
pub const OPEN_NEEDS_MAX: usize = 32;
/// Closed calls remembered, so that a late start does not open them again.
pub const CLOSED_CALLS_MAX: usize = 64;
/// Closed calls are remembered at least this long after the end of their turn, for events without a clock of their own.
pub const CLOSED_CALLS_STAY: Millis = Millis::minutes(1);
/// Ended turns remembered, to recognise late events without a clock of their own.
pub const ENDED_TURNS_MAX: usize = 8;
/// Most subagents kept per session; the oldest finished ones go first.
pub const CHILDREN_MAX: usize = 64;
/// Most background shells followed one by one; more are only counted.
pub const BACKGROUND_SHELLS_MAX: usize = 64;
/// Prompts remembered of a transcript, to tell whether a marker names a prompt whose line is written later. Each process of a session adds
/// its own prompts.
pub const NEWEST_PROMPTS_MAX: usize = 16;
/// Prompts remembered that Claude scheduled in a session.
pub const SCHEDULED_PROMPTS_MAX: usize = 64;
/// Ended background tasks remembered of a transcript, for the shells of the last turn.
pub const ENDED_TASKS_MAX: usize = 64;
/// Most processes that hold one session at a time; more than a few terminals on one session mean that ends were lost.
pub const PROCESSES_MAX: usize = 16;
/// Processes remembered after they left a session, so that a late hook does not bring one back.
pub const PAST_PROCESSES_MAX: usize = 16;
/// Most to-dos on a card.
pub const TODOS_MAX: usize = 100;
/// Most stretches of one state that are kept of a session for the overview: enough for a few hundred turns.
pub const STATE_STRETCHES_MAX: usize = 256;
/// Most sessions in the overview that have left the board: enough for a day of many short sessions.
pub const PAST_SESSIONS_MAX: usize = 500;
/// State changes remembered per session, for `explain`: the last half hour of a busy session. The log has all of them.
pub const STATE_CHANGES_MAX: usize = 64;
/// Most sessions in the fleet. Above it the session that was silent longest leaves the board (never the store).
pub const FLEET_SESSIONS_MAX: usize = 20_000;
/// Ended sessions remembered by id, so that a late hook does not create them again.
pub const ENDED_IDS_MAX: usize = 20_000;
/// An ended session leaves the live set after this, so that a person sees it end.
pub const COMPLETED_AFTER: Millis = Millis::seconds(10);
/// How long Done keeps an ended card unless configured.
pub const DONE_KEEPS: Millis = Millis::minutes(30);
/// A working session without any sign of life for this long is marked quiet.
pub const QUIET_AFTER: Millis = Millis::seconds(60);
/// Transcript growth is recorded if a working session gave no sign of life for this long.
pub const GROWTH_COUNTS_AFTER: Millis = Millis::seconds(10);
/// A session without activity for this long is marked stale.
pub const STALE_AFTER: Millis = Millis::hours(8);
/// Events of one session may be out of order by this much: they have no clock of their own, or read it late.
pub const DISORDER_MAX: Millis = Millis::seconds(1);
/// A notification about a permission prompt arrives at most this long after the prompt was answered. It is sent six seconds after
/// the prompt opened; up to 12.5 s were measured.
pub const LATE_NOTICE_MAX: Millis = Millis::seconds(10);
/// Two hooks that report the same prompt fire within this time. A person does not submit the same text twice so fast.
pub const TWIN_HOOKS_MAX: Millis = Millis(250);
/// A running client has read changed settings within this time; 1.1 s on an idle machine.
pub const HOOKS_RELOAD_MAX: Millis = Millis::seconds(5);
/// A registry entry counts once it has been stable for this long, so that cards do not flicker.
pub const SETTLE: Millis = Millis(250);
/// If the client is still busy this long after its Stop, a Stop hook made it continue.
pub const BUSY_AFTER_STOP: Millis = Millis::seconds(1);
/// Longest path on a card: the kernel's limit.
pub const PATH_CHARS_MAX: usize = 4096;
/// Longest id of a call, a prompt, a subagent: a uuid has 36.
pub const ID_CHARS_MAX: usize = 128;
/// Longest excerpt of the last answer on a card: the end of the answer, about three lines on a wide card.
pub const CARD_ANSWER_CHARS_MAX: usize = 500;
/// Longest message of a refusal that its ask shows; the event has all of it.
pub const REFUSAL_CHARS_MAX: usize = 300;
/// Most files named on a card as touched; all are counted.
pub const FILES_TOUCHED_MAX: usize = 200;
/// Most further files that are counted, by a hash of eight bytes each.
pub const FILES_COUNTED_MAX: usize = 5000;
/// Most subagents whose tokens are counted separately; the session's totals include all.
pub const AGENTS_PRICED_MAX: usize = 512;
/// Most prompts remembered of a session's queue.
pub const QUEUED_PROMPTS_MAX: usize = 256;
/// Most prompts remembered that the person took back from the queue.
pub const TAKEN_BACK_MAX: usize = 256;
/// How long a provider keeps a cached prompt after its last use, by cache class.
pub const CACHE_LIVES_5M: Millis = Millis::minutes(5);
pub const CACHE_LIVES_1H: Millis = Millis::hours(1);
/// Most bytes of an ask's input on its card, which goes to every viewer: a long file is read in the drawer, from the log.
pub const ASK_INPUT_BYTES_MAX: usize = 64 * 1024;
/// Longest text beside an ask: a description of a choice, the message of a form.
pub const ASK_TEXT_CHARS_MAX: usize = 4_000;
/// Longest pattern in a rule of the policy.
pub const POLICY_TEXT_CHARS_MAX: usize = 1_000;
/// Longest rule name in an answer: several long rules side by side.
pub const RULE_NAME_CHARS_MAX: usize = 500;
/// Most questions of one ask; the client's own dialog has four.
pub const QUESTIONS_MAX: usize = 16;
/// Longest answer to one question.
pub const ANSWER_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Longest answer in total: it is stored as an event.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Most asks on one card. Above it the oldest ended ask leaves, otherwise the oldest.
pub const ASKS_MAX: usize = 64;
/// An ended ask stays on its card this long, so that a person sees its resolution.
pub const ASK_STAYS: Millis = Millis::seconds(60);
/// Asks remembered after they left their card, so that a late answer gets their resolution.
pub const PAST_ASKS_MAX: usize = 8;
/// Most bytes of an agent's message that the intent is read from: the end of a message says what it wants.
pub const INTENT_BYTES_MAX: usize = 8 * 1024;
/// Most lines from the end of a message that the intent is read from.
pub const INTENT_LINES_MAX: usize = 32;
/// Lines at the start of a message that are read too: a long report often begins with "Done".
pub const INTENT_OPENING_LINES_MAX: usize = 2;
/// Most sentences from the end of a message that the intent is read from. What was said before them is no longer open or was summed up
/// again.
pub const INTENT_SENTENCES_MAX: usize = 16;
/// Most sentences of the opening lines that are read too, if those are long.
pub const INTENT_OPENING_SENTENCES_MAX: usize = 4;
/// Most bytes of a sentence that its signs are looked for in, from its end. Hardly any sentence is longer.
pub const INTENT_SENTENCE_BYTES_MAX: usize = 300;
/// Most bytes of the last sentences together: a question with many options after it fits.
pub const INTENT_LAST_BYTES_MAX: usize = 1600;
/// Most bytes of the sentences of the opening lines together.
pub const INTENT_OPENING_BYTES_MAX: usize = 300;
/// Most bytes that the patterns read of one message, counting each reading. Hardly a labelled message needs more, and half of
/// them need less than a fifth.
pub const INTENT_WORK_BYTES_MAX: usize = 7_000;
/// Longest message of a conversation: pages of prose, while a pasted log stays small enough to draw.
pub const MESSAGE_CHARS_MAX: usize = 20_000;
/// Most messages of one transcript line; the client writes one block a line.
pub const MESSAGES_PER_LINE_MAX: usize = 64;
/// Longest question in the label of an idle card: a card is one line wide.
pub const ASKS_LABEL_CHARS_MAX: usize = 100;
/// Longest line shown as the evidence of an intent.
pub const INTENT_LINE_CHARS_MAX: usize = 200;
/// Longest title of an assignment: the log shows it on one line.
pub const ASSIGNMENT_TITLE_CHARS_MAX: usize = 200;
/// Most messages kept of one assignment: the command and the newest. A session holds one assignment, a large fleet many sessions.
pub const ASSIGNMENT_MESSAGES_MAX: usize = 32;
/// Most spans of work and waiting kept of one assignment. Above it the oldest span is merged into the next one: the sums stay right,
/// but its times become less exact.
pub const ASSIGNMENT_SPANS_MAX: usize = 64;
/// Longest text of a message of an assignment; the full text stays in the event and in the transcript.
pub const ASSIGNMENT_MESSAGE_CHARS_MAX: usize = 500;
/// Most seats remembered: as many as sessions on a large board. Above it the seat that was free longest is forgotten.
pub const SEATS_MAX: usize = 5_000;
/// Refused steps kept between two events, until the engine has logged them.
pub const REFUSED_STEPS_MAX: usize = 8;
/// A note that could not be sent for this long is dropped: by then the person finds the session on the board.
pub const NOTE_LIVES: Millis = Millis::minutes(10);
/// How long a state must last before a note about it is made, unless configured. A new turn can follow a Stop within 100 ms.
pub const NOTE_SETTLE: Millis = Millis::seconds(1);
/// The shortest time between two notes about one session, unless configured.
pub const NOTE_AGAIN_AFTER: Millis = Millis::seconds(30);
/// The call with this number is denied if no log entry was written before it, unless the skill says otherwise.
pub const HEARTBEAT_LIMIT: u32 = 10;
/// Longest message of a guard rule: a paragraph that the model reads.
pub const GUARD_MESSAGE_CHARS_MAX: usize = 2_000;
/// Longest field or pattern of a guard rule.
pub const GUARD_TEXT_CHARS_MAX: usize = 1_000;
/// Most guard rules of one effort: all of them are evaluated before each tool call.
pub const GUARDS_MAX: usize = 64;
/// Calls of a window whose heartbeat is remembered: verdicts are asked a moment after the call was counted.
pub const WINDOW_CALLS_MAX: usize = 64;
/// Most files remembered as loaded in one window.
pub const WINDOW_FILES_MAX: usize = 200;
/// Most ended windows of one effort that are kept; the count of all is kept. A long effort has a few dozen, and each subagent one.
pub const EFFORT_ENDED_WINDOWS_MAX: usize = 64;
/// Most open windows of one effort: far more sessions than work in one directory.
pub const EFFORT_OPEN_WINDOWS_MAX: usize = 1_000;
/// Most phases of one effort.
pub const EFFORT_PHASES_MAX: usize = 64;
/// Newest log entries and messages of an effort that the fleet keeps; the store and the log file have all.
pub const EFFORT_MESSAGES_MAX: usize = 64;
/// Most injections that wait for one effort: above it the oldest would be stale, and a new one is refused.
pub const INJECTIONS_MAX: usize = 32;
/// Longest text that one hook gives to the agent. What does not fit is in a file that the text names.
pub const INJECTION_CHARS_MAX: usize = 10_000;
/// Largest payload of a handoff: the client's context has room for it, and it is stored in an event.
pub const HANDOFF_BYTES_MAX: usize = 64 * 1024;
/// Longest log entry or message of an effort: a page.
pub const EFFORT_TEXT_BYTES_MAX: usize = 16 * 1024;
/// Most files that one request preloads, and that an effort tells a new window to read.
pub const PRELOADS_MAX: usize = 32;
/// Most keywords of a workstream: a line.
pub const KEYWORDS_MAX: usize = 32;
/// Most directives remembered by one effort.
pub const DIRECTIVES_MAX: usize = 64;
/// Most efforts in the fleet. Above it the effort that was finished first leaves the fleet (never the store).
pub const EFFORTS_MAX: usize = 1_000;
/// Finished efforts that stay in the fleet, so that a late hook or a viewer finds them.
pub const FINISHED_EFFORTS_MAX: usize = 100;
/// Most workstreams in the fleet; each is a directory in which a person started efforts.
pub const WORKSTREAMS_MAX: usize = 1_000;
/// At this context use the agent is told to hand over, in tenths of a percent.
pub const OVERFLOW_PERMILLE: u16 = 900;
/// An event that arrives by a hook is compared with this many of the newest events by `hooks.*`, and the other way round.
pub const TWINS_MAX: usize = 256;
/// Most bytes at the beginning and at the end of each text that are compared, to recognise an event that arrived by a hook and by
/// `hooks.*`.
pub const TWIN_FIELD_BYTES_MAX: usize = 48;
/// Most values inside one field that are compared, to recognise such an event: a tool's input has a few, a list of edits some dozens.
pub const TWIN_VALUES_MAX: usize = 64;
/// An event without an id counts once if the same payload arrives by a hook and by `hooks.*` within this time.
pub const TWIN_PAYLOADS_MAX: Millis = Millis::seconds(2);
