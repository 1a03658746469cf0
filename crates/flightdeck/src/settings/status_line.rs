//! The status line. Claude Code has only one, so our command wraps the person's own, and uninstall restores it.
//!
//! The command we write contains theirs once, quoted, and runs it even if this program is gone. Only the text of `command` is
//! replaced; padding, refreshInterval and other members stay.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};

use super::error::SettingsError;
use super::handler::{Registration, shell_quoted};
use super::recognise::quoted_path;
use super::span::{ByteSpan, Member};
use crate::program::quoted;

/// The end of each of our status line commands.
pub const STATUS_LINE_SENTINEL: &str = "# flightdeck-statusline";
/// The name of the member in settings.json.
pub(super) const KEY: &str = "statusLine";
/// The start of our command if it wraps another one, and if it does not.
const AROUND: &str = "set -- ";
const ALONE: &str = "if [ -x ";

/// The `statusLine` of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StatusLineSetting {
    None,
    Theirs {
        command: String,
        span: ByteSpan,
    },
    Ours {
        command: String,
        span: ByteSpan,
        wraps: Option<String>,
    },
    /// A value that Claude Code would not run, or our command edited by hand so that theirs cannot be read back.
    Odd {
        at: usize,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusLineState {
    #[default]
    None,
    /// The person's own, or another tool's; not wrapped.
    Theirs,
    Ours,
    /// Ours, but not what we would write.
    Stale,
    /// The entry was ours, and another program or the person replaced it.
    Replaced,
}

impl StatusLineState {
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
    /// If the program is gone, only their command runs. Never do both read standard input.
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

/// Reads the `statusLine` member; `members` are those of its object, `None` if it is not an object.
pub(super) fn read(text: &str, member: &Member, members: Option<&[Member]>) -> StatusLineSetting {
    let odd = StatusLineSetting::Odd { at: member.key_span.start };
    let last = |key: &str| {
        let member = members?.iter().rfind(|member| member.key == key)?;
        Some((serde_json::from_str::<String>(&text[member.value.clone()]).ok()?, member.value.clone()))
    };
    let (Some((kind, _)), Some((command, span))) = (last("type"), last("command")) else { return odd };
    if kind != "command" {
        return odd;
    }
    if !command.trim_end().ends_with(STATUS_LINE_SENTINEL) {
        return StatusLineSetting::Theirs { command, span };
    }
    if command.starts_with(ALONE) {
        return StatusLineSetting::Ours { command, span, wraps: None };
    }
    match command.strip_prefix(AROUND).and_then(unquoted) {
        Some(theirs) => StatusLineSetting::Ours { wraps: Some(theirs), command, span },
        None => odd,
    }
}

/// The first word of a shell text, if [`quoted`] wrote it and the rest of our command follows.
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

impl StatusLineSetting {
    pub(super) fn is_ours(&self) -> bool {
        matches!(self, Self::Ours { .. })
    }

    /// The person's own command, wrapped or not.
    pub(super) fn persons_command(&self) -> Option<&str> {
        match self {
            Self::Theirs { command, .. } => Some(command),
            Self::Ours { wraps, .. } => wraps.as_deref(),
            Self::None | Self::Odd { .. } => None,
        }
    }

    /// The home that our command reports to. The wrapped command comes before it and may also contain `--home`.
    pub(super) fn home(&self) -> Option<PathBuf> {
        let Self::Ours { command, .. } = self else { return None };
        quoted_path(command.rsplit_once(" statusline --home '")?.1)
    }

    pub(super) fn state(
        &self,
        registration: &Registration,
        was_ours: bool,
    ) -> Result<StatusLineState, SettingsError> {
        Ok(match self {
            Self::Ours { command, wraps, .. } => {
                let wanted = registration.status_line_command(wraps.as_deref())?;
                if *command == wanted { StatusLineState::Ours } else { StatusLineState::Stale }
            }
            _ if was_ours => StatusLineState::Replaced,
            Self::None => StatusLineState::None,
            Self::Theirs { .. } | Self::Odd { .. } => StatusLineState::Theirs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::document::Document;
    use crate::settings::version::ClientVersion;
    use proptest::prelude::*;
    use std::path::Path;

    fn registration() -> Registration {
        Registration::new(Path::new("/opt/it's fd"), Path::new("/h"), ClientVersion::assumed())
    }

    fn line_of(command: &str) -> StatusLineSetting {
        let settings = json!({ KEY: { "type": "command", "command": command } }).to_string();
        Document::read(&settings, Path::new("/s")).unwrap().status_line
    }

    #[test]
    fn the_wrapping_and_the_bare_command_look_like_this() {
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
    fn our_command_is_known_by_its_end_and_a_command_edited_by_hand_is_left_alone() {
        assert!(line_of(&registration().status_line_command(None).unwrap()).is_ours());
        for theirs in ["cat", "echo '# flightdeck-statusline'", "x # flightdeck-statusline-2"] {
            assert_eq!(line_of(theirs).persons_command(), Some(theirs));
        }
        let around = registration().status_line_command(Some("x statusline --home '/theirs' -- y")).unwrap();
        assert_eq!(line_of(&around).home().as_deref(), Some(Path::new("/h")));
        for odd in ["mine # flightdeck-statusline", "set -- 'a' b # flightdeck-statusline"] {
            assert!(matches!(line_of(odd), StatusLineSetting::Odd { .. }), "{odd}");
        }
    }

    proptest! {
        #[test]
        fn any_wrapped_command_is_read_back(theirs in "[a-z' \\\\\n;#\"$é]{0,40}") {
            let line = line_of(&registration().status_line_command(Some(&theirs)).unwrap());
            prop_assert!(line.is_ours());
            prop_assert_eq!(line.persons_command(), Some(theirs.as_str()));
        }

        #[test]
        fn any_text_with_our_ending_is_read_without_a_panic(text in "(set -- |if \\[ -x )?['a; \\[x-]{0,20}") {
            let _ = line_of(&format!("{text} {STATUS_LINE_SENTINEL}"));
        }
    }
}
