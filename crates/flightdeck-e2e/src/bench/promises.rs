//! The rows of the table: measurement, reference and promise.

pub(super) struct PromiseRow {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Needs minutes, gigabytes or the network: in a quick run only if it is named.
    pub(super) long: bool,
    pub(super) checks: &'static [Check],
}

/// One line: a series, the series it is divided by, and the promise.
pub(super) struct Check {
    pub(super) title: &'static str,
    pub(super) series: &'static str,
    /// The reference series; without it the number itself is shown.
    pub(super) against: Option<&'static str>,
    pub(super) promise: Promise,
}

#[derive(Clone, Copy)]
pub(super) enum Promise {
    /// The ratio of the medians is at most this.
    RatioMax(f64),
    /// … at least this.
    RatioMin(f64),
    /// The median is at most this.
    MedianMax(f64),
    /// 95 of 100 samples are at most this.
    P95Max(f64),
    /// 99 of 100 samples are at most this.
    P99Max(f64),
    /// Every sample is at most this.
    WorstMax(f64),
    /// For comparison only.
    None,
}

use Promise::{MedianMax, None as NoPromise, P95Max, P99Max, RatioMax, RatioMin, WorstMax};

/// "Flat": a doubling of the work per event exceeds it.
const FLAT: Promise = RatioMax(1.5);

const fn ratio(title: &'static str, series: &'static str, against: &'static str, promise: Promise) -> Check {
    Check { title, series, against: Some(against), promise }
}

const fn number(title: &'static str, series: &'static str, promise: Promise) -> Check {
    Check { title, series, against: None, promise }
}

/// The table of decision 0019.
const FORMS: &[Check] = &[
    ratio("turn: ours / true", "turn: ours", "turn: true", NoPromise),
    ratio("turn: no hooks / true", "turn: no hooks", "turn: true", NoPromise),
    ratio("turn: no message / true", "turn: no message", "turn: true", NoPromise),
    ratio("turn: named message / true", "turn: named message", "turn: true", NoPromise),
    ratio("turn: all async / true", "turn: all async", "turn: true", NoPromise),
    ratio("turn: all sync / true", "turn: all sync", "turn: true", NoPromise),
    ratio("turn: only sync events / true", "turn: only sync events", "turn: true", NoPromise),
    ratio("turn: no PostToolBatch / true", "turn: no PostToolBatch", "turn: true", NoPromise),
    ratio("turn: http for async events / true", "turn: http for async events", "turn: true", NoPromise),
    ratio("turn: no shell / true", "turn: no shell", "turn: true", NoPromise),
    ratio("processor: ours / true", "processor: ours", "processor: true", NoPromise),
    ratio("processor: no hooks / true", "processor: no hooks", "processor: true", NoPromise),
    ratio("processor: no message / true", "processor: no message", "processor: true", NoPromise),
    ratio("processor: named message / true", "processor: named message", "processor: true", NoPromise),
    ratio("processor: all async / true", "processor: all async", "processor: true", NoPromise),
    ratio("processor: all sync / true", "processor: all sync", "processor: true", NoPromise),
    ratio("processor: only sync events / true", "processor: only sync events", "processor: true", NoPromise),
    ratio("processor: no PostToolBatch / true", "processor: no PostToolBatch", "processor: true", NoPromise),
    ratio(
        "processor: http for async events / true",
        "processor: http for async events",
        "processor: true",
        NoPromise,
    ),
    ratio("processor: no shell / true", "processor: no shell", "processor: true", NoPromise),
    ratio("Stop hook: ours / true", "Stop hook: ours", "Stop hook: true", NoPromise),
    ratio("Stop hook: no message / true", "Stop hook: no message", "Stop hook: true", NoPromise),
    ratio("Stop hook: named message / true", "Stop hook: named message", "Stop hook: true", NoPromise),
    ratio("Stop hook: all sync / true", "Stop hook: all sync", "Stop hook: true", NoPromise),
    ratio("Stop hook: only sync events / true", "Stop hook: only sync events", "Stop hook: true", NoPromise),
    ratio("Stop hook: no PostToolBatch / true", "Stop hook: no PostToolBatch", "Stop hook: true", NoPromise),
    ratio(
        "Stop hook: http for async events / true",
        "Stop hook: http for async events",
        "Stop hook: true",
        NoPromise,
    ),
    ratio("Stop hook: no shell / true", "Stop hook: no shell", "Stop hook: true", NoPromise),
    number("spinner: true", "spinner: true", NoPromise),
    number("spinner: ours", "spinner: ours", NoPromise),
    number("spinner: no message", "spinner: no message", NoPromise),
    number("spinner: named message", "spinner: named message", NoPromise),
    number("spinner: all async", "spinner: all async", NoPromise),
    number("spinner: all sync", "spinner: all sync", NoPromise),
    number("spinner: only sync events", "spinner: only sync events", NoPromise),
    number("spinner: no PostToolBatch", "spinner: no PostToolBatch", NoPromise),
    number("spinner: http for async events", "spinner: http for async events", NoPromise),
    number("spinner: no shell", "spinner: no shell", NoPromise),
    number("spinner, UserPromptSubmit alone", "(running UserPromptSubmit hook: no message", NoPromise),
    number("spinner, PreToolUse alone", "(running PreToolUse hook: no message", NoPromise),
    number("spinner, PostToolUse alone", "(running PostToolUse hook: no message", NoPromise),
    number("spinner, PostToolBatch alone", "(running PostToolBatch hook: no message", NoPromise),
    number("spinner, Stop alone", "(running Stop hook: no message", NoPromise),
    number("Stop heard in -p: ours", "Stop heard in -p: ours", NoPromise),
    number("Stop heard in -p: all async", "Stop heard in -p: all async", NoPromise),
];

