//! Brings a session's terminal to the front: selects its tmux pane and runs the person's `focus_command`.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;

use super::pane::{self, PaneAddress};
use super::refusal::RefusalReason;
use super::tmux::Tmux;

/// Longest run time of `focus_command`, which may have to wake a window manager.
const FOCUS_COMMAND_MAX: Duration = Duration::from_secs(5);
/// Longest part of the command's error output that is shown.
const ERROR_CHARS_MAX: usize = 300;

/// A terminal that is attached to the tmux server.
#[derive(Debug, PartialEq, Eq)]
struct TmuxClient {
    name: String,
    tty: String,
    session: String,
}

/// Shows the pane in the tmux client that the person used last and returns that client's terminal. Other clients do not change.
pub async fn focus(tmux: &impl Tmux, place: &PaneAddress) -> Result<String, RefusalReason> {
    let pane = pane::find(tmux, place).await?;
    let client = last_used_client(tmux, place).await?.ok_or_else(|| RefusalReason::NotAttached {
        attach: format!("tmux -S {} attach -t '{}'", place.server.display(), pane.session),
    })?;
    // A window may be in several tmux sessions (a group). The client's own session is preferred, so that it stays there.
    let windows = tmux.call(&place.server, &["list-windows", "-a", "-F", "#{session_id},#{window_id}"], None);
    let windows = windows.await?;
    let is_here = windows.lines().any(|line| line.split_once(',') == Some((&client.session, &pane.window)));
    let session = if is_here { &client.session } else { &pane.session };
    let target = format!("{session}:{}.{}", pane.window, place.pane);
    tmux.call(&place.server, &["switch-client", "-c", &client.name, "-t", &target], None).await?;
    Ok(client.tty)
}

/// The tmux client with the last key press. Clients in control mode are skipped, because they show no screen.
async fn last_used_client(
    tmux: &impl Tmux,
    place: &PaneAddress,
) -> Result<Option<TmuxClient>, RefusalReason> {
    let format = "#{client_activity},#{client_control_mode},#{session_id},#{client_tty},#{client_name}";
    let listed = tmux.call(&place.server, &["list-clients", "-F", format], None).await?;
    let clients = listed.lines().filter_map(|line| {
        let mut fields = line.splitn(5, ',');
        let activity: u64 = fields.next()?.parse().ok()?;
        let control = fields.next()? == "1";
        let (session, tty, name) =
            (fields.next()?.to_owned(), fields.next()?.to_owned(), fields.next()?.to_owned());
        (!control).then_some((activity, TmuxClient { name, tty, session }))
    });
    Ok(clients.max_by_key(|(activity, _)| *activity).map(|(_, client)| client))
}

/// `focus_command` of `config.toml`: words with placeholders. No shell runs it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct FocusCommand(Vec<String>);

/// The values of the placeholders.
pub type PlaceholderValues = BTreeMap<&'static str, Option<String>>;

pub const PLACEHOLDERS: [&str; 5] = ["pid", "tty", "pane", "cwd", "session_id"];

impl TryFrom<String> for FocusCommand {
    type Error = String;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let words = shlex::split(&text).filter(|words| !words.is_empty());
        let words = words.ok_or("focus_command is empty or has an unclosed quote")?;
        for name in words.iter().flat_map(|word| placeholders(word)) {
            if !PLACEHOLDERS.contains(&name) {
                return Err(format!(
                    "focus_command has the unknown placeholder {{{name}}}; known are {{{}}}",
                    PLACEHOLDERS.join("} {")
                ));
            }
        }
        Ok(Self(words))
    }
}

/// The names in braces in one word.
fn placeholders(word: &str) -> impl Iterator<Item = &str> {
    word.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
}

impl FocusCommand {
    pub async fn run(&self, values: &PlaceholderValues) -> Result<(), RefusalReason> {
        let words = self.filled_words(values)?;
        let failed = |why: String| RefusalReason::FocusCommand(why);
        let Some((program, args)) = words.split_first() else { return Ok(()) };
        let mut command = Command::new(program);
        command
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let child = command.spawn().map_err(|e| failed(format!("{program}: {e}")))?;
        let ended = tokio::time::timeout(FOCUS_COMMAND_MAX, child.wait_with_output()).await;
        let late = |_| failed(format!("{program} did not end within {} s", FOCUS_COMMAND_MAX.as_secs()));
        let output = ended.map_err(late)?.map_err(|e| failed(e.to_string()))?;
        match output.status.success() {
            true => Ok(()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr);
                let said = flightdeck_core::text::one_line(&said, ERROR_CHARS_MAX);
                Err(failed(format!("{program} ended with {}: {said}", output.status)))
            }
        }
    }

    fn filled_words(&self, values: &PlaceholderValues) -> Result<Vec<String>, RefusalReason> {
        self.0.iter().map(|word| fill_placeholders(word, values)).collect()
    }
}

