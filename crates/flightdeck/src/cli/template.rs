//! `--format '{project}: {label}'`: one line of text for each session, for scripts.

use anyhow::bail;
use flightdeck_core::text::without_controls;
use serde_json::Value;

/// Short names of fields that lie deeper in a card.
const SHORT_NAMES: [(&str, &str); 14] = [
    ("branch", "git_branch"),
    ("context", "context.percent"),
    ("cost", "cost.usd_micros"),
    ("group", "agent_state.group"),
    ("label", "agent_state.label"),
    ("pane", "seat.pane"),
    ("path", "project.path"),
    ("pid", "seat.pid"),
    ("project", "project.name"),
    ("reason", "status.reason"),
    ("since", "agent_state.since"),
    ("state", "agent_state.state"),
    ("status", "status.kind"),
    ("tmux_socket", "seat.tmux_socket"),
];

/// A text with the fields of a card in braces. `{{` and `}}` are braces, `\\t` and `\\n` a tab and a new line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CardTemplate(Vec<TemplatePiece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    /// A path into the JSON of a card: `agent_state.label`.
    Field(String),
}

impl std::str::FromStr for CardTemplate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut pieces, mut literal) = (Vec::new(), String::new());
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match (c, chars.peek()) {
                ('{', Some('{')) | ('}', Some('}')) | ('\\', Some('\\')) => literal.extend(chars.next()),
                ('\\', Some('t')) => literal.extend(chars.next().map(|_| '\t')),
                ('\\', Some('n')) => literal.extend(chars.next().map(|_| '\n')),
                ('{', _) => {
                    let name: String = chars.by_ref().take_while(|c| *c != '}').collect();
                    pieces.push(TemplatePiece::Text(std::mem::take(&mut literal)));
                    pieces.push(TemplatePiece::Field(parse_field(&name)?));
                }
                _ => literal.push(c),
            }
        }
        pieces.push(TemplatePiece::Text(literal));
        Ok(Self(pieces))
    }
}

fn parse_field(name: &str) -> Result<String, String> {
    let known = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if name.is_empty() || !name.chars().all(known) {
        return Err(format!("{{{name}}} is not a field: write {{id}}, {{project}}, {{state}}, {{label}}, …"));
    }
    let short = SHORT_NAMES.iter().find(|(short, _)| *short == name);
    Ok(short.map_or(name, |(_, path)| path).to_owned())
}

impl CardTemplate {
    /// The line of one card, given as JSON. A field without a value is empty.
    pub(super) fn fill(&self, card: &Value) -> anyhow::Result<String> {
        let mut line = String::new();
        for piece in &self.0 {
            match piece {
                TemplatePiece::Text(text) => line += text,
                TemplatePiece::Field(path) => line += &value_at(card, path)?,
            }
        }
        Ok(line)
    }
}

fn value_at(card: &Value, path: &str) -> anyhow::Result<String> {
    let mut value = card;
    for name in path.split('.') {
        value = match value {
            Value::Null => return Ok(String::new()),
            Value::Array(items) => {
                name.parse().ok().and_then(|at: usize| items.get(at)).unwrap_or(&Value::Null)
            }
            _ => match value.get(name) {
                Some(inner) => inner,
                None => bail!("a session has no field {path}: see `flightdeck ls --json`"),
            },
        };
    }
    Ok(match value {
        Value::Null => String::new(),
        Value::String(text) => without_controls(text).replace('\n', " "),
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(template: &str) -> String {
        let card = json!({"id": "a1", "project": {"name": "api"}, "agent_state": {"label": "Asks:\nwhich?"},
            "context": null, "seat": {"pid": 7}, "asks": [{"id": "q"}]});
        template.parse::<CardTemplate>().unwrap().fill(&card).unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn fields_are_filled_by_short_name_or_path() {
        assert_eq!(filled("{id}\\t{project}: {label}"), "a1\tapi: Asks: which?");
        assert_eq!(filled("{seat.pid} {pid} {asks.0.id} [{context}]"), "7 7 q []");
        assert_eq!(filled("{{id}} 100%"), "{id} 100%");
    }

    #[test]
    fn a_name_that_no_card_has_is_an_error() {
        assert!(filled("{nonsense}").contains("no field nonsense"));
        assert!("{a b}".parse::<CardTemplate>().is_err() && "{}".parse::<CardTemplate>().is_err());
    }
}
