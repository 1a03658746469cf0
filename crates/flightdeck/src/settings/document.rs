//! A settings file as text, with the positions of everything we may edit.
//!
//! `serde_json` checks the whole text as strictly as Claude Code does, and gives the position of each value. Edits replace parts
//! of the text and never write parsed values back. So everything else keeps its bytes: numbers that no float can represent, lone
//! surrogates, any nesting depth.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use serde::Deserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::SettingsError;
use super::recognise::is_ours;
use super::span::{ByteSpan, Member};
use super::status_line::{self, StatusLineSetting};

/// The byte order mark, which some editors put at the start of a file. Claude Code skips it.
const BOM: char = '\u{feff}';

#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    /// `None` if the file has only white space.
    pub(super) root: Option<ByteSpan>,
    pub(super) members: Vec<Member>,
    pub(super) hooks: Option<Member>,
    pub(super) events: Vec<EventHandlers>,
    pub(super) status_line: StatusLineSetting,
}

/// `"Stop": [ … ]`.
#[derive(Debug)]
pub(super) struct EventHandlers {
    pub(super) member: Member,
    pub(super) entries: Vec<MatcherEntry>,
}

#[derive(Debug)]
pub(super) struct MatcherEntry {
    pub(super) span: ByteSpan,
    pub(super) kind: EntryKind,
}

#[derive(Debug)]
pub(super) enum EntryKind {
    /// `{"matcher": …, "hooks": [ … ]}`
    Group { list: ByteSpan, handlers: Vec<HandlerText>, matches_all: bool },
    /// A handler without a group around it, as older tools wrote it.
    Flat(HandlerText),
    /// An unknown shape; not edited.
    Other,
}

#[derive(Debug)]
pub(super) struct HandlerText {
    pub(super) span: ByteSpan,
    pub(super) value: Value,
    pub(super) ours: bool,
}

impl EventHandlers {
    pub(super) fn handlers(&self) -> impl Iterator<Item = &HandlerText> {
        self.entries.iter().flat_map(|entry| match &entry.kind {
            EntryKind::Group { handlers, .. } => handlers.as_slice(),
            EntryKind::Flat(handler) => std::slice::from_ref(handler),
            EntryKind::Other => &[],
        })
    }
}

impl<'a> Document<'a> {
    /// Reads the text of `path`, which is named only in errors.
    pub(super) fn read(text: &'a str, path: &Path) -> Result<Self, SettingsError> {
        let body = text.strip_prefix(BOM).unwrap_or(text);
        let mut document = Self {
            text,
            root: None,
            members: Vec::new(),
            hooks: None,
            events: Vec::new(),
            status_line: StatusLineSetting::None,
        };
        if body.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
            return Ok(document);
        }
        serde_json::from_str::<IgnoredAny>(body).map_err(|e| syntax_error(path, body, &e))?;
        let root = span_of(text, body.trim_matches([' ', '\t', '\r', '\n']));
        let reader = DocumentReader { text, path };
        document.members = reader.object(&root, "the whole file")?;
        let hooks = document.members.iter().filter(|member| member.key == "hooks");
        reader.refuse_duplicates(hooks, "")?;
        document.root = Some(root);
        document.hooks = document.members.iter().find(|member| member.key == "hooks").cloned();
        if let Some(hooks) = &document.hooks {
            document.events = reader.events(hooks)?;
        }
        // Claude Code uses the last one of duplicate keys.
        if let Some(member) = document.members.iter().rfind(|member| member.key == status_line::KEY) {
            let members = reader.object(&member.value, "").ok();
            document.status_line = status_line::read(text, member, members.as_deref());
        }
        Ok(document)
    }

    pub(super) fn event(&self, name: &str) -> Option<&EventHandlers> {
        self.events.iter().find(|event| event.member.key == name)
    }

    pub(super) fn handlers(&self) -> impl Iterator<Item = &HandlerText> {
        self.events.iter().flat_map(EventHandlers::handlers)
    }

    pub(super) fn has_ours(&self) -> bool {
        self.status_line.is_ours() || self.handlers().any(|handler| handler.ours)
    }

    pub(super) fn foreign_handlers(&self) -> usize {
        self.handlers().filter(|handler| !handler.ours).count()
    }

    /// Refuses a duplicate key, because we could edit the wrong one.
    pub(super) fn refuse_duplicate(&self, key: &str, path: &Path) -> Result<(), SettingsError> {
        let members = self.members.iter().filter(|member| member.key == key);
        DocumentReader { text: self.text, path }.refuse_duplicates(members, "")
    }

    /// Whether `disableAllHooks` is set: Claude Code then runs no hooks at all.
    pub(super) fn disables_all_hooks(&self) -> bool {
        let last = self.members.iter().rfind(|member| member.key == "disableAllHooks");
        last.is_some_and(|member| &self.text[member.value.clone()] == "true")
    }
}

/// Reads the parts of a text whose syntax was already checked.
struct DocumentReader<'a> {
    text: &'a str,
    path: &'a Path,
}

