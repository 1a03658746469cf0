//! What transcripts say about a session: a fold over the lines of its main file and of its subagents' files.
//!
//! The result is data for the card and never changes a state. A message is counted once, by its newest line, however many
//! lines and files repeat it. So the totals do not depend on the order and the size of the reads.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::fnv::Fnv;
use crate::ids::AgentId;
use crate::limits::{
    AGENTS_PRICED_MAX, CACHE_LIVES_1H, CACHE_LIVES_5M, CARD_ANSWER_CHARS_MAX, CARD_PROMPT_CHARS_MAX,
    ENDED_TASKS_MAX, FILES_COUNTED_MAX, FILES_TOUCHED_MAX, NAME_CHARS_MAX, PATH_CHARS_MAX, TODOS_MAX,
};
use crate::log::todo::Todo;
use crate::text;
use crate::time::{Millis, Timestamp};
use crate::usage::price::{Bill, PriceTable, Usage};
use crate::usage::session_files::SessionFiles;
use crate::usage::taken_back::TakenBack;
use crate::wire::billed_usage::{BilledUsage, MessageKey, Unreadable};
use crate::wire::tool_result::{Edited, Todos, ToolResult};
use crate::wire::transcript::{CacheClass, LineKind, TranscriptLine};

/// Which of a session's files a line is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptFile<'a> {
    Main,
    Agent(&'a str),
}

impl TranscriptFile<'_> {
    /// The id of the subagent. Empty for the main file.
    pub fn agent(&self) -> &str {
        match self {
            Self::Main => "",
            Self::Agent(id) => id,
        }
    }
}

/// Everything known from a session's transcripts. Small, because it is stored after each read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Enrichment {
    /// Usage by model, of the main agent and all subagents. Each message is counted once.
    pub usage: BTreeMap<String, Usage>,
    pub agents: BTreeMap<String, BTreeMap<String, Usage>>,
    /// The prompt of each subagent, and the times of its first and last line.
    pub agent_lines: BTreeMap<String, AgentLines>,
    pub model: Option<String>,
    pub model_at: Option<Timestamp>,
    pub context_tokens: Option<u64>,
    pub cache_used_at: Option<Timestamp>,
    pub cache_class: Option<CacheClass>,
    pub compactions: u32,
    pub git_branch: Option<String>,
    /// The working directory of the first line.
    pub cwd: Option<String>,
    /// The working directory of the last line, and its time.
    pub cwd_now: Option<String>,
    pub cwd_at: Option<Timestamp>,
    pub custom_title: Option<String>,
    pub ai_title: Option<String>,
    pub first_prompt: Option<String>,
    pub last_prompt: Option<String>,
    pub last_prompt_at: Option<Timestamp>,
    pub last_answer: Option<String>,
    pub last_answer_at: Option<Timestamp>,
    pub todos: Vec<Todo>,
    pub(super) queue: VecDeque<QueuedPrompt>,
    /// When the queue last changed.
    pub queue_at: Option<Timestamp>,
    pub taken_back: TakenBack,
    /// When the newest interrupt marker was written.
    pub interrupted_at: Option<Timestamp>,
    /// The prompt that it interrupted.
    pub(super) interrupted_prompt: Option<String>,
    /// The prompt that the client had already taken out of its queue when it wrote the marker.
    pub(super) next_prompt: Option<String>,
    /// The newest prompt in the file, and digests of the ids of the newest ones.
    pub(super) newest_prompt: Option<String>,
    /// The prompt before the newest one.
    pub(super) prompt_before: Option<String>,
    /// Whether Claude has written anything since the newest prompt.
    pub(super) prompt_is_answered: bool,
    pub(super) newest_prompts: VecDeque<u64>,
    /// When a hook of the person last ended a turn.
    pub stopped_by_hook_at: Option<Timestamp>,
    /// When a hook of the person last blocked a prompt.
    pub prompt_blocked_at: Option<Timestamp>,
    /// The last command that the person ran with `!`.
    pub shell_command: Option<ShellCommand>,
    /// Digests of the ids of background tasks that ended, newest last.
    ended_tasks: VecDeque<u64>,
    pub files: BTreeSet<String>,
    /// Hashes of further files, beyond the named ones.
    more_files: BTreeSet<u64>,
    pub lines_added: u64,
    pub lines_removed: u64,
    pub first_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
    /// Lines that are not JSON. They are skipped.
    pub unreadable: u64,
}