pub(super) static ROWS: &[PromiseRow] = &[
    PromiseRow {
        name: "hook",
        about: "a hook process against `sh -c true` and the curl form",
        long: false,
        checks: &[
            ratio("hook / sh -c true", "shim", "sh -c true", RatioMax(2.5)),
            ratio("curl form / sh -c true", "curl", "sh -c true", NoPromise),
            ratio("hook / curl form", "shim", "curl", NoPromise),
            ratio("hook, daemon down / sh -c true", "shim, daemon down", "sh -c true", NoPromise),
            number("hook, daemon down: p99", "shim, daemon down", P99Max(50.0)),
        ],
    },
    PromiseRow {
        name: "ingest",
        about: "POST /api/live/hook, durable, against an empty axum handler and a bare append, one after the other",
        long: false,
        checks: &[
            ratio("durable hook / handler and append", "durable hook", "handler and append", RatioMin(0.6)),
            ratio("durable hook / empty handler", "durable hook", "empty axum handler", NoPromise),
            number("bare append", "bare append", NoPromise),
        ],
    },
    PromiseRow {
        name: "efforts",
        about: "requests about an effort on one connection, tool calls of 100 seats at once, and a hook with a verdict",
        long: false,
        checks: &[
            number("one request: 10,000 a second", "one request", MedianMax(0.1)),
            number("preToolUse of 100 seats: p99", "preToolUse, 100 seats", P99Max(2.0)),
            // A verdict that takes longer than 15 ms is late, and the call is allowed.
            number("100 of them in one instant: p99", "preToolUse, 100 in one instant", P99Max(15.0)),
            number("sync of a plain file: p50", "sync of a plain file", NoPromise),
            ratio("hook with a verdict / without", "hook with a verdict", "hook without", RatioMax(1.2)),
        ],
    },
    PromiseRow {
        name: "cost",
        about: "cost of one event by size of the fleet and age of the session",
        long: false,
        checks: &[
            ratio("fold at 100 sessions / 1", "fold: 100 sessions", "fold: 1 session", FLAT),
            ratio("fold at 5,000 sessions / 1", "fold: 5,000 sessions", "fold: 1 session", FLAT),
            ratio(
                "fold after 10,000 events / 10",
                "fold: 10,000 events before",
                "fold: 10 events before",
                FLAT,
            ),
            ratio("durable at 100 sessions / 1", "durable: 100 sessions", "durable: 1 session", FLAT),
            ratio("durable at 5,000 sessions / 1", "durable: 5,000 sessions", "durable: 1 session", FLAT),
            ratio(
                "durable after 10,000 events / 10",
                "durable: 10,000 events before",
                "durable: 10 events before",
                FLAT,
            ),
        ],
    },
    PromiseRow {
        name: "latency",
        about: "hook to viewer at 54 sessions and 20 viewers, and the daemon's memory",
        long: false,
        checks: &[
            number("hook process to viewer: p50", "hook process to viewer", NoPromise),
            number("hook process to viewer: p99", "hook process to viewer", P99Max(10.0)),
            number("socket to viewer: p99", "socket to viewer", P99Max(10.0)),
            number("resident at 54 sessions", "resident", MedianMax(40.0)),
            number("  of which private", "private", NoPromise),
            number("resident with 20 viewers", "resident with 20 viewers", MedianMax(40.0)),
        ],
    },
    PromiseRow {
        name: "restart",
        about: "start with a long log and a snapshot, against an empty home",
        long: false,
        checks: &[
            number("start with a long log", "* events", MedianMax(2000.0)),
            ratio("long log / empty home", "* events", "empty home", NoPromise),
        ],
    },
    PromiseRow {
        name: "store",
        about: "durable append in batches of 64, against a plain file",
        long: false,
        checks: &[ratio("durable append / plain file", "durable append", "plain file", NoPromise)],
    },
    PromiseRow {
        name: "fleetline",
        about: "`flightdeck status --line` as tmux runs it, against `sh -c true`",
        long: false,
        checks: &[
            number("status --line", "fleet line", MedianMax(5.0)),
            ratio("status --line / sh -c true", "fleet line", "sh -c true", NoPromise),
            number("status --line, daemon down", "fleet line, daemon down", MedianMax(5.0)),
        ],
    },
    PromiseRow {
        name: "statusline",
        about: "the status line against `sh -c true`, with the daemon there and gone",
        long: false,
        checks: &[
            ratio("status line / sh -c true", "status line", "sh -c true", RatioMax(2.5)),
            ratio("daemon down / sh -c true", "status line, daemon down", "sh -c true", RatioMax(2.5)),
        ],
    },
    PromiseRow {
        name: "intent",
        about: "detecting the intent of a message of 4 KB: the slowest text of each kind",
        long: false,
        checks: &[
            number("intent: reports, questions", "reports and questions", WorstMax(50.0)),
            number("intent: other languages", "other languages", WorstMax(50.0)),
            number("intent: documents", "documents", WorstMax(50.0)),
            number("intent: a cue in every clause", "a cue in every clause", WorstMax(50.0)),
        ],
    },
    PromiseRow {
        name: "log",
        about: "the log and the digest with 100,000 assignments",
        long: false,
        checks: &[
            number("the newest page: p99", "the newest page", P99Max(100.0)),
            number("a page of one project: p99", "a page of one project", P99Max(100.0)),
            number("what waits: p99", "what waits", P99Max(100.0)),
            number("a page of a search: p99", "a page of a search", P99Max(100.0)),
            number("a digest of seven days: p99", "a digest of seven days", P99Max(100.0)),
            number("flightdeck log: p99", "flightdeck log", P99Max(100.0)),
        ],
    },
    PromiseRow {
        name: "usage",
        about: "500 MB of transcripts counted, against ccusage 20.0.24: the same totals or the row fails",
        long: true,
        checks: &[
            ratio("ccusage / flightdeck, cold", "ccusage", "flightdeck", RatioMin(5.0)),
            ratio("  processor", "ccusage: processor", "flightdeck: processor", NoPromise),
            ratio("  peak memory", "ccusage: peak memory", "flightdeck: peak memory", NoPromise),
            ratio("ccusage / after a restart", "ccusage", "flightdeck, after a restart", NoPromise),
            number("bytes read after a restart", "bytes read after a restart", MedianMax(0.0)),
        ],
    },
    PromiseRow {
        name: "append",
        about: "one more line in a transcript of 1 GB, against one of 100 KB",
        long: true,
        checks: &[
            ratio(
                "processor: 1 GB / 100 KB",
                "append to 1 GB: processor",
                "append to 100 KB: processor",
                FLAT,
            ),
            ratio(
                "to the card: 1 GB / 100 KB",
                "append to 1 GB: to the card",
                "append to 100 KB: to the card",
                FLAT,
            ),
        ],
    },
    PromiseRow {
        name: "idle",
        about: "a minute without events, 54 sessions and 10,000 transcripts around",
        long: true,
        checks: &[
            number("processor in an idle minute", "idle: processor in a minute", MedianMax(60.0)),
            number("directory reads in it", "idle: directory reads in a minute", MedianMax(0.0)),
        ],
    },
    PromiseRow {
        name: "tui",
        about: "the TUI in a terminal of 200 by 60: 1,000 sessions at 200 changes a second, then a minute at rest",
        long: true,
        checks: &[
            number("TUI: key to screen: p50", "tui: key to screen", NoPromise),
            number("TUI: key to screen: p99", "tui: key to screen", P99Max(50.0)),
            number("TUI: processor, no key", "tui: processor, no key", MedianMax(25.0)),
            number("TUI: processor, a key held down", "tui: processor, a key held", MedianMax(25.0)),
            number("TUI: processor, keys without a pause", "tui: processor", NoPromise),
            number("TUI: resident", "tui: resident", NoPromise),
            number("TUI: bytes in a minute at rest", "tui: bytes in a minute at rest", WorstMax(0.0)),
        ],
    },
    PromiseRow {
        name: super::client::ROW,
        about: "the real client: a turn of eleven tool calls with our hooks, with `true` as the command, and without hooks",
        long: false,
        checks: &[
            ratio("turn with our hooks / with true", "turn: ours", "turn: true", RatioMax(1.3)),
            ratio("turn with our hooks / without", "turn: ours", "turn: no hooks", NoPromise),
            ratio("turn with true / without hooks", "turn: true", "turn: no hooks", NoPromise),
            ratio("  processor, ours / true", "processor: ours", "processor: true", RatioMax(1.3)),
            ratio("our Stop hook / true", "Stop hook: ours", "Stop hook: true", RatioMax(1.3)),
            ratio("  in print mode", "Stop hook in -p: ours", "Stop hook in -p: true", NoPromise),
            number("spinner shows our name", "our name: ours", WorstMax(0.0)),
            number("spinner shows our hooks", "spinner: ours", NoPromise),
            number("spinner shows true", "spinner: true", NoPromise),
            number("Stop heard in print mode", "Stop heard in -p: ours", NoPromise),
        ],
    },
    PromiseRow {
        name: super::client::FORMS_ROW,
        about: "the same with other ways to register our hooks (decision 0019)",
        long: true,
        checks: FORMS,
    },
    PromiseRow {
        name: super::hosts::ROW,
        about: "several hosts on one NATS server: 20,000 events caught up; 5 members with 54 sessions each at 200 events a second",
        long: true,
        checks: &[
            number("forwarding 1,000 events", "forwarding 1,000 events", MedianMax(50.0)),
            number("hub takes 1,000 events", "hub takes 1,000 events", MedianMax(50.0)),
            ratio("hook: member / alone", "hook: member", "hook: alone", RatioMax(1.1)),
            number("hook to viewer of the hub: p99", "hook to viewer of the hub", P99Max(100.0)),
        ],
    },
    PromiseRow {
        name: super::members::ROW,
        about: "50 members with 54 sessions each, 1,000 events a second through one server for ten minutes (a quick run: one minute)",
        long: true,
        checks: &[
            number("50 members: hook to viewer: p99", "hook to viewer of the hub", P99Max(100.0)),
            number("50 members: hook to viewer: median", "hook to viewer of the hub", NoPromise),
            number("50 members: hook to viewer: slowest", "slowest", NoPromise),
            ratio("events the hub took / sent", "taken", "sent", RatioMin(1.0)),
            number("events lost on the hub", "lost", WorstMax(0.0)),
            number("events that reached the hub twice", "received twice", WorstMax(0.0)),
            number("messages that the hub refused", "refused", WorstMax(0.0)),
            number("events a second", "rate", NoPromise),
            ratio("hub memory: last / second fifth", "memory at the end", "memory before", RatioMax(1.1)),
            number("hub memory", "memory at the end", NoPromise),
            number("processor of the hub for 1,000", "processor of the hub", NoPromise),
            number("processor of members for 1,000", "processor of members", NoPromise),
            number("processor of the server for 1,000", "processor of the server", NoPromise),
        ],
    },
    PromiseRow {
        name: super::page::ROW,
        about: "the page in Chromium: 1,000 sessions at 200 changes a second for a minute; 54 cards drawn (LOAD_SECONDS=10 to try it)",
        long: true,
        checks: &[
            number("changes a second, as the daemon counts", "changes", NoPromise),
            number("long tasks: the longest", "long task", WorstMax(200.0)),
            number("frames: p95", "frame", P95Max(33.0)),
            number("frames: the longest", "frame, longest", NoPromise),
            ratio("heap after / before", "heap after", "heap before", RatioMax(1.2)),
            number("54 cards on screen", "54 cards", MedianMax(1000.0)),
        ],
    },
];

impl Promise {
    /// The percentile that the promise limits.
    pub(super) fn percentile(self) -> f64 {
        match self {
            P95Max(_) => 95.0,
            P99Max(_) => 99.0,
            WorstMax(_) => 100.0,
            RatioMax(_) | RatioMin(_) | MedianMax(_) | NoPromise => 50.0,
        }
    }

    pub(super) fn in_words(self, unit: &str) -> String {
        match self {
            RatioMax(most) => format!("≤ {most} ×"),
            RatioMin(least) => format!("≥ {least} ×"),
            MedianMax(most) | P95Max(most) | P99Max(most) | WorstMax(most) => format!("≤ {most} {unit}"),
            NoPromise => "–".to_owned(),
        }
    }

    pub(super) fn held(self, value: f64) -> Option<bool> {
        match self {
            RatioMax(most) | MedianMax(most) | P95Max(most) | P99Max(most) | WorstMax(most) => {
                Some(value <= most)
            }
            RatioMin(least) => Some(value >= least),
            NoPromise => None,
        }
    }
}
