//! The texts that an agent gets about its effort, as context or as the reason of a denial.

use super::{ContextWindow, Effort, Handoff, Injection, JudgedEvent};
use crate::ids::SessionId;
use crate::limits::INJECTION_CHARS_MAX;
use crate::time::Timestamp;

/// Most log entries in the text for a window that begins without a handoff.
const LOG_ENTRIES_MAX: usize = 10;
/// Most loaded files in the text for a window that begins without a handoff.
const FILES_MAX: usize = 20;
/// Longest handoff or summary in the text for a window: the facts about the effort and the line of a prompt fit beside it.
const PART_CHARS_MAX: usize = 6_000;
/// Longest list of phases in the text for a window.
const PHASES_CHARS_MAX: usize = 1_000;
/// Longest template of a log entry in a text: the command that logs must fit too.
const TEMPLATE_CHARS_MAX: usize = 1_500;

/// A longer injection is also written to a file. If the whole text does not fit, the agent gets its beginning and the name of the file.
pub const INJECTED_WITHOUT_FILE_CHARS_MAX: usize = INJECTION_CHARS_MAX - PART_CHARS_MAX / 2;

/// `3_IMPLEMENT_LOG.md`
pub fn log_name(effort: &Effort) -> String {
    artifact_name(effort, "LOG")
}

/// `3_IMPLEMENT_HANDOFF_2.md`
pub fn handoff_name(effort: &Effort, number: u32) -> String {
    artifact_name(effort, &format!("HANDOFF_{number}"))
}

/// The name of an artifact: the ordinal, the skill in capitals, and what it is.
pub fn artifact_name(effort: &Effort, what: &str) -> String {
    let skill: String = effort.skill.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    format!("{}_{}_{what}.md", effort.ordinal, skill.to_uppercase())
}

/// The text, or its beginning with the name of the file that has all of it: together at most `max` characters.
fn clipped(text: &str, max: usize, file: &str) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let note = format!("\n[This is the beginning. Read all of it in {file}]");
    let beginning = text.chars().take(max.saturating_sub(note.chars().count()));
    beginning.collect::<String>() + &note
}

/// The option that tells a command which session runs it: the environment of an agent's own commands does not contain the
/// session's id. Empty if a shell would not take the id as one plain word.
fn session_option(session: &SessionId) -> String {
    let is_plain =
        !session.is_empty() && session.chars().all(|c| c.is_ascii_alphanumeric() || "-_.@".contains(c));
    if is_plain && !session.starts_with('-') { format!(" --session {session}") } else { String::new() }
}