fn fill_placeholders(word: &str, values: &PlaceholderValues) -> Result<String, RefusalReason> {
    let mut filled = word.to_owned();
    for name in PLACEHOLDERS {
        let place = format!("{{{name}}}");
        if word.contains(&place) {
            let value = values.get(name).cloned().flatten().ok_or(RefusalReason::NoValue { name })?;
            filled = filled.replace(&place, &value);
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::fake_tmux::{FakeTmux, pane_of_this_process};

    fn at_pane_5() -> FakeTmux {
        let tmux = FakeTmux::new();
        tmux.answer("display-message", &format!("%5,$1,@3,{},0,1,0,0\n", std::process::id()));
        tmux
    }

    #[tokio::test]
    async fn only_the_client_used_last_is_switched() {
        let tmux = at_pane_5();
        tmux.answer("list-windows", "$1,@3\n$2,@4\n");
        tmux.answer(
            "list-clients",
            "100,0,$1,/dev/pts/1,/dev/pts/1\n200,0,$2,/dev/pts/2,/dev/pts/2\n300,1,$2,,client-9\n",
        );
        assert_eq!(focus(&tmux, &pane_of_this_process(&tmux)).await.unwrap(), "/dev/pts/2");
        assert_eq!(tmux.calls(), ["switch-client -c /dev/pts/2 -t $1:@3.%5"]);
    }

    #[tokio::test]
    async fn a_client_whose_own_session_has_the_window_stays_in_it() {
        let tmux = at_pane_5();
        tmux.answer("list-windows", "$1,@3\n$2,@3\n");
        tmux.answer("list-clients", "200,0,$2,/dev/pts/2,/dev/pts/2\n");
        focus(&tmux, &pane_of_this_process(&tmux)).await.unwrap();
        assert_eq!(tmux.calls(), ["switch-client -c /dev/pts/2 -t $2:@3.%5"]);
    }

    #[tokio::test]
    async fn without_an_attached_client_the_refusal_has_the_attach_command() {
        let tmux = at_pane_5();
        let refused = focus(&tmux, &pane_of_this_process(&tmux)).await.unwrap_err();
        assert_eq!(refused.code().as_str(), "nobody_attached");
        assert!(refused.to_string().contains("attach -t '$1'"), "{refused}");
    }

    #[test]
    fn the_command_is_split_into_words_and_filled_word_by_word() {
        let command = FocusCommand::try_from("wez 'a b' --at={tty} {cwd}".to_owned()).unwrap();
        let values = PlaceholderValues::from([
            ("tty", Some("/dev/pts/1".into())),
            ("cwd", Some("/a b; rm {pid}".into())),
        ]);
        assert_eq!(
            command.filled_words(&values).unwrap(),
            ["wez", "a b", "--at=/dev/pts/1", "/a b; rm {pid}"]
        );
        let command = FocusCommand::try_from("x {pane}".to_owned()).unwrap();
        assert_eq!(
            command.filled_words(&values).unwrap_err().to_string(),
            "focus_command needs {pane}, but this session has none"
        );
    }

    #[test]
    fn a_malformed_focus_command_is_an_error() {
        for (text, why) in [("", "empty"), ("a 'b", "quote"), ("a {window}", "{window}")] {
            assert!(FocusCommand::try_from(text.to_owned()).unwrap_err().contains(why), "{text}");
        }
    }

    #[tokio::test]
    async fn the_error_of_a_failing_focus_command_is_shown() {
        let run = |text: &str| FocusCommand::try_from(text.to_owned()).unwrap();
        run("true").run(&PlaceholderValues::new()).await.unwrap();
        let told = run("sh -c 'echo no window >&2; exit 3'")
            .run(&PlaceholderValues::new())
            .await
            .unwrap_err()
            .to_string();
        assert!(told.contains("no window"), "{told}");
        let told = run("/no/such/program").run(&PlaceholderValues::new()).await.unwrap_err().to_string();
        assert!(told.contains("/no/such/program"), "{told}");
    }
}
