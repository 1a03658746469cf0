//! Wraps the person's status line command in ours, and restores it.

use std::path::Path;

use serde_json::Value;

use super::document::{Document, line_of};
use super::edit::{self, Edit};
use super::error::SettingsError;
use super::handler::Registration;
use super::span::ByteSpan;
use super::status_line::{KEY, StatusLineSetting};

/// The text with our status line, which wraps the person's own if there is one.
pub(super) fn wrap(text: &str, path: &Path, registration: &Registration) -> Result<String, SettingsError> {
    let document = Document::read(text, path)?;
    document.refuse_duplicate(KEY, path)?;
    match &document.status_line {
        StatusLineSetting::None => Ok(edit::add_member(&document, KEY, registration.status_line_alone()?)),
        StatusLineSetting::Odd { at } => {
            Err(SettingsError::OddStatusLine { path: path.to_owned(), line: line_of(text, *at) })
        }
        line @ (StatusLineSetting::Theirs { command, span }
        | StatusLineSetting::Ours { command, span, .. }) => {
            let wanted = registration.status_line_command(line.persons_command())?;
            Ok(if wanted == *command { text.to_owned() } else { respell(text, span, &wanted) })
        }
    }
}

/// The text without our status line: the person's own is restored if there was one.
pub(super) fn unwrap(document: &Document<'_>) -> String {
    match &document.status_line {
        StatusLineSetting::Ours { span, wraps: Some(theirs), .. } => respell(document.text, span, theirs),
        StatusLineSetting::Ours { wraps: None, .. } => edit::remove_member(document, KEY),
        StatusLineSetting::None | StatusLineSetting::Theirs { .. } | StatusLineSetting::Odd { .. } => {
            document.text.to_owned()
        }
    }
}

fn respell(text: &str, span: &ByteSpan, command: &str) -> String {
    edit::apply(text, vec![Edit { span: span.clone(), text: Value::from(command).to_string() }])
}
