//! One line of a transcript. Most lines and most bytes are skipped without being parsed into values.
//!
//! [`billed_usage`] reads only the usage, for history; [`TranscriptLine::parse`] reads everything a card shows, for live sessions.
//! Both are lenient: an unknown type, a missing field or another shape is ignored.

use std::borrow::Cow;

use serde_json::Value;

use crate::time::Timestamp;
use crate::wire::scan::Scan;
use crate::wire::tokens::{FAST, SYNTHETIC_MODEL, Usage};

/// Identifies one message by the line's `message.id` and `requestId`, which a fork copies. 128 bits make a collision among a
/// billion messages improbable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKey(pub u128);

impl MessageKey {
    pub fn new(message_id: &[u8], request_id: &[u8]) -> Self {
        let mut sums = [0xcbf2_9ce4_8422_2325_u64, 0x9ae1_6a3b_2f90_404f];
        for bytes in [message_id, request_id] {
            add_field(&mut sums, bytes.len() as u64);
            for chunk in bytes.chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                add_field(&mut sums, u64::from_le_bytes(word));
            }
        }
        Self((u128::from(sums[0]) << 64) | u128::from(sums[1]))
    }
}

/// Each step is a bijection of each sum.
fn add_field(sums: &mut [u64; 2], word: u64) {
    sums[0] = (sums[0] ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    sums[1] = (sums[1] ^ word).wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(31);
}

/// The billed usage of an assistant line. The lines of one message repeat it; the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BilledUsage<'a> {
    pub key: MessageKey,
    pub model: &'a str,
    pub at: Option<Timestamp>,
    pub usage: Usage,
    /// Answered at the faster speed, which has a price of its own.
    pub fast: bool,
    pub cwd: Option<&'a [u8]>,
}

impl<'a> BilledUsage<'a> {
    /// The name of the model in the price table.
    pub fn charged_as(&self) -> Cow<'a, str> {
        if self.fast { Cow::Owned(format!("{}{FAST}", self.model)) } else { Cow::Borrowed(self.model) }
    }

    /// The working directory, unescaped.
    pub fn cwd(&self) -> Option<Cow<'a, str>> {
        let raw = String::from_utf8_lossy(self.cwd?);
        if !raw.contains('\\') {
            return Some(raw);
        }
        serde_json::from_str(&format!("\"{raw}\"")).ok().map(Cow::Owned)
    }
}

/// `Ok(None)`: the line has no usage. `Err`: the line is not whole JSON.
pub fn billed_usage(line: &[u8]) -> Result<Option<BilledUsage<'_>>, Unreadable> {
    let mut wire = AssistantWire::default();
    let mut other = false;
    let walked = Scan::new(line).members(|s, key| {
        match key {
            b"type" => {
                other = s.text()? != Some(b"assistant");
                return Some(!other);
            }
            // Only attachment lines have this field, and it is most of the line.
            b"attachment" => {
                other = true;
                return Some(false);
            }
            b"message" if s.first_byte()? == b'{' => wire.message(s)?,
            b"requestId" => wire.request_id = s.text()?,
            b"timestamp" => wire.timestamp = s.text()?,
            b"uuid" => wire.uuid = s.text()?,
            b"cwd" => wire.cwd = s.text()?,
            _ => s.skip()?,
        }
        Some(true)
    });
    match (other, walked) {
        (true, _) => Ok(None),
        (false, Some(())) => Ok(wire.billed_usage(line)),
        (false, None) => Err(Unreadable),
    }
}

/// The line is not whole JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the line is not whole JSON")]
pub struct Unreadable;

#[derive(Default)]
struct AssistantWire<'a> {
    message_id: Option<&'a [u8]>,
    model: Option<&'a [u8]>,
    usage: Option<Usage>,
    fast: bool,
    request_id: Option<&'a [u8]>,
    timestamp: Option<&'a [u8]>,
    uuid: Option<&'a [u8]>,
    cwd: Option<&'a [u8]>,
}

impl<'a> AssistantWire<'a> {
    fn message(&mut self, s: &mut Scan<'a>) -> Option<()> {
        s.members(|s, key| {
            match key {
                b"id" => self.message_id = s.text()?,
                b"model" => self.model = s.text()?,
                b"usage" if s.first_byte()? == b'{' => {
                    let (usage, fast) = usage(s)?;
                    (self.usage, self.fast) = (Some(usage), fast);
                }
                _ => s.skip()?,
            }
            Some(true)
        })
    }

