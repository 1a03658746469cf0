//! A line of text that the person types: a search, a prompt, a reason, an answer, a field of a form.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::approval::form::{FieldType, field_type};
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_protocol::terminal::PROMPT_BYTES_MAX;
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Purpose {
    Search,
    Prompt(SessionId),
    /// Why a request is denied.
    Reason(AskId),
    /// An answer to the question with this number, in the person's own words.
    OwnWords {
        ask: AskId,
        question: usize,
    },
    Field(Form),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Input {
    pub(super) purpose: Purpose,
    pub(super) text: String,
    /// The byte of the text at which the next character is put.
    pub(super) cursor: usize,
}

/// What a key did to the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Changed,
    /// Enter.
    Finished,
    /// Esc.
    Left,
    /// The key is not one of a text field.
    Unused,
}

impl Input {
    pub(super) fn new(purpose: Purpose, text: &str) -> Self {
        Self { purpose, text: text.to_owned(), cursor: text.len() }
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Typed {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter if alt => self.insert("\n"),
            KeyCode::Enter => return Typed::Finished,
            KeyCode::Esc => return Typed::Left,
            KeyCode::Char('j') if control => self.insert("\n"),
            KeyCode::Char('c') if control => return Typed::Left,
            KeyCode::Char('u') if control => drop(self.text.drain(..std::mem::take(&mut self.cursor))),
            KeyCode::Char('w') if control => self.delete_word(),
            KeyCode::Char('a') if control => self.cursor = 0,
            KeyCode::Char('e') if control => self.cursor = self.text.len(),
            KeyCode::Char(c) if !control && !alt => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => self.delete_back(),
            KeyCode::Delete if self.cursor < self.text.len() => drop(self.text.remove(self.cursor)),
            KeyCode::Left => self.cursor = self.before(),
            KeyCode::Right => {
                self.cursor += self.text[self.cursor..].chars().next().map_or(0, char::len_utf8)
            }
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            _ => return Typed::Unused,
        }
        Typed::Changed
    }

    /// Control characters of a pasted text are removed. A text that would be longer than a prompt may be is not taken.
    pub(super) fn insert(&mut self, text: &str) {
        let text = flightdeck_core::text::plain(&text.replace("\r\n", "\n").replace('\r', "\n"));
        if self.text.len() + text.len() <= PROMPT_BYTES_MAX {
            self.text.insert_str(self.cursor, &text);
            self.cursor += text.len();
        }
    }

    fn before(&self) -> usize {
        self.text[..self.cursor].char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn delete_back(&mut self) {
        if self.cursor > 0 {
            self.cursor = self.before();
            self.text.remove(self.cursor);
        }
    }

    fn delete_word(&mut self) {
        let kept = self.text[..self.cursor].trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
        self.text.drain(kept..self.cursor);
        self.cursor = kept;
    }
}

/// A form that is filled in field by field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form {
    pub(super) ask: AskId,
    schema: Map<String, Value>,
    names: Vec<String>,
    pub(super) content: Map<String, Value>,
}

impl Form {
    /// `None` if the form has no fields.
    pub(super) fn new(ask: &AskCard) -> Option<Self> {
        let schema = ask.requested_schema.clone()?;
        let properties = schema.get("properties")?.as_object()?;
        let names: Vec<String> = properties.keys().cloned().collect();
        (!names.is_empty()).then(|| Self { ask: ask.id.clone(), schema, names, content: Map::new() })
    }

    fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// What to type now, such as `env (string, required) test, live`.
    pub(super) fn label(&self) -> String {
        let name = self.name();
        let property = self.schema.get("properties").and_then(|properties| properties.get(name));
        let kind = field_type(&self.schema, name).map_or("string", FieldType::as_str);
        let must = if self.is_required() { ", required" } else { "" };
        let choices = property.and_then(|property| property.get("enum")?.as_array());
        let choices = choices.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
        format!("{name} ({kind}{must}) {choices}").trim_end().to_owned()
    }

    fn is_required(&self) -> bool {
        let required = self.schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|name| name == self.name()))
    }

    /// Takes the value of the present field. `Ok(true)` if it was the last one; `Err` says what is wrong with the value.
    pub(super) fn fill(&mut self, text: &str) -> Result<bool, String> {
        let name = self.name().to_owned();
        if text.is_empty() && self.is_required() {
            return Err(format!("{name} must be filled in"));
        }
        if !text.is_empty() {
            let value = match field_type(&self.schema, &name) {
                None | Some(FieldType::Text) => Value::from(text),
                Some(kind) => serde_json::from_str(text)
                    .map_err(|_| format!("{name} needs a {}, not {text:?}", kind.as_str()))?,
            };
            self.content.insert(name, value);
        }
        self.names.remove(0);
        Ok(self.names.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[KeyCode]) -> Input {
        let mut input = Input::new(Purpose::Search, "");
        for code in keys {
            input.press(KeyEvent::new(*code, KeyModifiers::NONE));
        }
        input
    }

    #[test]
    fn a_text_is_edited_at_its_cursor_in_any_script() {
        use KeyCode::{Backspace, Char, Delete, Home, Left};
        let input =
            typed(&[Char('日'), Char('本'), Left, Char('x'), Home, Delete, Char('é'), Char('a'), Backspace]);
        assert_eq!((input.text.as_str(), input.cursor), ("éx本", 2));
    }

    #[test]
    fn a_paste_keeps_its_lines_and_loses_its_controls() {
        let mut input = Input::new(Purpose::Search, "");
        input.insert("one\r\ntwo\u{1b}[2J\u{7}");
        assert_eq!(input.text, "one\ntwo");
        let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        input.press(control('w'));
        assert_eq!(input.text, "one\n");
        input.press(control('u'));
        assert_eq!((input.text.as_str(), input.cursor), ("", 0));
        input.insert(&"x".repeat(PROMPT_BYTES_MAX + 1));
        assert_eq!(input.text, "");
    }
}
