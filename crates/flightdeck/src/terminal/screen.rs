//! Reads Claude Code's prompt box from `capture-pane -e`, as measured with 2.1.325.
//!
//! The box is between two horizontal lines. Its first row begins with `❯` or, in shell mode, `!`, and a no-break space. Menus
//! and dialogs have no box. A suggestion of the client is dim, with its first letter under the cursor.

/// The line above and below the prompt box.
const RULE: &str = "────";
/// The line above a menu.
const MENU_RULE: &str = "▔▔▔▔";
const STASHED: &str = "› stashed";
const INSERT: &str = "-- INSERT --";
const AT_WORK: &str = "esc to interrupt";
/// Longest text of what a terminal shows instead of the box.
const SHOWN_CHARS_MAX: usize = 160;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptBox {
    /// The text in the box, without suggestions of the client.
    pub draft: String,
    /// The box begins with `!`: Enter runs a shell command.
    pub shell: bool,
    /// Another draft is stashed.
    pub stashed: bool,
    /// vim's insert mode: the first Esc only leaves that mode.
    pub insert_mode: bool,
    /// The client shows that Esc interrupts. It hides this while the box has a draft.
    pub at_work: bool,
}

/// The prompt box, or a short text of what the screen shows instead.
pub fn read(capture: &str) -> Result<PromptBox, String> {
    let rows = cells(capture);
    let lines: Vec<String> = rows.iter().map(|row| row.iter().map(|cell| cell.c).collect()).collect();
    find_box(&rows, &lines).ok_or_else(|| menu_title(&lines))
}

fn find_box(rows: &[Vec<Cell>], lines: &[String]) -> Option<PromptBox> {
    let is_rule = |line: &String| line.starts_with(RULE);
    let bottom = lines.iter().rposition(is_rule)?;
    let top = lines.get(..bottom)?.iter().rposition(is_rule)?;
    let inside = rows.get(top + 1..bottom)?;
    let mut first = inside.first()?.iter().map(|cell| cell.c);
    let shell = match (first.next()?, first.next()?) {
        ('❯', '\u{a0}') => false,
        ('!', '\u{a0}') => true,
        _ => return None,
    };
    let above = top.checked_sub(1).and_then(|at| lines.get(at));
    let below = lines.get(bottom..)?;
    Some(PromptBox {
        draft: inside.iter().map(|row| draft_of(row)).collect::<Vec<_>>().join("\n").trim_end().to_owned(),
        shell,
        stashed: above.is_some_and(|line| line.trim_end().ends_with(STASHED)),
        insert_mode: below.iter().any(|line| line.contains(INSERT)),
        at_work: below.iter().any(|line| line.contains(AT_WORK)),
    })
}

/// A row of the box without its margin and without suggestions.
fn draft_of(row: &[Cell]) -> String {
    let row = row.get(2..).unwrap_or_default();
    let suggested = |at: usize| match row.get(at) {
        Some(Cell { dim: true, .. }) => true,
        Some(Cell { reverse: true, .. }) => row.get(at + 1).is_some_and(|next| next.dim),
        _ => false,
    };
    let kept = row.iter().enumerate().filter(|(at, _)| !suggested(*at)).map(|(_, cell)| cell.c);
    kept.collect::<String>().trim_end().to_owned()
}

/// The title of a menu or dialog: the first text below the last line. Without one, the last texts on the screen.
fn menu_title(lines: &[String]) -> String {
    let rule = lines.iter().rposition(|line| line.starts_with(RULE) || line.starts_with(MENU_RULE));
    let heading = rule.and_then(|at| lines.get(at + 1..)?.iter().find(|line| !is_ornament(line)));
    if let Some(heading) = heading {
        return flightdeck_core::text::one_line(heading, SHOWN_CHARS_MAX);
    }
    let shown: Vec<&str> = lines.iter().map(|l| l.trim()).filter(|l| !is_ornament(l)).collect();
    let last = shown.get(shown.len().saturating_sub(3)..).unwrap_or_default();
    flightdeck_core::text::one_line(&last.join(" / "), SHOWN_CHARS_MAX)
}

fn is_ornament(line: &str) -> bool {
    line.chars().all(|c| !c.is_alphanumeric())
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    c: char,
    dim: bool,
    reverse: bool,
}

/// The characters with their style. tmux writes plain SGR sequences; a style continues on the next line.
fn cells(capture: &str) -> Vec<Vec<Cell>> {
    let (mut dim, mut reverse) = (false, false);
    let mut rows = Vec::new();
    for line in capture.split('\n') {
        let mut row = Vec::new();
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            if c != '\u{1b}' {
                row.push(Cell { c, dim, reverse });
                continue;
            }
            // `[…m`; other sequences do not occur in a capture.
            let sequence: String = chars.by_ref().take_while(|c| !c.is_ascii_alphabetic()).collect();
            style(sequence.trim_start_matches('['), &mut dim, &mut reverse);
        }
        rows.push(row);
    }
    rows
}

