//! What the client would make of a text: a prompt, or something it runs itself.

use flightdeck_core::answers::As;
use flightdeck_core::text;

use super::refused::Refused;

/// What is put into the prompt box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    pub keys: String,
    /// The client runs it by itself: no prompt is submitted, so no hook tells of it.
    pub command: bool,
}

/// Words that end the client where they stand alone.
const LEAVE: [&str; 6] = ["exit", "quit", ":q", ":q!", ":wq", ":wq!"];

#[derive(Debug, PartialEq, Eq)]
enum Taken<'a> {
    Prompt,
    /// `/clear`, whatever stands before and after it. One with a second slash is a path.
    Slash(&'a str),
    /// `!` as the very first character.
    Shell,
    Leave(&'a str),
}

fn taken(text: &str) -> Taken<'_> {
    let word = text.split_whitespace().next().unwrap_or_default();
    if word.strip_prefix('/').is_some_and(|rest| !rest.contains('/')) {
        Taken::Slash(word)
    } else if text.starts_with('!') {
        Taken::Shell
    } else if LEAVE.contains(&text.trim()) {
        Taken::Leave(word)
    } else {
        Taken::Prompt
    }
}

/// The text as it is put into the box. Control characters are gone: one that ends a bracketed paste would turn the rest
/// into keys.
pub fn prepare(text: &str, meant: Option<As>) -> Result<Typed, Refused> {
    let text = text::plain(text);
    let text = text.trim_end();
    let taken = taken(text);
    let what = match taken {
        Taken::Prompt => None,
        Taken::Slash(word) => Some(format!("the command {word}")),
        Taken::Shell => Some("a shell command (`!`)".to_owned()),
        Taken::Leave(word) => Some(format!("the order to end ({word})")),
    };
    let mut keys = text.to_owned();
    // Enter after a backslash adds a line instead of sending; the client trims the space.
    if keys.ends_with('\\') {
        keys.push(' ');
    }
    match (what, meant) {
        (None, _) => Ok(Typed { keys, command: false }),
        (Some(_), Some(As::Command)) => Ok(Typed { keys, command: true }),
        (Some(what), None) => Err(Refused::Command { what }),
        (Some(_), Some(As::Text)) => match taken {
            Taken::Shell => Ok(Typed { keys: format!(" {keys}"), command: false }),
            Taken::Slash(word) | Taken::Leave(word) => Err(Refused::NoEscape { what: word.to_owned() }),
            Taken::Prompt => Ok(Typed { keys, command: false }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str, meant: Option<As>) -> String {
        match prepare(text, meant) {
            Ok(typed) => format!("{:?}{}", typed.keys, if typed.command { " command" } else { "" }),
            Err(refused) => refused.code().to_owned(),
        }
    }

    #[test]
    fn what_the_client_runs_itself_is_asked_about() {
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
    fn what_is_meant_as_a_command_is_typed_as_it_is() {
        assert_eq!(keys("/clear", Some(As::Command)), r#""/clear" command"#);
        assert_eq!(keys("!ls", Some(As::Command)), r#""!ls" command"#);
        assert_eq!(keys("fix it", Some(As::Command)), r#""fix it""#);
    }

    #[test]
    fn text_is_escaped_where_a_way_is_known() {
        assert_eq!(keys("!ls", Some(As::Text)), r#"" !ls""#);
        assert_eq!(keys("/clear", Some(As::Text)), "no_escape");
        assert_eq!(keys("exit", Some(As::Text)), "no_escape");
        assert_eq!(keys("C:\\\n", None), r#""C:\\ ""#);
    }

    #[test]
    fn nothing_in_a_text_can_end_the_paste_and_press_keys() {
        assert_eq!(keys("a\u{1b}[201~\r!rm\u{3}", None), r#""a\n!rm""#);
        assert_eq!(keys("tab\tstays\r\nline", None), r#""tab\tstays\nline""#);
    }
}