/// The beginning of a text; `…` says that there is more.
fn beginning(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

impl Effort {
    /// `effort implement 3 (e-…), phase 2: Build`
    fn name_and_phase(&self) -> String {
        let phase = self.phase().map(|phase| format!(", phase {}", phase.name)).unwrap_or_default();
        format!("effort {} {} ({}){phase}", self.skill, self.ordinal, self.id)
    }

    fn artifact(&self, name: &str) -> String {
        format!("{}/{name}", self.artifacts())
    }

    /// The line about the effort that the agent gets with every prompt.
    pub(super) fn session_context(&self, heartbeat: u32, now: Timestamp) -> String {
        let beats = match self.settings.heartbeat {
            0 => heartbeat.to_string(),
            limit => format!("{heartbeat}/{limit}"),
        };
        format!("Flightdeck: {now}, {}, heartbeat {beats}.", self.name_and_phase())
    }

    fn how_to_log(&self, program: &str, session: &SessionId) -> String {
        let template = self.settings.log_template.as_deref().map(|form| beginning(form, TEMPLATE_CHARS_MAX));
        let template = template.map(|form| format!("\nForm of an entry:\n{form}")).unwrap_or_default();
        let of_session = session_option(session);
        format!("{program} effort log {}{of_session} \"what you did and the next step\"{template}", self.id)
    }

    pub(super) fn heartbeat_reason(&self, heartbeat: u32, program: &str, session: &SessionId) -> String {
        let how = self.how_to_log(program, session);
        format!(
            "{heartbeat} tool calls without a log entry of effort {}; the limit is {}. Write an entry, then repeat the call. The command \
             must stand alone: with a pipe, a second command, `$` or a backtick it is denied too.\n{how}",
            self.id, self.settings.heartbeat
        )
    }

    pub(super) fn overflow_warning(&self, percent: f64, program: &str, session: &SessionId) -> String {
        let of_session = session_option(session);
        format!(
            "The context is {percent:.0} % full. Hand over before it is compacted: write down where the work stands, what was \
             decided, the next step and what to watch out for, with\n{program} effort dehydrate {}{of_session} <<'HANDOFF'\n…\nHANDOFF\n\
             The next context window begins with that text.",
            self.id
        )
    }

    /// The text at the start of a window.
    pub(super) fn window_start(&self, window: &ContextWindow, event: JudgedEvent, program: &str) -> String {
        let mode = self.mode.as_deref().map(|mode| format!(", mode {mode}")).unwrap_or_default();
        let phases: Vec<&str> = self.settings.phases.iter().map(|phase| phase.name()).collect();
        let mut text = format!("This session works on Flightdeck {}{mode}.", self.name_and_phase());
        if let Some(title) = &self.title {
            text += &format!("\nIt is about: {title}");
        }
        if !phases.is_empty() {
            text += &format!(
                "\nPhases: {}. Enter the next with: {program} effort phase {} NAME",
                beginning(&phases.join(", "), PHASES_CHARS_MAX),
                self.id
            );
        }
        if self.settings.heartbeat > 0 {
            let limit = self.settings.heartbeat;
            text += &format!(
                "\nLog at least every {limit} tool calls: {}",
                self.how_to_log(program, &window.session_id)
            );
        }
        match self.handoff_for(window, event) {
            Some(handoff) => text + &self.handoff_text(handoff),
            None if self.has_left_handoff(&window.session_id) => text,
            None => text + &self.artifacts_text(window),
        }
    }

    fn handoff_text(&self, handoff: &Handoff) -> String {
        let file = self.artifact(&handoff_name(self, handoff.number));
        format!(
            "\n\nThe window before left this handoff:\n{}",
            clipped(&handoff.payload, PART_CHARS_MAX, &file)
        )
    }

    /// The text for a window without a handoff: phases, log entries and files so far.
    fn artifacts_text(&self, window: &ContextWindow) -> String {
        let Some(before) = window.previous.as_ref().and_then(|id| self.window(id)) else {
            return String::new();
        };
        let mut text = String::new();
        for phase in &self.phases {
            text += &format!("\n- phase {} since {}", phase.name, phase.entered_at);
        }
        let skip = self.log.len().saturating_sub(LOG_ENTRIES_MAX);
        for entry in self.log.iter().skip(skip) {
            text += &format!("\n- {}: {}", entry.at, entry.text);
        }
        if self.log_entries > 0 {
            text += &format!("\nThe whole log: {}", self.artifact(&log_name(self)));
        }
        let files: Vec<&str> = before.loaded_files.iter().rev().take(FILES_MAX).map(String::as_str).collect();
        if !files.is_empty() {
            text += &format!("\nFiles it read last: {}", files.join(", "));
        }
        if text.is_empty() {
            return text;
        }
        let text = format!("\n\nThe window before left no handoff. What is known:{text}");
        clipped(&text, PART_CHARS_MAX, &self.artifact(&log_name(self)))
    }

    /// Only the handoff for the next window, or the summary that replaces it.
    pub(super) fn dehydrated_context(&self, window: &ContextWindow, event: JudgedEvent) -> Option<String> {
        let text = match self.handoff_for(window, event) {
            Some(handoff) => handoff.payload.clone(),
            None => self.artifacts_text(window).trim_start().to_owned(),
        };
        (!text.is_empty()).then_some(text)
    }

    pub(super) fn subagent_start(&self, program: &str, session: &SessionId) -> String {
        format!(
            "You work for Flightdeck {} in {}. Log what you find with: {}",
            self.name_and_phase(),
            self.workstream,
            self.how_to_log(program, session)
        )
    }

    /// The text of an injection, with its id so that a repeated one is recognised. `None` if there is no room for it.
    pub(super) fn injection_text(&self, injection: &Injection, room: usize) -> Option<String> {
        let text = format!("[Flightdeck injection {}] {}", injection.id, injection.text);
        let fits = text.chars().count() <= room;
        let is_in_file = injection.text.chars().count() > INJECTED_WITHOUT_FILE_CHARS_MAX;
        // With little room the text waits for a hook that can carry more of it.
        let has_room = is_in_file && room >= INJECTED_WITHOUT_FILE_CHARS_MAX;
        let file = || self.artifact(&artifact_name(self, &injection_file(injection)));
        match (fits, has_room) {
            (true, _) => Some(text),
            (false, true) => Some(clipped(&text, room, &file())),
            (false, false) => None,
        }
    }
}

/// The part of a file's name that says which injection it holds.
pub fn injection_file(injection: &Injection) -> String {
    format!("INJECTION_{}", injection.id)
}
