//! Checks whether Claude Code would read a text as a prompt or run it as a command.

use flightdeck_core::text;
use flightdeck_protocol::terminal::PromptKind;

use super::refusal::RefusalReason;

/// The text for the prompt box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedPrompt {
    pub keys: String,
    /// Whether Claude Code runs the text itself. Then no prompt is submitted, so no hook confirms it.
    pub command: bool,
}

/// Texts that end Claude Code.
const EXIT_WORDS: [&str; 6] = ["exit", "quit", ":q", ":q!", ":wq", ":wq!"];

#[derive(Debug, PartialEq, Eq)]
enum TextKind<'a> {
    Prompt,
    /// Starts with a word such as `/clear`. A word with a second slash is a path.
    Slash(&'a str),
    /// `!` as the very first character.
    Shell,
    Exit(&'a str),
}

fn text_kind(text: &str) -> TextKind<'_> {
    let word = text.split_whitespace().next().unwrap_or_default();
    if word.strip_prefix('/').is_some_and(|rest| !rest.contains('/')) {
        TextKind::Slash(word)
    } else if text.starts_with('!') {
        TextKind::Shell
    } else if EXIT_WORDS.contains(&text.trim()) {
        TextKind::Exit(word)
    } else {
        TextKind::Prompt
    }
}

/// Prepares a text for the prompt box. Control characters are removed: the end mark of a bracketed paste would turn the rest
/// into key presses.
pub fn prepare(text: &str, meant: Option<PromptKind>) -> Result<PreparedPrompt, RefusalReason> {
    let text = text::without_controls(text);
    let text = text.trim_end();
    let kind = text_kind(text);
    let what = match kind {
        TextKind::Prompt => None,
        TextKind::Slash(word) => Some(format!("the command {word}")),
        TextKind::Shell => Some("a shell command (`!`)".to_owned()),
        TextKind::Exit(word) => Some(format!("the command to exit ({word})")),
    };
    let mut keys = text.to_owned();
    // Enter after a backslash adds a line instead of sending. Claude Code trims the space.
    if keys.ends_with('\\') {
        keys.push(' ');
    }
    match (what, meant) {
        (None, _) => Ok(PreparedPrompt { keys, command: false }),
        (Some(_), Some(PromptKind::Command)) => Ok(PreparedPrompt { keys, command: true }),
        (Some(what), None) => Err(RefusalReason::Command { what }),
        (Some(_), Some(PromptKind::Text)) => match kind {
            TextKind::Shell => Ok(PreparedPrompt { keys: format!(" {keys}"), command: false }),
            TextKind::Slash(word) | TextKind::Exit(word) => {
                Err(RefusalReason::NoEscape { what: word.to_owned() })
            }
            TextKind::Prompt => Ok(PreparedPrompt { keys, command: false }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str, meant: Option<PromptKind>) -> String {
        match prepare(text, meant) {
            Ok(typed) => format!("{:?}{}", typed.keys, if typed.command { " command" } else { "" }),
            Err(refused) => refused.code().as_str().to_owned(),
        }
    }

    #[test]
    fn a_text_that_the_client_would_run_is_refused_without_a_choice() {
        for text in [
            "/clear",
            " /clear now",
            "\n/clear",
            "/tmp",
            "/",
            "!ls",
            "exit",
            " quit ",
            ":q",
            ":wq!",
            "/x\nmore",
        ] {
            assert_eq!(keys(text, None), "command", "{text:?}");
        }
        for text in
            ["/path/with/slash is full", " !important", "exit now", "a /clear b", "exit\nplease", "#memo"]
        {
            assert_eq!(keys(text, None), format!("{:?}", text.trim_end()), "{text:?}");
        }
    }

    #[test]
    fn a_text_sent_as_a_command_is_typed_unchanged() {
        assert_eq!(keys("/clear", Some(PromptKind::Command)), r#""/clear" command"#);
        assert_eq!(keys("!ls", Some(PromptKind::Command)), r#""!ls" command"#);
        assert_eq!(keys("fix it", Some(PromptKind::Command)), r#""fix it""#);
    }

    #[test]
    fn a_command_sent_as_text_is_escaped_or_refused() {
        assert_eq!(keys("!ls", Some(PromptKind::Text)), r#"" !ls""#);
        assert_eq!(keys("/clear", Some(PromptKind::Text)), "no_escape");
        assert_eq!(keys("exit", Some(PromptKind::Text)), "no_escape");
        assert_eq!(keys("C:\\\n", None), r#""C:\\ ""#);
    }

    #[test]
    fn no_text_can_end_the_paste_and_press_keys() {
        assert_eq!(keys("a\u{1b}[201~\r!rm\u{3}", None), r#""a\n!rm""#);
        assert_eq!(keys("tab\tstays\r\nline", None), r#""tab\tstays\nline""#);
    }
}
