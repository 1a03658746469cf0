//! Notes through the person's own program: JSON on standard input, and the main parts as variables.

use tokio::process::Command;

use super::message::NoteMessage;
use super::program;
use super::send_error::SendError;

pub(super) async fn send(words: &[String], message: &NoteMessage) -> Result<(), SendError> {
    let Some((program, args)) = words.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(args).envs(variables(message));
    program::run(command, &message.json()).await
}

fn variables(message: &NoteMessage) -> Vec<(&'static str, String)> {
    let mut variables = vec![
        ("FLIGHTDECK_NOTE_TITLE", message.title.clone()),
        ("FLIGHTDECK_NOTE_TEXT", message.text.clone()),
        ("FLIGHTDECK_NOTE_URL", message.url.clone()),
        ("FLIGHTDECK_NOTE_COUNT", message.notes.len().to_string()),
    ];
    if let [note] = &message.notes[..] {
        variables.extend([
            ("FLIGHTDECK_NOTE_EVENT", note.event.as_str().to_owned()),
            ("FLIGHTDECK_NOTE_SESSION", note.session_id.to_string()),
            ("FLIGHTDECK_NOTE_PROJECT", note.project.clone()),
        ]);
    }
    // A variable cannot hold a zero byte.
    variables.iter_mut().for_each(|(_, value)| value.retain(|c| c != '\0'));
    variables
}
