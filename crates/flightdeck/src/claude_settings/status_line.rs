//! The status line: a person has just one, so ours goes around theirs and gives it back.
//!
//! The command we write holds theirs once, quoted, and runs it itself where this program is gone. Of a person's own
//! `statusLine` only the text of its `command` is replaced; padding, refreshInterval and whatever else is there stays.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use super::document::{Document, Member, Span};
use super::edit::{self, Edit};
use super::error::SettingsError;
use super::handler::{Registration, shell_quoted, up_to_the_quote};
use crate::program::quoted;

/// Ends every status line command of ours.
pub const STATUS_LINE_SENTINEL: &str = "# flightdeck-statusline";
/// The member of the settings, as the client spells it.
pub(super) const KEY: &str = "statusLine";
/// How ours begins around somebody's command, and without one.
const AROUND: &str = "set -- ";
const ALONE: &str = "if [ -x ";

/// What stands in a file under `statusLine`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    None,
    Theirs {
        command: String,
        span: Span,
    },
    Ours {
        command: String,
        span: Span,
        wraps: Option<String>,
    },
    /// Nothing the client would run, or ours changed by hand so that theirs cannot be told any more.
    Odd {
        at: usize,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineState {
    #[default]
    None,
    /// The person's own, or another tool's; not wrapped.
    Theirs,
    Ours,
    /// Ours, but not what we would write.
    Stale,
    /// It was ours, and somebody put another in its place.
    Replaced,
}

impl LineState {
    pub fn in_order(self) -> bool {
        !matches!(self, Self::Stale | Self::Replaced)
    }
    pub fn sentence(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Theirs => None,
            Self::Ours => Some("status line: tells us, then prints what it always did"),
            Self::Stale => Some("status line: ours, but out of date"),
            Self::Replaced => Some("status line: ours was replaced"),
        }
    }
}

impl Registration {
    /// Without the program it is as if we had never been there. Only one of the two ever reads standard input.
    pub(super) fn status_line_command(&self, wraps: Option<&str>) -> Result<String, SettingsError> {
        let (binary, home) = (shell_quoted(&self.binary)?, shell_quoted(&self.home)?);
        let run = format!("exec {binary} statusline --home {home}");
        Ok(match wraps {
            Some(theirs) => format!(
                "{AROUND}{}; [ -x {binary} ] && {run} -- \"$1\"; exec /bin/sh -c \"$1\" {STATUS_LINE_SENTINEL}",
                quoted(theirs)
            ),
            None => format!("{ALONE}{binary} ]; then {run}; fi {STATUS_LINE_SENTINEL}"),
        })
    }

    pub(super) fn status_line_alone(&self) -> Result<Value, SettingsError> {
        Ok(json!({ "type": "command", "command": self.status_line_command(None)? }))
    }
}

/// Reads the member of the settings; `members` are those of its object, `None` where it is none.
pub(super) fn read(text: &str, member: &Member, members: Option<&[Member]>) -> Line {
    let odd = Line::Odd { at: member.key_span.start };
    let last = |key: &str| {
        let member = members?.iter().rfind(|member| member.key == key)?;
        Some((serde_json::from_str::<String>(&text[member.value.clone()]).ok()?, member.value.clone()))
    };
    let (Some((kind, _)), Some((command, span))) = (last("type"), last("command")) else { return odd };
    if kind != "command" {
        return odd;
    }
    if !command.trim_end().ends_with(STATUS_LINE_SENTINEL) {
        return Line::Theirs { command, span };
    }
    if command.starts_with(ALONE) {
        return Line::Ours { command, span, wraps: None };
    }
    match command.strip_prefix(AROUND).and_then(unquoted) {
        Some(theirs) => Line::Ours { wraps: Some(theirs), command, span },
        None => odd,
    }
}

/// The first word of a shell text, if [`quoted`] wrote it and what we write follows.
fn unquoted(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix('\'')?;
    let mut word = String::new();
    loop {
        let (before, after) = rest.split_once('\'')?;
        word.push_str(before);
        match after.strip_prefix(r"\''") {
            Some(more) => {
                word.push('\'');
                rest = more;
            }
            None => return after.starts_with("; [ -x ").then_some(word),
        }
    }
}

impl Line {
    pub(super) fn is_ours(&self) -> bool {
        matches!(self, Self::Ours { .. })
    }

    /// The command that a person sees the output of, ours or not.
    pub(super) fn theirs(&self) -> Option<&str> {
        match self {
            Self::Theirs { command, .. } => Some(command),
            Self::Ours { wraps, .. } => wraps.as_deref(),
            Self::None | Self::Odd { .. } => None,
        }
    }

