//! Adds our handlers to a text, in the style of that text, and removes them.
//!
//! If `strip` follows `merge`, the text is the same as before, byte for byte. The exception is white space in a list or object that was
//! empty before: the receipt has that text.

use std::io;
use std::path::Path;

use flightdeck_core::wire::hook_name::HookName;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

use super::document::{Document, EntryKind, EventHandlers, HandlerText};
use super::error::SettingsError;
use super::span::ByteSpan;
use super::status_line::StatusLineSetting;

/// The indentation that Claude Code writes.
const USUAL_INDENT: &str = "  ";

pub(super) struct Edit {
    pub(super) span: ByteSpan,
    pub(super) text: String,
}

/// The text with exactly these of our handlers. Handlers that are already as wanted keep their position.
pub(super) fn merge(text: &str, path: &Path, wanted: &[(HookName, Value)]) -> Result<String, SettingsError> {
    let document = Document::read(text, path)?;
    let kept = current(&document, wanted, |found, wanted| found == wanted);
    let clean = strip_but(&document, &kept, WhenEmpty::Keep);
    let missing = wanted.iter().filter(|(name, _)| !kept.iter().any(|(kept, _)| kept == name));
    let missing = missing.map(|(name, handler)| (name.as_str(), handler)).collect();
    Ok(add_handlers(&Document::read(&clean, path)?, missing))
}

/// The text without those of our handlers for which `goes` is true.
pub(super) fn strip(document: &Document<'_>, goes: &dyn Fn(&HandlerText) -> bool) -> String {
    strip_those(document, &|handler| handler.ours && goes(handler), WhenEmpty::Drop)
}

/// The text without those handlers of other tools for which `goes` is true.
pub(super) fn strip_others(document: &Document<'_>, goes: &dyn Fn(&HandlerText) -> bool) -> String {
    strip_those(document, &|handler| !handler.ours && goes(handler), WhenEmpty::Drop)
}

/// Our handlers that are as wanted, at most one for each event: the event's name and the handler's start.
pub(super) fn current(
    document: &Document<'_>,
    wanted: &[(HookName, Value)],
    is_as_wanted: fn(&Value, &Value) -> bool,
) -> Vec<(HookName, usize)> {
    let found = wanted.iter().filter_map(|(name, value)| {
        let entries = &document.event(name.as_str())?.entries;
        let mut handlers = entries.iter().flat_map(|entry| match &entry.kind {
            EntryKind::Group { handlers, matches_all: true, .. } => handlers.as_slice(),
            _ => &[],
        });
        handlers
            .find(|handler| handler.ours && is_as_wanted(&handler.value, value))
            .map(|handler| (*name, handler.span.start))
    });
    found.collect()
}

#[derive(Clone, Copy, PartialEq)]
enum WhenEmpty {
    /// `hooks` is removed with the last handler.
    Drop,
    /// `hooks` stays in its place, because handlers are added again.
    Keep,
}

fn strip_but(document: &Document<'_>, kept: &[(HookName, usize)], when_empty: WhenEmpty) -> String {
    let goes =
        |handler: &HandlerText| handler.ours && !kept.iter().any(|(_, start)| *start == handler.span.start);
    strip_those(document, &goes, when_empty)
}

fn strip_those(
    document: &Document<'_>,
    goes: &dyn Fn(&HandlerText) -> bool,
    when_empty: WhenEmpty,
) -> String {
    let Some(hooks) = &document.hooks else { return document.text.to_owned() };
    let mut inner = Vec::new();
    let gone: Vec<bool> = document.events.iter().map(|event| strip_event(event, goes, &mut inner)).collect();
    let spans: Vec<ByteSpan> = document.events.iter().map(|event| event.member.span()).collect();
    if all_gone(&gone) && when_empty == WhenEmpty::Drop {
        inner = member_removals(document, "hooks");
    } else {
        inner.extend(removals(&hooks.value, &spans, &gone));
    }
    apply(document.text, inner)
}

fn member_removals(document: &Document<'_>, key: &str) -> Vec<Edit> {
    let members: Vec<ByteSpan> = document.members.iter().map(|member| member.span()).collect();
    let gone: Vec<bool> = document.members.iter().map(|member| member.key == key).collect();
    document.root.iter().flat_map(|root| removals(root, &members, &gone)).collect()
}

/// The text without this member of the settings.
pub(super) fn remove_member(document: &Document<'_>, key: &str) -> String {
    apply(document.text, member_removals(document, key))
}

