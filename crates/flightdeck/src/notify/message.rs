//! The message that is sent to a target, about one session or several.

use flightdeck_core::assignment::intent::Intent;
use flightdeck_core::ids::SessionId;
use flightdeck_core::notify::{Note, NoteKind};
use flightdeck_core::text::one_line;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::card::Card;
use flightdeck_core::view::waiting::WaitKind;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::secret::Secret;

/// Sessions named in the text of one message; further ones are only counted.
const LINES_MAX: usize = 5;
/// Longest title of a session in a text.
const TITLE_CHARS_MAX: usize = 100;
/// Longest line of what the agent said.
const SAID_CHARS_MAX: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum NoteUrgency {
    /// An agent waits for the person.
    High,
    Normal,
}

/// A message as a webhook and a command get it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct NoteMessage {
    pub(super) title: String,
    pub(super) text: String,
    /// Opens the card, or the board if there are several.
    pub(super) url: String,
    pub(super) urgency: NoteUrgency,
    pub(super) notes: Vec<NoteLine>,
    /// Buttons for a phone. Each works once.
    #[serde(skip)]
    pub(super) buttons: Vec<Button>,
}

/// One session of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct NoteLine {
    /// The same in every attempt, so that a receiver can recognise a note that it has already received.
    pub(super) id: String,
    pub(super) event: NoteKind,
    pub(super) session_id: SessionId,
    pub(super) project: String,
    pub(super) project_path: Option<String>,
    pub(super) title: Option<String>,
    /// What the session wants: the label of its card.
    pub(super) wanted: String,
    /// What the agent said at the end of its turn: its question, otherwise its last line.
    #[serde(rename = "said")]
    pub(super) last_sentence: Option<String>,
    pub(super) since: Timestamp,
    pub(super) url: String,
    /// The last message says that the work is done. Otherwise a completed turn only waits for the next prompt.
    #[serde(skip)]
    pub(super) finished: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Button {
    pub(super) label: &'static str,
    pub(super) url: Secret,
}

impl NoteLine {
    /// Makes the line from the present card, which may have changed since the note was made. `board` is the address of the board.
    pub(super) fn new(seq: u64, note: &Note, card: &Card, board: &str) -> Self {
        let waiting = card.waiting.as_ref().filter(|_| ended_its_turn(card, note.kind));
        let last_sentence = waiting.and_then(|_| last_sentence(card));
        Self {
            id: format!("{seq}-{}-{}", note.kind.as_str(), note.session_id),
            event: note.kind,
            session_id: card.id.clone(),
            project: card.project.name.clone(),
            project_path: card.project.path.clone(),
            title: card.title.as_deref().map(|title| one_line(title, TITLE_CHARS_MAX)),
            wanted: waiting.map_or(&card.agent_state.label, |waiting| &waiting.label).clone(),
            last_sentence,
            since: card.agent_state.since,
            url: session_url(board, &card.id),
            finished: card.intent.as_ref().is_some_and(|found| found.intent.is_finished()),
        }
    }

    fn since(&self, zone: &TimeZone) -> String {
        let since = jiff::Timestamp::from_millisecond(self.since.as_millis()).unwrap_or_default();
        format!("since {}", since.to_zoned(zone.clone()).strftime("%H:%M"))
    }
}

impl NoteMessage {
    /// `None` if there are no notes.
    pub(super) fn new(notes: Vec<NoteLine>, board: &str, zone: &TimeZone) -> Option<Self> {
        let (title, text, url) = match &notes[..] {
            [] => return None,
            [one] => {
                let text = [one.title.clone(), one.last_sentence.clone(), Some(one.since(zone))];
                let text = text.into_iter().flatten().collect::<Vec<_>>().join("\n");
                (format!("{}: {}", one.project, one.wanted), text, one.url.clone())
            }
            several => (headline(several), list(several, zone), board.to_owned()),
        };
        let urgency = if notes.iter().any(needs_person) { NoteUrgency::High } else { NoteUrgency::Normal };
        Some(Self { title, text, url, urgency, notes, buttons: Vec::new() })
    }

