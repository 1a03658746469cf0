//! Reads a terminal the way a person does: what does the screen show?
//!
//! Plain text patterns over `tmux capture-pane`, checked with the pinned client. It shares no code with the core, so a
//! mistake in the core shows as a difference.

/// What a person at that terminal sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Screen {
    /// Nothing drawn yet.
    Starting,
    /// A prompt box, empty or with a draft.
    Idle,
    /// The client says "esc to interrupt", or its spinner turns while the list of keys covers that text.
    Working,
    /// The prompt box is free, but the client waits for its background agents.
    Background,
    /// "Do you want to proceed?"
    Permission {
        tool: String,
        from_agent: bool,
    },
    Question,
    Plan,
    /// A menu that the person opened, or a notice that waits for a key.
    Dialog,
    /// The person ended the last turn.
    Interrupted,
    /// The last turn ends with an API error.
    Error,
    /// The program has exited. The driver asks tmux for this: the text does not show it.
    Exited,
    /// None of the above.
    Unknown,
}

/// The rule above and below the prompt box, and above a question.
const RULE: &str = "────";
/// The rule above a menu.
const MENU_RULE: &str = "▔▔▔▔";
const PROMPT: &str = "❯";
/// The first entry of the list of keys, which replaces the line below the prompt box.
const LIST_OF_KEYS: &str = "! for shell mode";
/// The figures of the spinner.
const SPINNER: [char; 7] = ['·', '✢', '✳', '✶', '✻', '✽', '*'];

/// The client's texts after the person ended the turn: Esc, or no to a permission, a question or a plan.
const REFUSED: [&str; 3] = [
    "Interrupted · What should Claude do instead?",
    "User declined to answer questions",
    "User rejected Claude's plan",
];

/// Reads the text of a screen.
pub fn read(text: &str) -> Screen {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    if lines.iter().all(|line| line.is_empty()) {
        return Screen::Starting;
    }
    match prompt_box(&lines) {
        Some((top, bottom)) => {
            let has_draft = !draft_in(&lines[top + 1..bottom]).is_empty();
            at_the_prompt(&lines[..top], has_draft, &lines[bottom..])
        }
        None => asked(&lines),
    }
}

/// Finds the last prompt box: the line numbers of its upper and lower rule.
fn prompt_box(lines: &[&str]) -> Option<(usize, usize)> {
    let bottom = lines.iter().rposition(|line| line.starts_with(RULE))?;
    let top = lines[..bottom].iter().rposition(|line| line.starts_with(RULE))?;
    let first = lines.get(top + 1)?;
    // In a question the rule is followed by its heading.
    let is_box = first.starts_with(PROMPT) && !asks_for_a_choice(lines);
    is_box.then_some((top, bottom))
}

/// The text in the prompt box. `None` if the screen shows no prompt box.
pub fn draft(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let (top, bottom) = prompt_box(&lines)?;
    Some(draft_in(&lines[top + 1..bottom]))
}

fn draft_in(prompt_box: &[&str]) -> String {
    prompt_box.join("\n").trim_start_matches(PROMPT).trim().to_owned()
}

/// The part of a screen that a key changes: a dialog, or the prompt box and the line below it. The spinner, the client's tips
/// and its output are above it and change by themselves.
pub fn below_output(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let rule = lines.iter().position(|line| line.starts_with(RULE) || line.contains(MENU_RULE));
    lines[rule.map_or(0, |rule| rule + 1)..].join("\n")
}

fn asks_for_a_choice(lines: &[&str]) -> bool {
    let tail = &lines[lines.len().saturating_sub(14)..];
    tail.iter().any(|l| {
        l.contains("Enter to select")
            || l.contains("Do you want to")
            || l.contains("Would you like to proceed")
    })
}

fn at_the_prompt(above: &[&str], has_draft: bool, below: &[&str]) -> Screen {
    let shows = |needle: &str| below.iter().any(|line| line.contains(needle));
    if shows("esc to interrupt") {
        return Screen::Working;
    }
    let from = above.iter().rposition(|line| line.starts_with(PROMPT)).unwrap_or(0);
    let last_turn = &above[from..];
    let has = |needle: &str| last_turn.iter().any(|line| line.contains(needle));
    let bullet = |c: char| c == '●' || c == '⎿' || c.is_whitespace();
    let starts =
        |needle: &str| last_turn.iter().any(|line| line.trim_start_matches(bullet).starts_with(needle));
    // Both the list of keys and a draft hide "esc to interrupt".
    if (has_draft || shows(LIST_OF_KEYS)) && last_turn.iter().any(|line| is_spinner(line)) {
        return Screen::Working;
    }
    let status = last_turn.iter().rfind(|line| line.starts_with('✻')).copied().unwrap_or_default();
    if status.contains("Waiting for") && status.contains("background agent") {
        Screen::Background
    } else if REFUSED.iter().any(|needle| has(needle)) {
        Screen::Interrupted
    } else if starts("API Error") || starts("Invalid API key") {
        Screen::Error
    } else {
        Screen::Idle
    }
}

/// `✻ Puzzling… (23s · ↓ 43 tokens)`. The line that remains after the turn has no dots: `✻ Baked for 1s · done 8:58 PM`.
fn is_spinner(line: &str) -> bool {
    let verb = line.strip_prefix(SPINNER).and_then(|rest| rest.strip_prefix(' '));
    verb.and_then(|rest| rest.split(' ').next()).is_some_and(|verb| verb.ends_with('…'))
}