    fn billed_usage(self, line: &'a [u8]) -> Option<BilledUsage<'a>> {
        let usage = self.usage.filter(|u| !u.is_zero())?;
        let model = std::str::from_utf8(self.model?).ok()?;
        if model == SYNTHETIC_MODEL {
            return None;
        }
        // A line without ids is its own message; copies have the same uuid.
        let id = self.message_id.or(self.uuid).unwrap_or(line);
        Some(BilledUsage {
            key: MessageKey::new(id, self.request_id.unwrap_or_default()),
            model,
            at: self.timestamp.and_then(timestamp),
            usage,
            fast: self.fast,
            cwd: self.cwd,
        })
    }
}

/// The usage, and whether at the faster speed.
fn usage(s: &mut Scan<'_>) -> Option<(Usage, bool)> {
    let mut usage = Usage::default();
    let (mut written, mut fast) = (0, false);
    s.members(|s, key| {
        match key {
            b"input_tokens" => usage.input = s.count()?,
            b"output_tokens" => usage.output = s.count()?,
            b"cache_read_input_tokens" => usage.cache_read = s.count()?,
            b"cache_creation_input_tokens" => written = s.count()?,
            b"speed" => fast = s.value()? == b"\"fast\"",
            b"cache_creation" if s.first_byte()? == b'{' => s.members(|s, key| {
                match key {
                    b"ephemeral_5m_input_tokens" => usage.cache_write_5m = s.count()?,
                    b"ephemeral_1h_input_tokens" => usage.cache_write_1h = s.count()?,
                    _ => s.skip()?,
                }
                Some(true)
            })?,
            b"server_tool_use" if s.first_byte()? == b'{' => s.members(|s, key| {
                match key {
                    b"web_search_requests" => usage.web_searches = s.count()?,
                    _ => s.skip()?,
                }
                Some(true)
            })?,
            _ => s.skip()?,
        }
        Some(true)
    })?;
    // Older clients do not report the cache class: only five minutes existed.
    let classed = usage.cache_write_5m + usage.cache_write_1h;
    usage.cache_write_5m += written.saturating_sub(classed);
    Some((usage, fast))
}

/// A line of the main file or of a subagent's file, with the fields that a card shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TranscriptLine<'a> {
    pub at: Option<Timestamp>,
    pub cwd: Option<Cow<'a, str>>,
    pub git_branch: Option<Cow<'a, str>>,
    /// Of a subagent. Older clients wrote such lines into the main file.
    pub sidechain: bool,
    /// The prompt that the client worked on when it wrote the line.
    pub prompt_id: Option<Cow<'a, str>>,
    /// The line is that prompt itself, of a person or of the client.
    pub is_prompt: bool,
    pub kind: LineKind<'a>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum LineKind<'a> {
    /// An answer of the model; `text` if this block has one.
    Assistant {
        billed: Option<BilledUsage<'a>>,
        text: Option<Cow<'a, str>>,
        cached_for: Option<CacheClass>,
    },
    /// A prompt of a person.
    Prompt(Cow<'a, str>),
    /// The person interrupted the turn.
    Interrupted,
    /// A hook of the person ended the turn.
    StoppedByHook,
    /// A hook of the person blocked a prompt: the client did not send it to the model.
    PromptBlocked,
    /// A command that the person runs with `!`.
    ShellCommand(Cow<'a, str>),
    /// The output of that command: it has ended.
    ShellOutput,
    /// A tool changed something that shows on a card.
    Tool(ToolResult<'a>),
    Compacted,
    AiTitle(Cow<'a, str>),
    CustomTitle(Cow<'a, str>),
    /// A prompt typed ahead, or a notice of the client itself.
    Enqueued(Cow<'a, str>),
    Dequeued,
    /// Removed from the queue: the first entry with this text, if the text is given. `absorbed`: the running turn took it.
    Unqueued {
        text: Option<Cow<'a, str>>,
        absorbed: bool,
    },
    #[default]
    Other,
}

/// How long the provider keeps a cached prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheClass {
    FiveMinutes,
    OneHour,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult<'a> {
    pub edited: Option<Edited<'a>>,
    pub todos: Option<Todos>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Edited<'a> {
    pub path: Cow<'a, str>,
    pub added: u64,
    pub removed: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Todos {
    /// The whole list: (id, title, status).
    All(Vec<(String, String, String)>),
    Created {
        id: String,
        title: String,
    },
    Moved {
        id: String,
        status: String,
    },
}

#[derive(Default)]
struct RawLine<'a> {
    kind: Option<&'a [u8]>,
    subtype: Option<&'a [u8]>,
    message: Option<&'a [u8]>,
    result: Option<&'a [u8]>,
    origin: Option<&'a [u8]>,
    prompt_id: Option<&'a [u8]>,
    timestamp: Option<&'a [u8]>,
    cwd: Option<&'a [u8]>,
    branch: Option<&'a [u8]>,
    source: Option<&'a [u8]>,
    turn_origin: Option<&'a [u8]>,
    title: Option<&'a [u8]>,
    operation: Option<&'a [u8]>,
    reason: Option<&'a [u8]>,
    content: Option<&'a [u8]>,
    cached_for: Option<&'a [u8]>,
    not_typed: bool,
    sidechain: bool,
    /// An attachment that says that a hook ended the turn.
    stopped_by_hook: bool,
    prevents_continuation: bool,
}

/// How the client's line about an interrupt begins: "…by user]" or "…by user for tool use]".
const INTERRUPT_MARKER: &str = "[Request interrupted by user";

/// The type of the attachment which says that a hook ended the turn.
const STOPPED_BY_HOOK: &[u8] = b"hook_stopped_continuation";

/// Types that change nothing on a card, some of them 40 kB long.
const PASSED_OVER: [&[u8]; 11] = [
    b"api-request",
    b"api-request-shape",
    b"api-request-blob",
    b"cost-state",
    b"last-prompt",
    b"mode",
    b"permission-mode",
    b"atis-latch",
    b"tools-used",
    b"file-history-snapshot",
    b"file-history-delta",
];

impl<'a> TranscriptLine<'a> {
    pub fn parse(line: &'a [u8]) -> Result<Self, Unreadable> {
        let mut raw = RawLine::default();
        let mut passed_over = false;
        let walked = Scan::new(line).members(|s, key| {
            match key {
                b"type" => {
                    raw.kind = s.text()?;
                    passed_over = raw.kind.is_some_and(|kind| PASSED_OVER.contains(&kind));
                }
                b"attachment" => {
                    raw.stopped_by_hook = is_of_type(s, STOPPED_BY_HOOK).unwrap_or(false);
                    passed_over = !raw.stopped_by_hook;
                }
                _ => raw.read_field(s, key)?,
            }
            Some(!passed_over)
        });
        match (passed_over, walked) {
            (true, _) => Ok(Self::default()),
            (false, Some(())) => Ok(raw.line(line)),
            (false, None) => Err(Unreadable),
        }
    }
}

/// Whether the `type` of the object here is this one. Reads the whole object only if it is.
fn is_of_type(s: &mut Scan<'_>, wanted: &[u8]) -> Option<bool> {
    let mut is_wanted = false;
    s.members(|s, key| {
        if key != b"type" {
            return s.skip().map(|()| true);
        }
        is_wanted = s.text()? == Some(wanted);
        Some(is_wanted)
    })?;
    Some(is_wanted)
}

impl<'a> RawLine<'a> {
    fn read_field(&mut self, s: &mut Scan<'a>, key: &[u8]) -> Option<()> {
        match key {
            b"message" => self.message = Some(s.value()?),
            b"toolUseResult" => self.result = Some(s.value()?),
            b"origin" => self.origin = Some(s.value()?),
            b"timestamp" => self.timestamp = s.text()?,
            b"promptId" => self.prompt_id = Some(s.value()?),
            b"cwd" => self.cwd = Some(s.value()?),
            b"gitBranch" => self.branch = Some(s.value()?),
            b"subtype" => self.subtype = s.text()?,
            b"promptSource" => self.source = s.text()?,
            b"turnOrigin" => self.turn_origin = s.text()?,
            b"aiTitle" | b"customTitle" => self.title = Some(s.value()?),
            b"operation" => self.operation = s.text()?,
            b"reason" => self.reason = s.text()?,
            b"isSidechain" => self.sidechain = s.value()? == b"true",
            b"content" => self.content = Some(s.value()?),
            b"preventContinuation" => self.prevents_continuation = s.value()? == b"true",
            b"promptCacheRequested" => self.cached_for = s.text()?,
            b"isMeta" | b"isCompactSummary" => self.not_typed |= s.value()? == b"true",
            _ => s.skip()?,
        }
        Some(())
    }

    fn line(self, line: &'a [u8]) -> TranscriptLine<'a> {
        TranscriptLine {
            at: self.timestamp.and_then(timestamp),
            cwd: self.cwd.and_then(string),
            git_branch: self.branch.and_then(string).filter(|b| !b.is_empty()),
            sidechain: self.sidechain,
            prompt_id: self.prompt_id.and_then(string),
            is_prompt: self.kind == Some(b"user") && self.source.is_some(),
            kind: self.kind(line).unwrap_or_default(),
        }
    }

    fn kind(&self, line: &'a [u8]) -> Option<LineKind<'a>> {
        let title = || self.title.and_then(string).filter(|t| !t.trim().is_empty());
        let content = || self.content.and_then(string);
        Some(match self.kind? {
            b"assistant" => {
                let billed = billed_usage(line).ok().flatten();
                let cached_for = match self.cached_for {
                    Some(b"1h") => Some(CacheClass::OneHour),
                    Some(b"5m") => Some(CacheClass::FiveMinutes),
                    _ => None,
                };
                LineKind::Assistant { billed, text: self.message.and_then(last_text), cached_for }
            }
            b"user" => return self.user(),
            b"system" if self.subtype == Some(b"compact_boundary") => LineKind::Compacted,
            b"system" if self.subtype == Some(b"informational") && self.prevents_continuation => {
                LineKind::PromptBlocked
            }
            b"attachment" if self.stopped_by_hook => LineKind::StoppedByHook,
            b"ai-title" => LineKind::AiTitle(title()?),
            b"custom-title" => LineKind::CustomTitle(title()?),
            b"queue-operation" => match self.operation? {
                b"enqueue" => LineKind::Enqueued(content().unwrap_or_default()),
                b"dequeue" => LineKind::Dequeued,
                b"remove" | b"popAll" => LineKind::Unqueued {
                    text: content(),
                    absorbed: self.reason == Some(b"absorbed_mid_turn"),
                },
                _ => return None,
            },
            _ => return None,
        })
    }

    fn user(&self) -> Option<LineKind<'a>> {
        if let Some(result) = self.result {
            return tool_result(result).map(LineKind::Tool);
        }
        let text = prompt_text(self.message?)?;
        if text.starts_with(INTERRUPT_MARKER) {
            return Some(LineKind::Interrupted);
        }
        if let Some(command) = text.strip_prefix("<bash-input>") {
            let command = command.strip_suffix("</bash-input>").unwrap_or(command).to_owned();
            return Some(LineKind::ShellCommand(command.into()));
        }
        if text.starts_with("<bash-stdout>") {
            return Some(LineKind::ShellOutput);
        }
        (!self.not_typed && self.by_a_person(&text)).then(|| LineKind::Prompt(plain_command(text)))
    }

    /// The client writes the origin of a prompt; for older clients the text decides.
    fn by_a_person(&self, text: &str) -> bool {
        let origin = self.origin.and_then(|o| field(o, b"kind"));
        match (origin.as_deref(), self.source, self.turn_origin) {
            (Some("human"), ..) => true,
            (Some(_), ..) => false,
            (None, Some(source), _) => matches!(source, b"typed" | b"sdk"),
            (None, None, Some(_)) => false,
            (None, None, None) => !text.starts_with(['<', '[']) && !text.starts_with("Caveat: "),
        }
    }
}

fn timestamp(text: &[u8]) -> Option<Timestamp> {
    Timestamp::parse(std::str::from_utf8(text).ok()?)
}

/// A JSON string, unescaped. Bytes that are not UTF-8 become `\u{fffd}`.
fn string(json: &[u8]) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        return Some(String::from_utf8_lossy(inner));
    }
    serde_json::from_str(&String::from_utf8_lossy(json)).ok().map(Cow::Owned)
}

/// A text field of an object.
fn field<'a>(object: &'a [u8], name: &[u8]) -> Option<Cow<'a, str>> {
    let mut found = None;
    Scan::new(object).members(|s, key| {
        if key == name {
            found = string(s.value()?);
        } else {
            s.skip()?;
        }
        Some(true)
    })?;
    found
}

fn content(message: &[u8]) -> Option<&[u8]> {
    let mut content = None;
    Scan::new(message).members(|s, key| {
        let value = s.value()?;
        if key == b"content" {
            content = Some(value);
        }
        Some(true)
    })?;
    content
}

/// The last text block: the model's answer, not its thinking or its calls.
fn last_text(message: &[u8]) -> Option<Cow<'_, str>> {
    let mut text = None;
    Scan::new(content(message)?).items(|s| {
        let block = s.value()?;
        if field(block, b"type").as_deref() == Some("text") {
            text = field(block, b"text");
        }
        Some(())
    })?;
    text.filter(|t| !t.trim().is_empty())
}

/// The text a person typed: a string, or the first text block of a list. A tool's result is not a prompt.
fn prompt_text(message: &[u8]) -> Option<Cow<'_, str>> {
    let content = content(message)?;
    if content.first() == Some(&b'"') {
        return string(content);
    }
    let (mut text, mut tool) = (None, false);
    Scan::new(content).items(|s| {
        let block = s.value()?;
        match field(block, b"type").as_deref() {
            Some("text") if text.is_none() => text = field(block, b"text"),
            Some("tool_result") => tool = true,
            _ => {}
        }
        Some(())
    })?;
    text.filter(|_| !tool)
}

/// A slash command is stored as tags around its name and arguments; the person typed `/name arguments`.
fn plain_command(text: Cow<'_, str>) -> Cow<'_, str> {
    let inside = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>")).map(|(inner, _)| inner.trim())
    };
    match (text.starts_with("<command-"), inside("command-name")) {
        (true, Some(name)) => {
            let args = inside("command-args").unwrap_or_default();
            Cow::Owned(format!("{name} {args}").trim_end().to_owned())
        }
        _ => text,
    }
}

fn tool_result(json: &[u8]) -> Option<ToolResult<'_>> {
    let mut result = ToolResult::default();
    let (mut path, mut patch, mut written, mut created) = (None, None, None, false);
    let (mut moved_id, mut moved_to) = (None, None);
    Scan::new(json).members(|s, key| {
        let value = s.value()?;
        match key {
            b"filePath" => path = string(value),
            b"structuredPatch" => patch = Some(value),
            b"content" => written = Some(value),
            b"type" => created = value == b"\"create\"",
            b"newTodos" => result.todos = parse_if_small(value).map(|v| Todos::All(todo_list(&v))),
            b"tasks" => result.todos = parse_if_small(value).map(|v| Todos::All(todo_list(&v))),
            b"task" => result.todos = parse_if_small(value).and_then(|v| created_todo(&v)),
            b"taskId" => moved_id = string(value),
            b"statusChange" => moved_to = field(value, b"to"),
            _ => {}
        }
        Some(true)
    })?;
    if let (Some(id), Some(status)) = (moved_id, moved_to) {
        result.todos = Some(Todos::Moved { id: id.into_owned(), status: status.into_owned() });
    }
    // A read file and a shown plan have a path too; only an edit has a patch.
    if let (Some(path), Some(patch)) = (path, patch) {
        let (added, removed) = match created {
            // Counted like the client: text after the last line end is a line too.
            true => (written.and_then(string).map_or(0, |text| text.split('\n').count() as u64), 0),
            false => patched_lines(patch).unwrap_or_default(),
        };
        result.edited = Some(Edited { path, added, removed });
    }
    (result != ToolResult::default()).then_some(result)
}