/// The text with one more member of the settings.
pub(super) fn add_member(document: &Document<'_>, key: &str, value: Value) -> String {
    match &document.root {
        Some(root) => add_to_root(document, root, key, value),
        None => {
            let bom: String = document.text.chars().take_while(|c| *c == '\u{feff}').collect();
            bom + &add_to_root(&Document::empty_object(), &(0..2), key, value) + "\n"
        }
    }
}

/// True if the event has no handler left and is removed as a whole; otherwise adds the removals to `edits`.
fn strip_event(event: &EventHandlers, goes: &dyn Fn(&HandlerText) -> bool, edits: &mut Vec<Edit>) -> bool {
    let mut inner = Vec::new();
    let mut entry_goes = |kind: &EntryKind| match kind {
        EntryKind::Flat(handler) => goes(handler),
        EntryKind::Other => false,
        EntryKind::Group { list, handlers, .. } => {
            let gone: Vec<bool> = handlers.iter().map(goes).collect();
            let spans: Vec<ByteSpan> = handlers.iter().map(|handler| handler.span.clone()).collect();
            if !all_gone(&gone) {
                inner.extend(removals(list, &spans, &gone));
            }
            all_gone(&gone)
        }
    };
    let gone: Vec<bool> = event.entries.iter().map(|entry| entry_goes(&entry.kind)).collect();
    if all_gone(&gone) {
        return true;
    }
    let spans: Vec<ByteSpan> = event.entries.iter().map(|entry| entry.span.clone()).collect();
    edits.extend(inner);
    edits.extend(removals(&event.member.value, &spans, &gone));
    false
}

/// False for a list that was empty before: we do not remove it.
fn all_gone(gone: &[bool]) -> bool {
    !gone.is_empty() && gone.iter().all(|gone| *gone)
}

/// Removes items from a list or object, each with its comma.
fn removals(container: &ByteSpan, items: &[ByteSpan], gone: &[bool]) -> Vec<Edit> {
    if all_gone(gone) {
        return vec![Edit { span: container.start + 1..container.end - 1, text: String::new() }];
    }
    let first_kept = gone.iter().position(|gone| !gone).unwrap_or(0);
    let indexes = (0..items.len()).filter(|i| gone[*i]);
    let spans = indexes.map(|i| {
        if i < first_kept { items[i].start..items[i + 1].start } else { items[i - 1].end..items[i].end }
    });
    spans.map(|span| Edit { span, text: String::new() }).collect()
}

fn add_handlers(document: &Document<'_>, handlers: Vec<(&str, &Value)>) -> String {
    if handlers.is_empty() {
        return document.text.to_owned();
    }
    match (&document.root, &document.hooks) {
        (None, _) | (_, None) => add_member(document, "hooks", events_of(handlers)),
        (Some(_), Some(hooks)) => add_to_hooks(document, &hooks.value, handlers),
    }
}

fn group(handler: &Value) -> Value {
    json!({ "hooks": [handler] })
}

fn events_of(handlers: Vec<(&str, &Value)>) -> Value {
    let events = handlers.into_iter().map(|(name, handler)| (name.to_owned(), json!([group(handler)])));
    Value::Object(events.collect::<Map<String, Value>>())
}

fn add_to_root(document: &Document<'_>, root: &ByteSpan, key: &str, value: Value) -> String {
    let members: Vec<ByteSpan> = document.members.iter().map(|member| member.span()).collect();
    let new = [(Some(key), value)];
    apply(document.text, vec![Style::detect(document).append(document.text, root, &members, &new)])
}

fn add_to_hooks(document: &Document<'_>, hooks: &ByteSpan, handlers: Vec<(&str, &Value)>) -> String {
    let style = Style::detect(document);
    let mut edits = Vec::new();
    let mut new_events = Vec::new();
    for (name, handler) in handlers {
        let Some(event) = document.event(name) else {
            new_events.push((Some(name), json!([group(handler)])));
            continue;
        };
        let spans: Vec<ByteSpan> = event.entries.iter().map(|entry| entry.span.clone()).collect();
        edits.push(style.append(document.text, &event.member.value, &spans, &[(None, group(handler))]));
    }
    if !new_events.is_empty() {
        let spans: Vec<ByteSpan> = document.events.iter().map(|event| event.member.span()).collect();
        edits.push(style.append(document.text, hooks, &spans, &new_events));
    }
    apply(document.text, edits)
}