fn style(sequence: &str, dim: &mut bool, reverse: &mut bool) {
    let mut codes = sequence.split([';', ':']).map(|code| code.parse().unwrap_or(0u32));
    while let Some(code) = codes.next() {
        match code {
            0 => (*dim, *reverse) = (false, false),
            2 => *dim = true,
            22 => *dim = false,
            7 => *reverse = true,
            27 => *reverse = false,
            // The numbers of a colour are not styles.
            38 | 48 | 58 => match codes.next() {
                Some(5) => drop(codes.next()),
                Some(2) => drop(codes.nth(2)),
                _ => {}
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "\u{1b}[38;5;244m────────────";

    fn screen(inside: &str, below: &str) -> String {
        format!("❯ an old prompt\n\n● Hello\n{RULES}\n{inside}\n{RULES}\n\u{1b}[39m  {below}\n")
    }

    fn draft(inside: &str) -> String {
        read(&screen(inside, "⏸ manual mode on")).unwrap().draft
    }

    #[test]
    fn an_empty_box_is_empty() {
        assert_eq!(draft("\u{1b}[39m❯\u{a0}\u{1b}[7m "), "");
        assert_eq!(draft("\u{1b}[39m❯\u{a0}\u{1b}[7m\n\u{1b}[0m"), "");
    }

    #[test]
    fn typed_text_is_the_draft() {
        assert_eq!(draft("\u{1b}[39m❯\u{a0}a draft\u{1b}[7m \u{1b}[0m"), "a draft");
        // The cursor of vim's normal mode is on the last letter.
        assert_eq!(draft("\u{1b}[39m❯\u{a0}hell\u{1b}[7mo\u{1b}[0m"), "hello");
        assert_eq!(draft("\u{1b}[39m❯\u{a0}one\n  two\u{1b}[7m \u{1b}[0m\n  three"), "one\ntwo\nthree");
        assert_eq!(
            draft("\u{1b}[39m❯\u{a0}[Pasted text #1 +30 lines]\u{1b}[7m"),
            "[Pasted text #1 +30 lines]"
        );
    }

    #[test]
    fn a_suggestion_is_not_a_draft() {
        let suggestion = "\u{1b}[38;5;246m❯\u{a0}\u{1b}[7m\u{1b}[39mP\u{1b}[0;2m\u{1b}[39m\u{1b}[49mress up to edit queued messages";
        assert_eq!(draft(suggestion), "");
        assert_eq!(draft("❯\u{a0}fix\u{1b}[7m \u{1b}[0;2mthe build\u{1b}[0m"), "fix");
    }

    #[test]
    fn a_two_in_a_colour_does_not_mean_dim() {
        assert_eq!(draft("❯\u{a0}\u{1b}[38;5;2mgreen\u{1b}[38;2;2;7;2m true\u{1b}[39m"), "green true");
    }

    #[test]
    fn the_modes_of_the_box_are_read() {
        let shell =
            read(&screen("\u{1b}[38;5;211m!\u{a0}\u{1b}[39mls\u{1b}[7m ", "! for shell mode")).unwrap();
        assert_eq!((shell.shell, shell.draft.as_str()), (true, "ls"));
        let vim = read(&screen("❯\u{a0}", "-- INSERT -- ⏸ manual mode on · esc to interrupt")).unwrap();
        assert!(vim.insert_mode && vim.at_work && !vim.stashed);
        let stashed = format!("x\n              Draft restored · › stashed\n{RULES}\n❯\u{a0}\n{RULES}\n");
        assert!(read(&stashed).unwrap().stashed);
    }

    /// The captures that the end-to-end tests' screen reader is tested with, without colours.
    #[test]
    fn every_captured_screen_has_its_box_or_none() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../flightdeck-sim/screens");
        let (mut without, mut drafts) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            // Captured as plain text, in which the no-break space was lost.
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.replace("\n❯ ", "\n❯\u{a0}").replace("\n❯\n", "\n❯\u{a0}\n");
            match read(&text) {
                Ok(found) if !found.draft.is_empty() => drafts.push(format!("{name}: {}", found.draft)),
                Ok(_) => {}
                Err(shows) => without.push(format!("{name}: {shows}")),
            }
        }
        without.sort();
        drafts.sort();
        assert_eq!(
            drafts,
            [
                "draft: a draft",
                "draft_over_work: SCRIPT:hello three",
                "esc_before_token: SCRIPT:hang two",
                // Dim on the real screen.
                "queued: Press up to edit queued messages",
            ]
        );
        assert_eq!(
            without,
            [
                "dialog_model: Select model",
                "dialog_resume: Resume session",
                "exited: Resume this session with: / claude --permission-mode default --resume d7fb38f4-7e61-4673-80a1-af708a17b6ab",
                "permission_background_shell: Bash command",
                "permission_bash: Bash command",
                "permission_from_agent: Bash command · from the general-purpose agent",
                "permission_two: Read file 1 of 2",
                "permission_write: Create file",
                "plan: Ready to code?",
                "question: 4. Chat about this",
                "starting: ",
            ]
        );
    }
}