impl Enrichment {
    /// Subtracts `ahead` from every time. For a session of another host whose clock is ahead of ours by `ahead`.
    #[must_use]
    pub fn corrected(mut self, ahead: Millis) -> Self {
        let times = [
            &mut self.model_at,
            &mut self.cache_used_at,
            &mut self.cwd_at,
            &mut self.last_prompt_at,
            &mut self.last_answer_at,
            &mut self.queue_at,
            &mut self.interrupted_at,
            &mut self.stopped_by_hook_at,
            &mut self.prompt_blocked_at,
            &mut self.first_at,
            &mut self.last_at,
        ];
        let lines = self.agent_lines.values_mut().flat_map(|l| [&mut l.first_at, &mut l.last_at]);
        let queue = self.queue.iter_mut().map(|queued| &mut queued.at);
        let command = self.shell_command.iter_mut().map(|command| &mut command.at);
        self.taken_back.correct(ahead);
        for at in times.into_iter().chain(lines).chain(queue).chain(command).flatten() {
            *at = *at - ahead;
        }
        self
    }

    /// Keeps only numbers, times and names of models, and drops prompts, answers, titles, commands and paths.
    #[must_use]
    pub fn without_payloads(self) -> Self {
        let Self { usage, agents, model, model_at, context_tokens, cache_used_at, cache_class, .. } = self;
        let Self { compactions, lines_added, lines_removed, first_at, last_at, taken_back, .. } = self;
        Self {
            usage,
            agents,
            model,
            model_at,
            context_tokens,
            cache_used_at,
            cache_class,
            compactions,
            lines_added,
            lines_removed,
            first_at,
            last_at,
            taken_back: taken_back.without_payloads(),
            ..Self::default()
        }
    }
}

/// A command that the person ran with `!`: no hook reports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShellCommand {
    /// As the terminal shows it: `! ls`.
    pub text: String,
    pub at: Option<Timestamp>,
    /// True until its output is in the transcript.
    pub runs: bool,
}

/// What the lines of a subagent's own transcript say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentLines {
    pub prompt: Option<String>,
    pub first_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
}

/// A prompt in the client's queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct QueuedPrompt {
    /// Hash of its text.
    pub(super) mark: u64,
    pub(super) by_person: bool,
    pub(super) at: Option<Timestamp>,
}

/// One message as it is counted, for the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedMessage {
    pub key: MessageKey,
    pub model: String,
    /// The subagent whose file the message is in. Empty for the main file.
    pub agent: AgentId,
    pub at: Timestamp,
    pub usage: Usage,
}

/// Folds the lines of a session's transcripts: the totals, and the messages that are in them.
#[derive(Clone, Debug, Default)]
pub struct TranscriptFold {
    known: Enrichment,
    seen: BTreeMap<MessageKey, SeenMessage>,
    /// Models and agents, referred to by index: a long session has thousands of messages and two models.
    names: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct SeenMessage {
    at: Timestamp,
    usage: SmallUsage,
    model: u16,
    agent: u16,
}

/// Tokens of one message fit 32 bits.
#[derive(Clone, Copy, Debug)]
struct SmallUsage([u32; 6]);

impl SmallUsage {
    fn from_usage(u: &Usage) -> Self {
        let all = [u.input, u.output, u.cache_read, u.cache_write_5m, u.cache_write_1h, u.web_searches];
        Self(all.map(|n| u32::try_from(n).unwrap_or(u32::MAX)))
    }
    fn usage(self) -> Usage {
        let [input, output, cache_read, cache_write_5m, cache_write_1h, web_searches] = self.0.map(u64::from);
        Usage { input, output, cache_read, cache_write_5m, cache_write_1h, web_searches }
    }
}

impl TranscriptFold {
    /// Continues where an earlier run stopped: `counted` are the messages that `known` already includes.
    pub fn resume(known: Enrichment, counted: impl IntoIterator<Item = CountedMessage>) -> Self {
        let mut fold = Self { known, ..Self::default() };
        for c in counted {
            let seen = SeenMessage {
                at: c.at,
                usage: SmallUsage::from_usage(&c.usage),
                model: fold.number(&c.model),
                agent: fold.number(&c.agent),
            };
            fold.seen.insert(c.key, seen);
        }
        fold
    }

    pub fn enrichment(&self) -> &Enrichment {
        &self.known
    }

    /// How many different messages were counted.
    pub fn messages(&self) -> usize {
        self.seen.len()
    }

