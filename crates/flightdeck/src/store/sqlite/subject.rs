//! The subject of a record in the columns `session_id` and `subject`.

use flightdeck_core::log::subject::Subject;

/// `None` for a session: its id is in `session_id`.
pub(super) fn to_column(subject: &Subject) -> Option<String> {
    match subject {
        Subject::Session(_) => None,
        Subject::Seat(id) => Some(format!("seat:{id}")),
        Subject::Effort(id) => Some(format!("effort:{id}")),
        Subject::Host(id) => Some(format!("host:{id}")),
        Subject::None => Some("none".to_owned()),
    }
}

/// Returns a subject that it does not know as an error.
pub(super) fn from_columns(session_id: String, subject: Option<String>) -> Result<Subject, String> {
    let Some(subject) = subject else { return Ok(Subject::Session(session_id.into())) };
    match subject.split_once(':') {
        Some(("seat", id)) => Ok(Subject::Seat(id.into())),
        Some(("effort", id)) => Ok(Subject::Effort(id.into())),
        Some(("host", id)) => Ok(Subject::Host(id.into())),
        None if subject == "none" => Ok(Subject::None),
        _ => Err(subject),
    }
}
