//! Notes on the desktop: `notify-send` on Linux, `osascript` on macOS.

use tokio::process::Command;

use super::message::{Message, Urgency};
use super::program;
use super::target::SendError;

pub(super) async fn send(message: &Message) -> Result<(), SendError> {
    let command = if cfg!(target_os = "macos") { osascript(message) } else { notify_send(message) };
    program::run(command, b"").await
}

fn notify_send(message: &Message) -> Command {
    let urgency = match message.urgency {
        Urgency::High => "critical",
        Urgency::Normal => "normal",
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
fn osascript(message: &Message) -> Command {
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
        let message = Message {
            title: "--help".into(),
            text: "Permission for Bash: echo \"<b>\" & exit".into(),
            ..Message::test("http://deck")
        };
        let said = arguments(&notify_send(&message));
        let text = "Permission for Bash: echo \"&lt;b&gt;\" &amp; exit\nhttp://deck";
        assert_eq!(said[said.len() - 3..], ["--", "--help", text]);
        let said = arguments(&osascript(&message));
        assert_eq!(said[said.len() - 2], "--help");
        assert!(!said[1].contains("help") && !said[3].contains("help"), "{said:?}");
    }
}