    /// For `flightdeck notify test`.
    pub(super) fn test(board: &str) -> Self {
        Self {
            title: "Flightdeck: a test".to_owned(),
            text: "Notifications reach you here.".to_owned(),
            url: board.to_owned(),
            urgency: NoteUrgency::Normal,
            notes: Vec::new(),
            buttons: Vec::new(),
        }
    }

    pub(super) fn json(&self) -> Vec<u8> {
        // A struct of texts and times can always be written.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A turn ends with a question or is completed. Other requests stop it in the middle, and the label of the card says what is asked.
fn ended_its_turn(card: &Card, kind: NoteKind) -> bool {
    let asks_in_its_text = card.waiting.as_ref().is_some_and(|waiting| waiting.kind == WaitKind::Asks);
    kind == NoteKind::Completed || (kind == NoteKind::Asks && asks_in_its_text)
}

/// The question of the last message; without one, the last line of the message.
fn last_sentence(card: &Card) -> Option<String> {
    let question = card.intent.as_ref().filter(|found| found.intent == Intent::Question);
    let question = question.map(|found| one_line(&found.evidence.line, SAID_CHARS_MAX));
    question.filter(|line| !line.is_empty()).or_else(|| last_line(card.last_assistant_text.as_deref()?))
}

fn last_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(one_line(line, SAID_CHARS_MAX))
}

/// `18 sessions need you, 1 failed, 32 are finished`. Only sessions that block or ask need the person.
fn headline(notes: &[NoteLine]) -> String {
    let count = |is: &dyn Fn(&NoteLine) -> bool| notes.iter().filter(|note| is(note)).count();
    let completed =
        |note: &NoteLine, finished| note.event == NoteKind::Completed && note.finished == finished;
    let parts = [
        (count(&needs_person), "needs you", "need you"),
        (count(&|note| note.event == NoteKind::Failed), "failed", "failed"),
        (count(&|note| completed(note, true)), "is finished", "are finished"),
        (count(&|note| completed(note, false)), "waits for your next prompt", "wait for your next prompt"),
    ];
    let mut noun = Some(("session ", "sessions "));
    let mut part = |(n, one, many): (usize, &str, &str)| {
        let (one_noun, many_noun) = noun.take().unwrap_or_default();
        if n == 1 { format!("1 {one_noun}{one}") } else { format!("{n} {many_noun}{many}") }
    };
    parts.into_iter().filter(|(n, ..)| *n > 0).map(&mut part).collect::<Vec<_>>().join(", ")
}

fn needs_person(note: &NoteLine) -> bool {
    matches!(note.event, NoteKind::NeedsPermission | NoteKind::Asks)
}

fn list(notes: &[NoteLine], zone: &TimeZone) -> String {
    let line = |note: &NoteLine| format!("{}: {}, {}", note.project, note.wanted, note.since(zone));
    let mut lines: Vec<_> = notes.iter().take(LINES_MAX).map(line).collect();
    if notes.len() > LINES_MAX {
        lines.push(format!("and {} more", notes.len() - LINES_MAX));
    }
    lines.join("\n")
}

/// The page opens the card of the session that its address names.
fn session_url(board: &str, id: &SessionId) -> String {
    let mut url = format!("{board}/#/session/");
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use flightdeck_core::fleet::Fleet;
    use flightdeck_core::log::event::Event;
    use flightdeck_core::log::record::EventId;
    use flightdeck_core::rules::FoldSettings;
    use flightdeck_core::view;
    use flightdeck_core::wire::hook::HookDraft;
    use serde_json::{Map, Value, json};

    use super::*;

    fn line(n: usize, event: NoteKind) -> NoteLine {
        NoteLine {
            id: format!("{n}-s{n}"),
            event,
            session_id: format!("s{n}").into(),
            project: format!("p{n}"),
            project_path: None,
            title: Some("fix the bug".into()),
            wanted: "Permission for Bash: make".into(),
            last_sentence: None,
            since: Timestamp::parse("2026-11-15T18:47:31Z").unwrap(),
            url: session_url("http://deck", &format!("s{n}").into()),
            finished: event == NoteKind::Completed,
        }
    }

    fn message(notes: Vec<NoteLine>) -> Option<NoteMessage> {
        NoteMessage::new(notes, "http://deck", &TimeZone::UTC)
    }

    #[test]
    fn one_note_names_project_what_is_wanted_and_since_when_and_opens_its_card() {
        let said = message(vec![line(1, NoteKind::NeedsPermission)]).unwrap();
        assert_eq!(said.title, "p1: Permission for Bash: make");
        assert_eq!(said.text, "fix the bug\nsince 18:47");
        assert_eq!((said.url.as_str(), said.urgency), ("http://deck/#/session/s1", NoteUrgency::High));
    }

    /// The README lists them.
    #[test]
    fn a_webhook_gets_the_documented_names() {
        let json = serde_json::to_value(message(vec![line(1, NoteKind::NeedsPermission)]).unwrap()).unwrap();
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(names(&json), "title text url urgency notes");
        assert_eq!(
            names(&json["notes"][0]),
            "id event session_id project project_path title wanted said since url"
        );
    }

    #[test]
    fn a_finished_session_is_quoted_with_its_last_line() {
        let finished = NoteLine {
            last_sentence: last_line("All good.\n\nShall I push?\n"),
            ..line(1, NoteKind::Completed)
        };
        let said = message(vec![finished]).unwrap();
        assert_eq!(
            (said.text.as_str(), said.urgency),
            ("fix the bug\nShall I push?\nsince 18:47", NoteUrgency::Normal)
        );
        assert_eq!(last_line(" \n"), None);
    }

    /// The card of a session after these hooks.
    fn card_of(hooks: &[Value]) -> Card {
        let mut fleet = Fleet::new(FoldSettings::default());
        for (n, hook) in hooks.iter().enumerate() {
            let mut payload = hook.as_object().unwrap().clone();
            payload.extend([("session_id".to_owned(), json!("s")), ("cwd".to_owned(), json!("/w/api"))]);
            let draft = HookDraft { name_in_path: None, payload, env: Map::new(), bytes: 0 };
            let mut record = draft.into_record(EventId(n as u128 + 1)).unwrap();
            record.seq = n as u64 + 1;
            fleet.apply(&Event::from_record(&record));
        }
        view::card(fleet.get(&"s".into()).unwrap(), fleet.settings())
    }

    fn asks(card: &Card) -> NoteLine {
        let at = card.agent_state.since;
        let note = Note { kind: NoteKind::Asks, session_id: card.id.clone(), since: at, at };
        NoteLine::new(1, &note, card, "http://deck")
    }

    #[test]
    fn a_turn_that_ended_with_a_question_is_told_with_the_question() {
        let card = card_of(&[
            json!({"hook_event_name": "UserPromptSubmit", "prompt": "fix"}),
            json!({"hook_event_name": "Stop", "last_assistant_message": "I looked at it.\n\nShall I drop the users table?\n\nIt is old."}),
        ]);
        let line = asks(&card);
        assert_eq!(
            (line.wanted.as_str(), line.last_sentence.as_deref()),
            ("Asks you", Some("Shall I drop the users table?"))
        );
        assert_eq!(message(vec![line]).unwrap().urgency, NoteUrgency::High);
        // A request in the middle of a turn: the last message is of another time.
        let card = card_of(&[
            json!({"hook_event_name": "Stop", "last_assistant_message": "Shall I drop the users table?"}),
            json!({"hook_event_name": "UserPromptSubmit", "prompt": "yes"}),
            json!({"hook_event_name": "PermissionRequest", "tool_name": "ExitPlanMode"}),
        ]);
        let line = asks(&card);
        assert_eq!((line.wanted, line.last_sentence), (card.agent_state.label.clone(), None));
    }

    #[test]
    fn several_notes_become_one_that_opens_the_board() {
        let lines = |event| (1..=7).map(|n| line(n, event)).collect::<Vec<_>>();
        let said = message(lines(NoteKind::Asks)).unwrap();
        assert_eq!((said.title.as_str(), said.url.as_str()), ("7 sessions need you", "http://deck"));
        let text: Vec<_> = said.text.lines().collect();
        assert_eq!((text[0], text.len()), ("p1: Permission for Bash: make, since 18:47", 6));
        assert_eq!(text[5], "and 2 more");
        let said = message(lines(NoteKind::Completed)).unwrap();
        assert_eq!((said.title.as_str(), said.urgency), ("7 sessions are finished", NoteUrgency::Normal));
        assert_eq!(message(Vec::new()), None);
    }

    #[test]
    fn several_notes_are_counted_by_what_the_sessions_want() {
        use NoteKind::{Asks, Completed, Failed, NeedsPermission};
        let title = |events: &[NoteKind]| {
            let lines = events.iter().enumerate().map(|(n, event)| line(n, *event)).collect();
            let said = message(lines).unwrap();
            (said.title, said.urgency)
        };
        assert_eq!(
            title(&[NeedsPermission, Asks, Failed, Completed, Completed]),
            ("2 sessions need you, 1 failed, 2 are finished".to_owned(), NoteUrgency::High)
        );
        assert_eq!(
            title(&[Asks, Completed]),
            ("1 session needs you, 1 is finished".to_owned(), NoteUrgency::High)
        );
        assert_eq!(title(&[Failed, Failed]), ("2 sessions failed".to_owned(), NoteUrgency::Normal));
        assert_eq!(
            title(&[Failed, Completed, Completed]),
            ("1 session failed, 2 are finished".to_owned(), NoteUrgency::Normal)
        );
    }

    #[test]
    fn a_session_whose_last_message_does_not_say_so_is_not_finished() {
        let stop = |said: &str| {
            let card = card_of(&[
                json!({"hook_event_name": "UserPromptSubmit", "prompt": "fix"}),
                json!({"hook_event_name": "Stop", "last_assistant_message": said}),
            ]);
            let at = card.agent_state.since;
            let note = Note { kind: NoteKind::Completed, session_id: card.id.clone(), since: at, at };
            NoteLine::new(1, &note, &card, "http://deck")
        };
        let (done, unclear) = (stop("Fixed. All tests pass."), stop("The port is 8080."));
        assert_eq!(
            (done.wanted.as_str(), unclear.wanted.as_str()),
            ("Finished", "Waiting for your next prompt")
        );
        let title = |lines: &[&NoteLine]| message(lines.iter().copied().cloned().collect()).unwrap().title;
        assert_eq!(title(&[&done, &unclear, &unclear]), "1 session is finished, 2 wait for your next prompt");
        assert_eq!(title(&[&unclear, &unclear]), "2 sessions wait for your next prompt");
    }

    #[test]
    fn an_id_from_outside_stays_one_part_of_the_address() {
        assert_eq!(session_url("http://d", &"a/b ü?".into()), "http://d/#/session/a%2Fb%20%C3%BC%3F");
    }

    #[test]
    fn a_message_reads_as_json() {
        let json: serde_json::Value =
            serde_json::from_slice(&message(vec![line(1, NoteKind::Failed)]).unwrap().json()).unwrap();
        assert_eq!(json["notes"][0]["event"], "failed");
        assert_eq!(json["notes"][0]["id"], "1-s1");
        assert_eq!(json["notes"][0]["since"], "2026-11-15T18:47:31.000Z");
    }
}