    /// Reads one whole line, without its line end. Returns the message to store, if one was counted or changed.
    pub fn count_line(&mut self, from: TranscriptFile<'_>, line: &[u8]) -> Option<CountedMessage> {
        match TranscriptLine::parse(line) {
            Ok(line) => self.take_line(from, &line),
            Err(Unreadable) => {
                // An empty line is not counted as unreadable.
                self.known.unreadable += u64::from(!line.trim_ascii().is_empty());
                None
            }
        }
    }

    fn take_line(&mut self, from: TranscriptFile<'_>, line: &TranscriptLine<'_>) -> Option<CountedMessage> {
        if let Some(at) = line.at {
            self.known.first_at = Some(self.known.first_at.map_or(at, |t| t.min(at)));
            self.known.last_at = Some(self.known.last_at.map_or(at, |t| t.max(at)));
        }
        match from {
            TranscriptFile::Main => self.known.take_main(line),
            TranscriptFile::Agent(id) => self.known.take_agent(id, line),
        }
        if let LineKind::Tool(ToolResult { edited: Some(edited), .. }) = &line.kind {
            self.known.take_edit(edited);
        }
        match &line.kind {
            LineKind::Assistant { billed: Some(billed), .. } => self.count(from, billed),
            _ => None,
        }
    }

    /// Counts a message once. A later line of the same message replaces it.
    fn count(&mut self, from: TranscriptFile<'_>, billed: &BilledUsage<'_>) -> Option<CountedMessage> {
        let at = billed.at.or(self.known.last_at).unwrap_or_default();
        let model = text::one_line(&billed.charged_as(), NAME_CHARS_MAX);
        let mut agent = self.number(from.agent());
        let new = SeenMessage {
            at,
            usage: SmallUsage::from_usage(&billed.usage),
            model: self.number(&model),
            agent,
        };
        if let Some(old) = self.seen.get(&billed.key).copied() {
            if old.at > at {
                return None;
            }
            // A message that is in several files belongs to the main agent if it is in the main file, otherwise to the first
            // subagent by name.
            if self.name(old.agent) < self.name(agent) {
                agent = old.agent;
            }
            let (model, was) = (self.name(old.model).to_owned(), old.usage.usage());
            let owner = self.name(old.agent).to_owned();
            self.known.add(&model, &owner, |sum| sum.take_back(&was));
        }
        let seen = SeenMessage { agent, ..new };
        self.seen.insert(billed.key, seen);
        let (agent, usage) = (AgentId::from(self.name(agent)), seen.usage.usage());
        self.known.add(&model, &agent, |sum| sum.add(&usage));
        Some(CountedMessage { key: billed.key, model, agent, at, usage })
    }

    fn number(&mut self, name: &str) -> u16 {
        let place = self.names.iter().position(|n| n == name).unwrap_or_else(|| {
            if self.names.len() < usize::from(u16::MAX) {
                self.names.push(name.to_owned());
            }
            self.names.len() - 1
        });
        place as u16
    }

    fn name(&self, number: u16) -> &str {
        self.names.get(usize::from(number)).map_or("", String::as_str)
    }
}

impl Enrichment {
    /// Whether any line with content was read. If not, the card leaves the numbers out instead of showing zeros.
    pub fn has_content(&self) -> bool {
        self.last_at.is_some() || self.first_prompt.is_some()
    }

    /// Makes an enrichment that has only usage and times, from messages that were counted before.
    pub fn from_counted(counted: &[CountedMessage]) -> Self {
        let mut known = Self::default();
        for c in counted {
            known.add(&c.model, &c.agent, |sum| sum.add(&c.usage));
            known.first_at = Some(known.first_at.map_or(c.at, |at| at.min(c.at)));
            known.last_at = Some(known.last_at.map_or(c.at, |at| at.max(c.at)));
        }
        known
    }

    /// The number of queued prompts of a person. Entries from before `began_at` do not count: if a process is killed, its queue
    /// is lost and the transcript does not say so.
    pub fn queued_prompts(&self, began_at: Timestamp) -> u32 {
        let waits = |q: &&QueuedPrompt| q.by_person && q.at.is_none_or(|at| at >= began_at);
        self.queue.iter().filter(waits).count() as u32
    }

    /// Whether the client wrote that this background task has ended.
    pub fn has_ended_task(&self, id: u64) -> bool {
        self.ended_tasks.contains(&id)
    }

    /// Notes which background task has ended, according to a notice in the queue.
    pub(super) fn take_task_notice(&mut self, notice: &str) {
        let between = |from: &str, to: &str| notice.split_once(from)?.1.split_once(to).map(|(text, _)| text);
        let ended = matches!(between("<status>", "</status>"), Some("completed" | "failed" | "killed"));
        if let Some(id) = between("<task-id>", "</task-id>").filter(|_| ended) {
            if self.ended_tasks.len() == ENDED_TASKS_MAX {
                self.ended_tasks.pop_front();
            }
            self.ended_tasks.push_back(Fnv::hash_bytes(id.as_bytes()));
        }
    }