impl DocumentReader<'_> {
    fn events(&self, hooks: &Member) -> Result<Vec<EventHandlers>, SettingsError> {
        let members = self.object(&hooks.value, "\"hooks\"")?;
        self.refuse_duplicates(members.iter(), "hooks.")?;
        members.into_iter().map(|member| self.event(member)).collect()
    }

    fn event(&self, member: Member) -> Result<EventHandlers, SettingsError> {
        // Claude Code ignores the whole file if one event is not a list.
        let entries = match self.array(&member.value) {
            Some(entries) => entries,
            None => {
                return Err(self.unexpected(&member.value, &format!("\"hooks.{}\"", member.key), "a list"));
            }
        };
        let entries = entries.into_iter().map(|span| MatcherEntry { kind: self.entry(&span), span });
        Ok(EventHandlers { entries: entries.collect(), member })
    }

    fn entry(&self, span: &ByteSpan) -> EntryKind {
        let Ok(members) = self.object(span, "") else { return EntryKind::Other };
        let last = |key: &str| members.iter().rfind(|member| member.key == key);
        if let Some((list, items)) =
            last("hooks").and_then(|m| Some((m.value.clone(), self.array(&m.value)?)))
        {
            let handlers = items.into_iter().map(|span| self.handler(span)).collect();
            let matcher = last("matcher").map(|m| &self.text[m.value.clone()]);
            return EntryKind::Group {
                list,
                handlers,
                matches_all: matches!(matcher, None | Some(r#""""# | r#""*""#)),
            };
        }
        if last("type").is_some() { EntryKind::Flat(self.handler(span.clone())) } else { EntryKind::Other }
    }

    fn handler(&self, span: ByteSpan) -> HandlerText {
        // A handler that serde_json cannot parse into a value is not ours.
        let value: Value = serde_json::from_str(&self.text[span.clone()]).unwrap_or_default();
        HandlerText { ours: is_ours(&value), value, span }
    }

    fn object(&self, span: &ByteSpan, place: &str) -> Result<Vec<Member>, SettingsError> {
        let raw = self.text[span.clone()].starts_with('{').then(|| raw_members(&self.text[span.clone()]));
        let Some(Ok(members)) = raw else { return Err(self.unexpected(span, place, "an object")) };
        Ok(members.into_iter().map(|(key, value)| self.member(key, value)).collect())
    }

    fn member(&self, key: &RawValue, value: &RawValue) -> Member {
        Member {
            // A key with a lone surrogate cannot be a String. We look for no such key.
            key: serde_json::from_str(key.get()).unwrap_or_else(|_| key.get().to_owned()),
            key_span: span_of(self.text, key.get()),
            value: span_of(self.text, value.get()),
        }
    }

    fn array(&self, span: &ByteSpan) -> Option<Vec<ByteSpan>> {
        let items: Vec<&RawValue> = serde_json::from_str(&self.text[span.clone()]).ok()?;
        Some(items.into_iter().map(|item| span_of(self.text, item.get())).collect())
    }

    fn refuse_duplicates<'m>(
        &self,
        mut members: impl Iterator<Item = &'m Member>,
        prefix: &str,
    ) -> Result<(), SettingsError> {
        let mut seen = HashSet::new();
        match members.find(|member| !seen.insert(&member.key)) {
            None => Ok(()),
            Some(second) => Err(SettingsError::Duplicate {
                path: self.path.to_owned(),
                line: line_of(self.text, second.key_span.start),
                place: format!("\"{prefix}{}\"", second.key),
            }),
        }
    }

    fn unexpected(&self, span: &ByteSpan, place: &str, expected: &'static str) -> SettingsError {
        let found = match self.text.as_bytes().get(span.start) {
            Some(b'{') => "an object",
            Some(b'[') => "a list",
            Some(b'"') => "a string",
            Some(b'n') => "null",
            Some(b't' | b'f') => "true or false",
            _ => "a number",
        };
        let line = line_of(self.text, span.start);
        SettingsError::WrongType {
            path: self.path.to_owned(),
            line,
            place: place.to_owned(),
            found,
            expected,
        }
    }
}

/// The position of `part`, which is a slice of `text`.
fn span_of(text: &str, part: &str) -> ByteSpan {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

type RawMember<'a> = (&'a RawValue, &'a RawValue);

/// The members in the order of the text, duplicates included.
fn raw_members(object: &str) -> Result<Vec<RawMember<'_>>, serde_json::Error> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<RawMember<'de>>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry().map_err(A::Error::custom)? {
                members.push(member);
            }
            Ok(members)
        }
    }
    serde_json::Deserializer::from_str(object).deserialize_map(Members)
}

fn syntax_error(path: &Path, body: &str, error: &serde_json::Error) -> SettingsError {
    let (line, column) = (error.line(), error.column().max(1));
    let start: usize = body.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = (start + column - 1).min(body.len());
    let (what, fix) = cause(body.as_bytes(), at, error);
    SettingsError::Syntax { path: path.to_owned(), line, column, what, fix }
}

fn cause(body: &[u8], at: usize, error: &serde_json::Error) -> (String, &'static str) {
    let before = body[..at].iter().rfind(|byte| !byte.is_ascii_whitespace());
    match (before, body.get(at)) {
        (_, Some(b'/' | b'#')) => ("this looks like a comment".into(), "remove it"),
        (Some(b','), Some(b'}' | b']')) => {
            ("there is a comma before this closing bracket".into(), "remove the comma")
        }
        _ if error.is_eof() => ("the file ends here, too early".into(), "complete it"),
        _ => {
            let message = error.to_string();
            let short = message.split(" at line ").next().unwrap_or(&message);
            (format!("this is not JSON ({short})"), "correct it")
        }
    }
}
