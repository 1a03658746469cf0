//! Notes on the desktop: `notify-send` on Linux, `osascript` on macOS.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::message::{NoteMessage, NoteUrgency};
use super::program::{self, RunningProgram};
use super::send_error::SendError;
use crate::program::BROWSER_OPENER;

/// How long a click on a note opens its card: as long as a person may leave it on the screen before they look at the board.
const CLICK_MAX: Duration = Duration::from_secs(10 * 60);
/// Notes that wait for a click; each is a process. Further ones are shown, with the address in their text.
const CLICKS_WAITING_MAX: usize = 8;

static CLICKS: Semaphore = Semaphore::const_new(CLICKS_WAITING_MAX);

pub(super) async fn send(message: &NoteMessage) -> Result<(), SendError> {
    if cfg!(target_os = "macos") {
        return program::run(osascript(message), b"").await;
    }
    match program::run_until_line(clickable(message)).await {
        Ok(None) => Ok(()),
        Ok(Some(shown)) => {
            tokio::spawn(open_on_click(shown, message.url.clone()));
            Ok(())
        }
        // A `notify-send` before version 0.8 does not know `--action`.
        Err(SendError::Final(why)) if why.contains("nknown option") => {
            program::run(notify_send(message), b"").await
        }
        Err(error) => Err(error),
    }
}

/// A `notify-send` that prints the note's id once it is shown, and `default` if the person clicks it.
fn clickable(message: &NoteMessage) -> Command {
    let mut command = Command::new("notify-send");
    command.args(["--print-id", "--action=default=Open"]);
    command.args(notify_send(message).as_std().get_args());
    command
}

async fn open_on_click(mut shown: RunningProgram, url: String) {
    let Ok(_permit) = CLICKS.try_acquire() else { return };
    let clicked = timeout(CLICK_MAX, shown.next_line()).await;
    if clicked.is_ok_and(|line| line.as_deref() == Some("default")) {
        open(&url).await;
    }
}

async fn open(url: &str) {
    let mut opener = Command::new(BROWSER_OPENER);
    opener.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The opener may turn into the browser, so it is not stopped after a time limit.
    match opener.spawn() {
        Ok(mut child) => drop(child.wait().await),
        Err(error) => {
            tracing::warn!(%error, "could not open the card of a clicked note with {BROWSER_OPENER}")
        }
    }
}

fn notify_send(message: &NoteMessage) -> Command {
    let urgency = match message.urgency {
        NoteUrgency::High => "critical",
        NoteUrgency::Normal => "normal",
    };
    let mut command = Command::new("notify-send");
    command.arg("--app-name=Flightdeck").arg(format!("--urgency={urgency}"));
    // `--`: a title may begin with a dash. Desktops show the last line as a link.
    command.arg("--").arg(&message.title).arg(markup(&format!("{}\n{}", message.text, message.url)));
    command
}

/// The body of a desktop notification is a small subset of HTML.
fn markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The texts are arguments of the script and not part of it.
fn osascript(message: &NoteMessage) -> Command {
    let mut command = Command::new("osascript");
    for line in
        ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"]
    {
        command.arg("-e").arg(line);
    }
    command.arg("--").arg(&message.title).arg(format!("{}\n{}", message.text, message.url));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(command: &Command) -> Vec<String> {
        command.as_std().get_args().map(|arg| arg.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_text_from_outside_is_neither_an_option_nor_markup_nor_script() {
        let message = NoteMessage {
            title: "--help".into(),
            text: "Permission for Bash: echo \"<b>\" & exit".into(),
            ..NoteMessage::test("http://deck")
        };
        let said = arguments(&notify_send(&message));
        let text = "Permission for Bash: echo \"&lt;b&gt;\" &amp; exit\nhttp://deck";
        assert_eq!(said[said.len() - 3..], ["--", "--help", text]);
        let said = arguments(&osascript(&message));
        assert_eq!(said[said.len() - 2], "--help");
        assert!(!said[1].contains("help") && !said[3].contains("help"), "{said:?}");
    }
}
