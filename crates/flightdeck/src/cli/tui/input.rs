//! A line of text that the person types: a search, a prompt, a reason, an answer, a field of a form.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::approval::form::{FieldType, FormField, field_type, form_fields};
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_protocol::terminal::PROMPT_BYTES_MAX;
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum InputPurpose {
    Search,
    Prompt(SessionId),
    /// Why a request is denied.
    Reason(AskId),
    /// An answer to the question with this number, in the person's own words.
    OwnWords {
        ask: AskId,
        question: usize,
    },
    Field(FormInput),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct TextInput {
    pub(super) purpose: InputPurpose,
    pub(super) text: String,
    /// The byte of the text at which the next character is put.
    pub(super) cursor: usize,
}

/// What a key did to the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeyEffect {
    Changed,
    /// Enter.
    Finished,
    /// Esc.
    Left,
    /// The key is not one of a text field.
    Unused,
}

impl TextInput {
    pub(super) fn new(purpose: InputPurpose, text: &str) -> Self {
        Self { purpose, text: text.to_owned(), cursor: text.len() }
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> KeyEffect {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter if alt => self.insert("\n"),
            KeyCode::Enter => return KeyEffect::Finished,
            KeyCode::Esc => return KeyEffect::Left,
            KeyCode::Char('j') if control => self.insert("\n"),
            KeyCode::Char('c') if control => return KeyEffect::Left,
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
            _ => return KeyEffect::Unused,
        }
        KeyEffect::Changed
    }

    /// Inserts a typed or pasted text without control characters. A text that would become longer than a prompt may be is refused.
    pub(super) fn insert(&mut self, text: &str) {
        let text = flightdeck_core::text::without_controls(&text.replace("\r\n", "\n").replace('\r', "\n"));
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
pub(super) struct FormInput {
    pub(super) ask: AskId,
    schema: Map<String, Value>,
    names: Vec<String>,
    pub(super) content: Map<String, Value>,
}

impl FormInput {
    /// `None` if the form has no fields.
    pub(super) fn new(ask: &AskCard) -> Option<Self> {
        let schema = ask.requested_schema.clone()?;
        let names: Vec<String> = form_fields(&schema).map(|field| field.name.to_owned()).collect();
        (!names.is_empty()).then(|| Self { ask: ask.id.clone(), schema, names, content: Map::new() })
    }

    fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    fn field(&self) -> Option<FormField<'_>> {
        form_fields(&self.schema).find(|field| field.name == self.name())
    }

    /// What to type now.
    pub(super) fn label(&self) -> String {
        let Some(field) = self.field() else { return String::new() };
        field_words(&field)
    }

    fn is_required(&self) -> bool {
        self.field().is_some_and(|field| field.is_required)
    }

    /// What the text means in the present field: a choice by its first letters, yes or no, or a value of the field's type.
    fn field_value(&self, name: &str, text: &str) -> Result<Value, String> {
        let choices = self.field().map_or(&[][..], |field| field.choices);
        match field_type(&self.schema, name) {
            Some(FieldType::Text) | None if choices.is_empty() => Ok(Value::from(text)),
            Some(FieldType::Text) | None => matching_choice(choices, text).ok_or_else(|| {
                let names: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
                format!("{name} is one of: {}", names.join(", "))
            }),
            Some(FieldType::Boolean) => match text.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(Value::from(true)),
                "n" | "no" | "false" => Ok(Value::from(false)),
                _ => Err(format!("{name} needs yes or no, not {text:?}")),
            },
            Some(kind) => serde_json::from_str(text)
                .map_err(|_| format!("{name} needs a {}, not {text:?}", kind.as_str())),
        }
    }

    /// Takes the value of the present field. `Ok(true)` if it was the last one; `Err` says what is wrong with the value.
    pub(super) fn fill(&mut self, text: &str) -> Result<bool, String> {
        let name = self.name().to_owned();
        if text.is_empty() && self.is_required() {
            return Err(format!("{name} must be filled in"));
        }
        if !text.is_empty() {
            let value = self.field_value(&name, text)?;
            self.content.insert(name, value);
        }
        self.names.remove(0);
        Ok(self.names.is_empty())
    }
}

/// A field and what it takes, such as `env (choice, required) test, live`.
pub(super) fn field_words(field: &FormField<'_>) -> String {
    let kind = match field.kind {
        None | Some(FieldType::Text) if !field.choices.is_empty() => "choice",
        None | Some(FieldType::Text) => "text",
        Some(FieldType::Boolean) => "yes or no",
        Some(other) => other.as_str(),
    };
    let must = if field.is_required { ", required" } else { "" };
    let choices = field.choices.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
    format!("{} ({kind}{must}) {choices}", field.name).trim_end().to_owned()
}

/// The choice with this text, or the only one that begins with it.
fn matching_choice(choices: &[Value], text: &str) -> Option<Value> {
    let is = |choice: &&Value| choice.as_str().is_some_and(|choice| choice == text);
    let begins = |choice: &&Value| {
        choice.as_str().is_some_and(|choice| choice.to_lowercase().starts_with(&text.to_lowercase()))
    };
    let mut beginning = choices.iter().filter(begins);
    let only = beginning.next().filter(|_| beginning.next().is_none());
    choices.iter().find(is).or(only).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[KeyCode]) -> TextInput {
        let mut input = TextInput::new(InputPurpose::Search, "");
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
    fn a_field_takes_yes_or_no_and_the_beginning_of_a_choice() {
        let schema = serde_json::json!({"type": "object", "properties": {
            "live": {"type": "boolean"}, "env": {"type": "string", "enum": ["test", "staging", "live"]}}});
        let names = vec!["live".to_owned(), "env".to_owned()];
        let schema = schema.as_object().unwrap().clone();
        let mut form = FormInput { ask: "a".into(), schema, names, content: Map::new() };
        assert_eq!(form.label(), "live (yes or no)");
        assert_eq!(form.fill("perhaps"), Err("live needs yes or no, not \"perhaps\"".to_owned()));
        assert_eq!(form.fill("Yes"), Ok(false));
        assert_eq!(form.label(), "env (choice) test, staging, live");
        assert_eq!(form.fill("prod"), Err("env is one of: test, staging, live".to_owned()));
        assert_eq!(form.fill("st"), Ok(true));
        assert_eq!(Value::Object(form.content), serde_json::json!({"live": true, "env": "staging"}));
    }

    #[test]
    fn a_paste_keeps_its_lines_and_loses_its_controls() {
        let mut input = TextInput::new(InputPurpose::Search, "");
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
