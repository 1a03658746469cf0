//! One line of a transcript, with everything that a card shows, for live sessions. Most lines and most bytes are skipped without
//! being parsed into values. Reading is lenient: an unknown type, a missing field or another shape is ignored.

use std::borrow::Cow;

use super::billed_usage::{BilledUsage, Unreadable, billed_usage};
use super::scan::{Scan, string, text_field, timestamp};
use super::tool_result::{ToolResult, tool_result};
use crate::time::Timestamp;

/// A line of the main file or of a subagent's file, with the fields that a card shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TranscriptLine<'a> {
    pub at: Option<Timestamp>,
    pub cwd: Option<Cow<'a, str>>,
    pub git_branch: Option<Cow<'a, str>>,
    /// Whether the line belongs to a subagent. Older clients wrote such lines into the main file.
    pub sidechain: bool,
    /// The prompt that the client worked on when it wrote the line.
    pub prompt_id: Option<Cow<'a, str>>,
    /// Whether the line is that prompt itself, written by a person or by the client.
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
    /// The person took it back into the prompt box.
    TakenBack(Cow<'a, str>),
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

/// Types of lines that change nothing on a card. Some of these lines are 40 kB long.
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

impl LineKind<'_> {
    pub fn changes_the_queue(&self) -> bool {
        matches!(self, Self::Enqueued(_) | Self::Dequeued | Self::TakenBack(_) | Self::Unqueued { .. })
    }
}

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
                b"remove" => LineKind::Unqueued {
                    text: content(),
                    absorbed: self.reason == Some(b"absorbed_mid_turn"),
                },
                b"popAll" => match content() {
                    Some(text) => LineKind::TakenBack(text),
                    None => LineKind::Unqueued { text: None, absorbed: false },
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

    /// Whether a person wrote the prompt. The client writes the origin of a prompt into its line; for older clients the text decides.
    fn by_a_person(&self, text: &str) -> bool {
        let origin = self.origin.and_then(|o| text_field(o, b"kind"));
        match (origin.as_deref(), self.source, self.turn_origin) {
            (Some("human"), ..) => true,
            (Some(_), ..) => false,
            (None, Some(source), _) => matches!(source, b"typed" | b"sdk"),
            (None, None, Some(_)) => false,
            (None, None, None) => !text.starts_with(['<', '[']) && !text.starts_with("Caveat: "),
        }
    }
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
        if text_field(block, b"type").as_deref() == Some("text") {
            text = text_field(block, b"text");
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
        match text_field(block, b"type").as_deref() {
            Some("text") if text.is_none() => text = text_field(block, b"text"),
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