    /// Number of different files that tools changed.
    pub fn files_total(&self) -> usize {
        self.files.len() + self.more_files.len()
    }

    pub fn cache_expires_at(&self) -> Option<Timestamp> {
        Some(match self.cache_class? {
            CacheClass::FiveMinutes => self.cache_used_at? + CACHE_LIVES_5M,
            CacheClass::OneHour => self.cache_used_at? + CACHE_LIVES_1H,
        })
    }

    fn add(&mut self, model: &str, agent: &str, change: impl Fn(&mut Usage)) {
        change(self.usage.entry(model.to_owned()).or_default());
        if !agent.is_empty() && (self.agents.contains_key(agent) || self.agents.len() < AGENTS_PRICED_MAX) {
            change(self.agents.entry(agent.to_owned()).or_default().entry(model.to_owned()).or_default());
        }
    }

    /// Takes a line of the main agent's file.
    fn take_main(&mut self, line: &TranscriptLine<'_>) {
        self.take_place(line);
        if let Some(id) = line.prompt_id.as_deref().filter(|_| line.is_prompt) {
            self.take_prompt_id(id);
        }
        match &line.kind {
            LineKind::Assistant { billed, text, cached_for } => {
                self.prompt_is_answered = true;
                if let Some(text) = text {
                    self.last_answer = Some(text::last_lines(text, CARD_ANSWER_CHARS_MAX));
                    self.last_answer_at = line.at.or(self.last_answer_at);
                }
                if let Some(billed) = billed {
                    self.take_answer(billed, *cached_for);
                }
            }
            LineKind::Prompt(prompt) => self.take_prompt(prompt, line.at),
            LineKind::Tool(ToolResult { todos: Some(todos), .. }) => self.take_todos(todos),
            LineKind::Compacted => self.compactions += 1,
            LineKind::AiTitle(title) => self.ai_title = Some(text::one_line(title, CARD_PROMPT_CHARS_MAX)),
            LineKind::CustomTitle(title) => {
                self.custom_title = Some(text::one_line(title, CARD_PROMPT_CHARS_MAX));
            }
            LineKind::Interrupted => self.take_interrupt(line),
            LineKind::StoppedByHook => self.stopped_by_hook_at = self.stopped_by_hook_at.max(line.at),
            LineKind::PromptBlocked => self.prompt_blocked_at = self.prompt_blocked_at.max(line.at),
            LineKind::ShellCommand(command) => {
                let text = text::lines(&format!("! {command}"), CARD_PROMPT_CHARS_MAX);
                self.shell_command = Some(ShellCommand { text, at: line.at, runs: true });
            }
            LineKind::ShellOutput => {
                if let Some(command) = &mut self.shell_command {
                    command.runs = false;
                }
            }
            kind if kind.changes_the_queue() => self.take_queue_line(line),
            _ => {}
        }
    }

    /// Takes the branch and the working directory of a line.
    fn take_place(&mut self, line: &TranscriptLine<'_>) {
        if let Some(branch) = &line.git_branch {
            self.git_branch = Some(text::one_line(branch, NAME_CHARS_MAX));
        }
        // The first directory is the project, even if the session moves later.
        if let (None, Some(cwd)) = (&self.cwd, &line.cwd) {
            self.cwd = Some(text::one_line(cwd, PATH_CHARS_MAX));
        }
        if let Some(cwd) = &line.cwd {
            if self.cwd_now.as_deref() != Some(cwd) {
                self.cwd_now = Some(text::one_line(cwd, PATH_CHARS_MAX));
            }
            self.cwd_at = line.at.or(self.cwd_at);
        }
    }

    /// Takes a line of a subagent's file. The first prompt in the file is the task of the subagent; later prompts are messages to it.
    fn take_agent(&mut self, id: &str, line: &TranscriptLine<'_>) {
        if !self.agent_lines.contains_key(id) && self.agent_lines.len() >= AGENTS_PRICED_MAX {
            return;
        }
        let lines = self.agent_lines.entry(id.to_owned()).or_default();
        if let Some(at) = line.at {
            lines.first_at = Some(lines.first_at.map_or(at, |t| t.min(at)));
            lines.last_at = Some(lines.last_at.map_or(at, |t| t.max(at)));
        }
        if let (None, LineKind::Prompt(prompt)) = (&lines.prompt, &line.kind) {
            lines.prompt =
                Some(text::lines(prompt, CARD_PROMPT_CHARS_MAX)).filter(|prompt| !prompt.is_empty());
        }
    }