fn asked(lines: &[&str]) -> Screen {
    let has = |needle: &str| lines.iter().any(|line| line.contains(needle));
    if has("Would you like to proceed?") && has("plan") {
        Screen::Plan
    } else if has("Enter to select · ") {
        Screen::Question
    } else if has("Do you want to") && has("Esc to cancel") {
        permission(lines)
    } else if has(MENU_RULE) || has("Enter to confirm") || has("Esc to cancel") {
        Screen::Dialog
    } else {
        Screen::Unknown
    }
}

/// The heading of the box names the tool.
fn permission(lines: &[&str]) -> Screen {
    let rule = lines.iter().rposition(|line| line.starts_with(RULE));
    let heading = rule.and_then(|at| lines.get(at + 1)).copied().unwrap_or_default().trim();
    // Further right: "1 of 2".
    let heading = heading.split("   ").next().unwrap_or_default();
    let (title, from) = heading.split_once(" · from").unwrap_or((heading, ""));
    let tool = match title.trim() {
        "Bash command" => "Bash",
        "Read file" => "Read",
        "Create file" | "Overwrite file" => "Write",
        "Edit file" => "Edit",
        other => other,
    };
    Screen::Permission { tool: tool.to_owned(), from_agent: !from.is_empty() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn permission(tool: &str, from_agent: bool) -> Screen {
        Screen::Permission { tool: tool.into(), from_agent }
    }

    /// Every file in `screens/` was captured from the real client by its driver.
    #[test]
    fn every_captured_screen_reads_as_a_person_would() {
        let expected = BTreeMap::from([
            ("after_permission", Screen::Idle),
            ("api_error", Screen::Error),
            ("api_error_auth", Screen::Error),
            ("auto_compacted", Screen::Idle),
            ("background_agent", Screen::Background),
            ("background_agent_done", Screen::Idle),
            ("background_shell", Screen::Idle),
            ("background_shell_done", Screen::Idle),
            ("cleared", Screen::Idle),
            ("compacted", Screen::Idle),
            ("ctrl_c_once", Screen::Idle),
            ("dialog_model", Screen::Dialog),
            ("dialog_resume", Screen::Dialog),
            ("draft", Screen::Idle),
            ("draft_over_work", Screen::Working),
            ("esc_before_token", Screen::Idle),
            ("esc_plan", Screen::Interrupted),
            ("esc_question", Screen::Interrupted),
            ("esc_streaming", Screen::Interrupted),
            ("esc_tool_then_queued_prompt", Screen::Idle),
            ("exited", Screen::Unknown),
            ("foreground_agent", Screen::Working),
            ("fresh", Screen::Idle),
            ("fresh_auto", Screen::Idle),
            ("fresh_plan", Screen::Idle),
            ("keys_over_work", Screen::Working),
            ("permission_background_shell", permission("Bash", false)),
            ("permission_bash", permission("Bash", false)),
            ("permission_from_agent", permission("Bash", true)),
            ("permission_refused", Screen::Interrupted),
            ("permission_two", permission("Read", false)),
            ("permission_write", permission("Write", false)),
            ("plan", Screen::Plan),
            ("plan_accepted", Screen::Idle),
            ("question", Screen::Question),
            ("question_answered", Screen::Idle),
            ("queued", Screen::Working),
            ("retrying", Screen::Working),
            ("starting", Screen::Starting),
            ("streaming", Screen::Working),
            ("thinking", Screen::Working),
            ("tool_failed", Screen::Idle),
            ("tool_running", Screen::Working),
            ("turn_ended", Screen::Idle),
            ("two_refused", Screen::Interrupted),
        ]);
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/screens");
        let mut seen = BTreeMap::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            seen.insert(name, read(&std::fs::read_to_string(&path).unwrap()));
        }
        let expected: BTreeMap<String, Screen> =
            expected.into_iter().map(|(n, s)| (n.to_owned(), s)).collect();
        assert_eq!(seen, expected);
    }

    fn captured(name: &str) -> String {
        let path = format!("{}/screens/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn the_list_of_keys_hides_neither_work_nor_its_end() {
        let at_work = captured("keys_over_work");
        let ended = at_work.replace("· Puzzling… (23s · ↓ 43 tokens)", "✻ Baked for 23s · done 8:58 PM");
        assert_ne!(ended, at_work);
        assert_eq!(read(&ended), Screen::Idle);
    }

    #[test]
    fn the_draft_is_what_stands_in_the_prompt_box() {
        assert_eq!(draft(&captured("fresh")).as_deref(), Some(""));
        assert_eq!(draft(&captured("permission_bash")), None);
        assert_eq!(draft(&captured("question")), None);
        assert!(draft(&captured("draft")).is_some_and(|draft| !draft.is_empty()));
    }

    #[test]
    fn a_spinner_and_a_tip_are_no_part_of_a_dialog() {
        let screen = captured("keys_over_work");
        let later = screen.replace("· Puzzling… (23s", "✻ Puzzling… (24s").replace("tmux detected", "");
        assert_ne!(screen, later);
        assert_eq!(below_output(&screen), below_output(&later));
        for (one, other) in [("permission_bash", "permission_write"), ("dialog_model", "dialog_resume")] {
            assert_ne!(below_output(&captured(one)), below_output(&captured(other)));
        }
    }
}