/// Longest list of to-dos that is read: a hundred of them are a few kilobytes.
const TODOS_BYTES_MAX: usize = 256 * 1024;

fn parse_if_small(json: &[u8]) -> Option<Value> {
    serde_json::from_slice(json.get(..json.len().min(TODOS_BYTES_MAX))?).ok()
}

fn text_of(value: &Value, names: &[&str]) -> Option<String> {
    let found = names.iter().find_map(|n| value.get(n).filter(|v| !v.is_null()))?;
    Some(found.as_str().map_or_else(|| found.to_string(), str::to_owned))
}

/// Items of TodoWrite have no id: their position is used.
fn todo_list(value: &Value) -> Vec<(String, String, String)> {
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    let item = |(place, v): (usize, &Value)| {
        let id = text_of(v, &["id"]).unwrap_or_else(|| (place + 1).to_string());
        let status = text_of(v, &["status"]).unwrap_or_else(|| "pending".to_owned());
        Some((id, text_of(v, &["content", "subject"])?, status))
    };
    items.iter().enumerate().filter_map(item).collect()
}

fn created_todo(value: &Value) -> Option<Todos> {
    Some(Todos::Created { id: text_of(value, &["id"])?, title: text_of(value, &["subject", "content"])? })
}

/// Lines added and removed over all hunks.
fn patched_lines(patch: &[u8]) -> Option<(u64, u64)> {
    let (mut added, mut removed) = (0, 0);
    Scan::new(patch).items(|s| {
        s.members(|s, key| {
            if key != b"lines" {
                s.skip()?;
                return Some(true);
            }
            s.items(|s| {
                match s.text()?.and_then(|line| line.first()) {
                    Some(b'+') => added += 1,
                    Some(b'-') => removed += 1,
                    _ => {}
                }
                Some(())
            })?;
            Some(true)
        })
    })?;
    Some((added, removed))
}