    /// Where ours reports to. What it is around stands before that, and may have a home of its own.
    pub(super) fn home(&self) -> Option<PathBuf> {
        let Self::Ours { command, .. } = self else { return None };
        up_to_the_quote(command.rsplit_once(" statusline --home '")?.1)
    }

    pub(super) fn state(
        &self,
        registration: &Registration,
        was_ours: bool,
    ) -> Result<LineState, SettingsError> {
        Ok(match self {
            Self::Ours { command, wraps, .. } => {
                let wanted = registration.status_line_command(wraps.as_deref())?;
                if *command == wanted { LineState::Ours } else { LineState::Stale }
            }
            _ if was_ours => LineState::Replaced,
            Self::None => LineState::None,
            Self::Theirs { .. } | Self::Odd { .. } => LineState::Theirs,
        })
    }
}

/// The text with our status line in it, around whatever was there.
pub(super) fn wrap(text: &str, path: &Path, registration: &Registration) -> Result<String, SettingsError> {
    let document = Document::read(text, path)?;
    document.refuse_second(KEY, path)?;
    match &document.status_line {
        Line::None => Ok(edit::add_member(&document, KEY, registration.status_line_alone()?)),
        Line::Odd { at } => Err(SettingsError::OddStatusLine {
            path: path.to_owned(),
            line: super::document::line_of(text, *at),
        }),
        line @ (Line::Theirs { command, span } | Line::Ours { command, span, .. }) => {
            let wanted = registration.status_line_command(line.theirs())?;
            Ok(if wanted == *command { text.to_owned() } else { respell(text, span, &wanted) })
        }
    }
}

/// The text without our status line: theirs is back, or nothing where there was none.
pub(super) fn unwrap(document: &Document<'_>) -> String {
    match &document.status_line {
        Line::Ours { span, wraps: Some(theirs), .. } => respell(document.text, span, theirs),
        Line::Ours { wraps: None, .. } => edit::remove_member(document, KEY),
        Line::None | Line::Theirs { .. } | Line::Odd { .. } => document.text.to_owned(),
    }
}

fn respell(text: &str, span: &Span, command: &str) -> String {
    edit::apply(text, vec![Edit { span: span.clone(), text: Value::from(command).to_string() }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude_settings::version::ClientVersion;
    use proptest::prelude::*;

    fn registration() -> Registration {
        Registration::new(Path::new("/opt/it's fd"), Path::new("/h"), ClientVersion::assumed())
    }

    fn line_of(command: &str) -> Line {
        let settings = json!({ KEY: { "type": "command", "command": command } }).to_string();
        Document::read(&settings, Path::new("/s")).unwrap().status_line
    }

    #[test]
    fn the_two_forms_read_like_this() {
        expect_test::expect![[r#"
            set -- 'echo '\''a'\'''; [ -x '/opt/it'\''s fd' ] && exec '/opt/it'\''s fd' statusline --home '/h' -- "$1"; exec /bin/sh -c "$1" # flightdeck-statusline
            if [ -x '/opt/it'\''s fd' ]; then exec '/opt/it'\''s fd' statusline --home '/h'; fi # flightdeck-statusline
        "#]]
        .assert_eq(&format!(
            "{}\n{}\n",
            registration().status_line_command(Some("echo 'a'")).unwrap(),
            registration().status_line_command(None).unwrap()
        ));
    }

    #[test]
    fn ours_is_known_by_its_end_and_what_was_changed_by_hand_is_left_alone() {
        assert!(line_of(&registration().status_line_command(None).unwrap()).is_ours());
        for theirs in ["cat", "echo '# flightdeck-statusline'", "x # flightdeck-statusline-2"] {
            assert_eq!(line_of(theirs).theirs(), Some(theirs));
        }
        let around = registration().status_line_command(Some("x statusline --home '/theirs' -- y")).unwrap();
        assert_eq!(line_of(&around).home().as_deref(), Some(Path::new("/h")));
        for odd in ["mine # flightdeck-statusline", "set -- 'a' b # flightdeck-statusline"] {
            assert!(matches!(line_of(odd), Line::Odd { .. }), "{odd}");
        }
    }

    proptest! {
        #[test]
        fn any_command_comes_back_from_inside_ours(theirs in "[a-z' \\\\\n;#\"$é]{0,40}") {
            let line = line_of(&registration().status_line_command(Some(&theirs)).unwrap());
            prop_assert!(line.is_ours());
            prop_assert_eq!(line.theirs(), Some(theirs.as_str()));
        }

        #[test]
        fn whatever_ends_like_ours_is_ours_or_left_alone(text in "(set -- |if \\[ -x )?['a; \\[x-]{0,20}") {
            let _ = line_of(&format!("{text} {STATUS_LINE_SENTINEL}"));
        }
    }
}