    fn take_answer(&mut self, billed: &BilledUsage<'_>, cached_for: Option<CacheClass>) {
        self.model = Some(text::one_line(billed.model, NAME_CHARS_MAX));
        self.model_at = billed.at;
        self.context_tokens = Some(billed.usage.context_tokens());
        let u = &billed.usage;
        if u.cache_read + u.cache_write_5m + u.cache_write_1h > 0 {
            self.cache_used_at = billed.at.or(self.cache_used_at);
            // If both classes were written, the end of the conversation is in the shorter one, and it expires first.
            self.cache_class = cached_for.or(match (u.cache_write_5m, u.cache_write_1h) {
                (0, 0) => self.cache_class.or(Some(CacheClass::FiveMinutes)),
                (0, _) => Some(CacheClass::OneHour),
                _ => Some(CacheClass::FiveMinutes),
            });
        }
    }

    fn take_prompt(&mut self, prompt: &str, at: Option<Timestamp>) {
        let prompt = text::lines(prompt, CARD_PROMPT_CHARS_MAX);
        if prompt.is_empty() {
            return;
        }
        if self.first_prompt.is_none() {
            self.first_prompt = Some(prompt.clone());
        }
        self.last_prompt = Some(prompt);
        self.last_prompt_at = at.or(self.last_prompt_at);
    }

    fn take_todos(&mut self, todos: &Todos) {
        match todos {
            Todos::All(all) => {
                let todo = |(id, title, status): &(String, String, String)| Todo {
                    id: text::one_line(id, NAME_CHARS_MAX),
                    title: text::one_line(title, CARD_PROMPT_CHARS_MAX),
                    status: text::one_line(status, NAME_CHARS_MAX),
                };
                self.todos = all.iter().take(TODOS_MAX).map(todo).collect();
            }
            Todos::Created { id, title } => {
                let id = text::one_line(id, NAME_CHARS_MAX);
                let title = text::one_line(title, CARD_PROMPT_CHARS_MAX);
                if let Some(todo) = self.todos.iter_mut().find(|t| t.id == id) {
                    todo.title = title;
                } else if self.todos.len() < TODOS_MAX {
                    self.todos.push(Todo { id, title, status: "pending".to_owned() });
                }
            }
            Todos::Moved { id, status } => {
                let id = text::one_line(id, NAME_CHARS_MAX);
                if status == "deleted" {
                    self.todos.retain(|t| t.id != id);
                } else if let Some(todo) = self.todos.iter_mut().find(|t| t.id == id) {
                    todo.status = text::one_line(status, NAME_CHARS_MAX);
                }
            }
        }
    }

    fn take_edit(&mut self, edited: &Edited<'_>) {
        self.lines_added += edited.added;
        self.lines_removed += edited.removed;
        let path = text::one_line(&edited.path, PATH_CHARS_MAX);
        if self.files.contains(&path) {
            return;
        }
        if self.files.len() < FILES_TOUCHED_MAX {
            self.files.insert(path);
        } else if self.more_files.len() < FILES_COUNTED_MAX {
            self.more_files.insert(text_hash(&path));
        }
    }
}

/// The hash by which a queued prompt or a path is recognised.
pub(super) fn text_hash(text: &str) -> u64 {
    MessageKey::new(text.as_bytes(), b"").0 as u64
}

/// An enrichment with prices and the files beside the transcript, as a card shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub known: Enrichment,
    pub files: SessionFiles,
    pub bill: Bill,
    pub agents: BTreeMap<String, Bill>,
    pub window: Option<u64>,
}

impl Summary {
    pub fn with_prices(known: Enrichment, prices: &PriceTable) -> Self {
        let bill = |usage: &BTreeMap<String, Usage>| {
            Bill::for_usage(prices, usage.iter().map(|(m, u)| (m.as_str(), u)))
        };
        let window = known.model.as_deref().and_then(|m| prices.context_window(m));
        Self {
            bill: bill(&known.usage),
            agents: known.agents.iter().map(|(id, usage)| (id.clone(), bill(usage))).collect(),
            // A context cannot exceed its window. If it does, the window is larger than the table says.
            window: window.map(|w| w.max(known.context_tokens.unwrap_or(0))),
            files: SessionFiles::default(),
            known,
        }
    }
}

#[cfg(test)]
#[path = "enrichment_tests.rs"]
mod tests;
