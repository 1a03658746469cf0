//! The words, what to write instead, and where they may stay.

/// In lower case, and what to write instead.
pub(super) const BANNED: &[(&str, &str)] = &[
    ("nobody", "name who does not: no viewer, no hook, no other process"),
    ("no one", "name who does not: no viewer, no hook, no other process"),
    ("somebody", "name who: the person, a viewer, a client, another process"),
    ("someone", "name who: the person, a viewer, a client, another process"),
    ("anybody", "name who: any process of this user, any viewer"),
    ("anyone", "name who: any process of this user, any viewer"),
    ("everybody", "name them: every viewer, every hook"),
    ("everyone", "name them: every viewer, every hook"),
    ("whoever", "name who: the sender, the viewer, the caller"),
    ("whomever", "name who: the sender, the viewer, the caller"),
    ("one who", "name who: a person, a caller"),
    ("those who", "name them: callers, viewers, subscribers"),
    ("the one that", "name the thing again"),
    ("the ones that", "name the things again"),
    ("what came", "the event, the request, the payload, the bytes received"),
    ("what comes", "the event, the request, the payload, the next bytes"),
    ("whatever comes", "any event, any input"),
    ("whatever came", "any event, any input"),
    ("told of", "is notified of, is recorded, reports"),
    ("told about", "is notified of"),
    ("and its kin", "and similar ones, named"),
    ("at the door", "at the gate, by the transport"),
    ("goes home", "returns, exits without a verdict"),
    ("stranger", "unknown caller, session without hooks"),
    ("strangers", "unknown callers, sessions without hooks"),
    ("story", "test"),
    ("stories", "tests"),
];

/// A place where a banned word stays.
pub(super) struct Allowed {
    /// A file or folder.
    pub(super) file: &'static str,
    pub(super) word: &'static str,
    /// Part of the line.
    pub(super) text: &'static str,
    #[expect(dead_code, reason = "for the person who reads this table")]
    pub(super) reason: &'static str,
}

/// A code of the interface, which keeps its name.
const ATTACHED: &str = "nobody_attached";

pub(super) const ALLOWED: &[Allowed] = &[
    Allowed { file: "crates/", word: "nobody", text: ATTACHED, reason: "an error code of the interface" },
    Allowed { file: "web/", word: "nobody", text: ATTACHED, reason: "an error code of the interface" },
];