impl Document<'static> {
    fn empty_object() -> Self {
        Self {
            text: "{}",
            root: Some(0..2),
            members: Vec::new(),
            hooks: None,
            events: Vec::new(),
            status_line: StatusLineSetting::None,
        }
    }
}

pub(super) fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.span.start);
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for edit in edits {
        result.push_str(&text[done..edit.span.start]);
        result.push_str(&edit.text);
        done = edit.span.end;
    }
    result + &text[done..]
}

/// The formatting of a file.
struct Style {
    newline: &'static str,
    /// One step of indentation; `None` if the whole file is one line.
    indent: Option<String>,
    /// True for `"a": 1, "b": 2`, false for `"a":1,"b":2`.
    spaced: bool,
}

impl Style {
    fn detect(document: &Document<'_>) -> Self {
        let text = document.text;
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let own_line = document.members.iter().find_map(|member| line_indent(text, member.key_span.start));
        let base = document.root.as_ref().map_or("", |root| indent_of_line(text, root.start));
        let indent = match own_line {
            Some(indent) => Some(indent.strip_prefix(base).unwrap_or(indent).to_owned()),
            None => document.members.is_empty().then(|| USUAL_INDENT.to_owned()),
        };
        let first = document.members.first();
        let spaced = first.is_none_or(|m| text[m.key_span.end..m.value.start].ends_with([' ', '\t']));
        Self { newline, indent, spaced }
    }

    /// Appends items to a list or object: on separate lines if the last item has its own line.
    fn append(
        &self,
        text: &str,
        container: &ByteSpan,
        items: &[ByteSpan],
        new: &[(Option<&str>, Value)],
    ) -> Edit {
        let Some(last) = items.last() else { return self.fill_container(text, container, new) };
        let lines = line_indent(text, last.start);
        let gap = match lines {
            Some(indent) => format!("{}{indent}", self.newline),
            None if items.len() > 1 => white_before(text, last.start).to_owned(),
            None => self.gap().to_owned(),
        };
        let added = new.iter().map(|item| format!(",{gap}{}", self.render(item, lines)));
        Edit { span: last.end..last.end, text: added.collect() }
    }

    fn fill_container(&self, text: &str, container: &ByteSpan, new: &[(Option<&str>, Value)]) -> Edit {
        let span = container.start + 1..container.end - 1;
        let Some(step) = &self.indent else {
            let items: Vec<String> = new.iter().map(|item| self.render(item, None)).collect();
            return Edit { span, text: items.join(&format!(",{}", self.gap())) };
        };
        let outer = indent_of_line(text, container.start);
        let indent = format!("{outer}{step}");
        let items: Vec<String> = new.iter().map(|item| self.render(item, Some(&indent))).collect();
        let newline = self.newline;
        let items = items.join(&format!(",{newline}{indent}"));
        Edit { span, text: format!("{newline}{indent}{items}{newline}{outer}") }
    }

    fn gap(&self) -> &'static str {
        if self.spaced { " " } else { "" }
    }

    /// `lines` is the indentation of the item, or `None` if it has no line of its own.
    fn render(&self, (key, value): &(Option<&str>, Value), lines: Option<&str>) -> String {
        let key = key.map_or(String::new(), |key| {
            let space = if lines.is_some() { " " } else { self.gap() };
            format!("{}:{space}", Value::from(key))
        });
        let value = match lines {
            Some(indent) => {
                let step = self.indent.as_deref().unwrap_or(USUAL_INDENT);
                // Line breaks within strings are escaped, so the formatter wrote each one here.
                let pretty = written(value, PrettyFormatter::with_indent(step.as_bytes()));
                pretty.replace('\n', &format!("{}{indent}", self.newline))
            }
            None if self.spaced => written(value, Spaced),
            None => value.to_string(),
        };
        key + &value
    }
}

fn written(value: &Value, formatter: impl Formatter) -> String {
    let mut bytes = Vec::new();
    // Writing a value into memory cannot fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    String::from_utf8(bytes).unwrap_or_default()
}

/// Writes one line with a space after each comma and colon.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }
    fn begin_object_key<W: ?Sized + io::Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }
    fn begin_object_value<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}

fn white_before(text: &str, at: usize) -> &str {
    let before = &text[..at];
    &before[before.trim_end_matches([' ', '\t', '\r', '\n']).len()..]
}

/// The indentation of the item at `at`, if only white space is before it on its line.
fn line_indent(text: &str, at: usize) -> Option<&str> {
    white_before(text, at).rsplit_once('\n').map(|(_, indent)| indent)
}

fn indent_of_line(text: &str, at: usize) -> &str {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
