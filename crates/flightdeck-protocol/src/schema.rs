//! The arguments of each socket command, found out from its request type: the fields that it reads, which of them it needs, and
//! the kinds of JSON that each takes. `flightdeck rpc --list` prints them.

use std::fmt;

use serde::Serialize;
use serde::de::{self, DeserializeOwned, Deserializer, Visitor, value::Error as ProbeError};
use serde_json::{Map, Value, json};

use crate::types::*;
use crate::{ALIASES, ApiRequest, SocketCommand};

/// One command of the socket.
#[derive(Clone, Debug, Serialize)]
pub struct CommandSchema {
    pub command: &'static str,
    /// The command that this is another name of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias_of: Option<&'static str>,
    pub summary: &'static str,
    /// A JSON Schema of its arguments.
    pub arguments: Value,
    pub example: Value,
}

/// Every command of the table, in its order.
pub fn commands() -> Vec<CommandSchema> {
    let mut all = Vec::new();
    macro_rules! list {
        ($(
            $request:ident -> $reply:ty, $summary:literal {
                $(socket $command:literal $(by $special:ident)?, example $example:tt;)?
                $(http $method:ident $path:literal $(by $handler:ident)? $(, $about:literal)? [$($responses:tt)*];)*
            }
        )*) => {
            $($(
                let _: &str = $command;
                all.push(command_schema::<$request>());
            )?)*
        };
    }
    crate::endpoints!(list);
    for (alias, command) in ALIASES {
        let meant = all.iter().find(|known| known.command == command).cloned();
        all.extend(meant.map(|meant| CommandSchema { command: alias, alias_of: Some(command), ..meant }));
    }
    all
}

fn command_schema<R: SocketCommand>() -> CommandSchema {
    let example = (R::ENDPOINT.example)();
    CommandSchema {
        command: R::COMMAND,
        alias_of: None,
        summary: <R as ApiRequest>::ENDPOINT.summary,
        arguments: arguments::<R>(&example),
        example,
    }
}

fn arguments<R: DeserializeOwned>(example: &Value) -> Value {
    let Some(fields) = fields_of::<R>() else { return json!({ "type": "object" }) };
    let given = example.as_object().cloned().unwrap_or_default();
    let known: Vec<&str> = fields.iter().copied().filter(|field| !is_alias(field)).collect();
    let properties: Map<String, Value> = known
        .iter()
        .map(|field| ((*field).to_owned(), json!({ "type": kinds::<R>(&given, field) })))
        .collect();
    let required: Vec<&str> = known.iter().copied().filter(|field| is_required::<R>(&given, field)).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Another spelling of a field, which some requests take.
fn is_alias(field: &str) -> bool {
    field.chars().any(|c| c.is_ascii_uppercase())
}

/// Without this field the example is no request.
fn is_required<R: DeserializeOwned>(example: &Map<String, Value>, field: &str) -> bool {
    let mut without = example.clone();
    example.contains_key(field) && without.remove(field).is_some() && !reads::<R>(without)
}

/// The kinds of JSON that the field takes.
fn kinds<R: DeserializeOwned>(example: &Map<String, Value>, field: &str) -> Vec<&'static str> {
    let samples = [
        ("string", json!("a")),
        ("integer", json!(1)),
        ("boolean", json!(true)),
        ("array", json!([])),
        ("object", json!({})),
    ];
    let takes = |sample: &Value| {
        let mut with = example.clone();
        with.insert(field.to_owned(), sample.clone());
        reads::<R>(with)
    };
    let mut kinds: Vec<_> =
        samples.iter().filter(|(_, sample)| takes(sample)).map(|(kind, _)| *kind).collect();
    // A sample of the right kind may still be no value that the field takes.
    if let (true, Some(given)) = (kinds.is_empty(), example.get(field)) {
        kinds.push(kind_of(given));
    }
    if kinds.is_empty() {
        kinds.push("object");
    }
    kinds
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn reads<R: DeserializeOwned>(args: Map<String, Value>) -> bool {
    serde_json::from_value::<R>(Value::Object(args)).is_ok()
}

/// The names of the fields that a request reads; `None` if it takes any object.
fn fields_of<R: DeserializeOwned>() -> Option<&'static [&'static str]> {
    let mut found = None;
    // The probe gives no value, so reading always ends with an error. Only the names count.
    let _ = R::deserialize(FieldProbe { found: &mut found });
    found
}

/// Notes the fields that a struct asks for.
struct FieldProbe<'a> {
    found: &'a mut Option<&'static [&'static str]>,
}

impl<'de> Deserializer<'de> for FieldProbe<'_> {
    type Error = ProbeError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ProbeError> {
        Err(de::Error::custom(NoValue))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, ProbeError> {
        *self.found = Some(fields);
        Err(de::Error::custom(NoValue))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct NoValue;

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a probe has no value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn every_command_has_a_schema_that_its_example_fits() {
        for CommandSchema { command, arguments, example, .. } in commands() {
            for field in arguments["required"].as_array().into_iter().flatten() {
                assert!(example.get(field.as_str().unwrap()).is_some(), "{command}: {field}");
            }
            let Some(known) = arguments["properties"].as_object() else { continue };
            for name in example.as_object().unwrap().keys() {
                assert!(known.contains_key(name), "{command}: {name}");
            }
        }
    }

    #[test]
    fn both_names_of_a_command_are_listed() {
        let all = commands();
        let alias = all.iter().find(|known| known.command == "session.finish").unwrap();
        let meant = all.iter().find(|known| known.command == "window.finish").unwrap();
        assert_eq!((alias.alias_of, &alias.arguments), (Some("window.finish"), &meant.arguments));
        assert!(all.iter().any(|known| known.command == "agent.directives.discover"));
    }

    #[test]
    fn a_schema_has_the_kinds_of_its_fields() {
        let phase = commands().into_iter().find(|known| known.command == "effort.phase").unwrap();
        expect![[r#"{"type":"object","properties":{"id":{"type":["string"]},"phase":{"type":["string"]},"proof":{"type":["string"]}},"required":["id","phase"]}"#]]
            .assert_eq(&phase.arguments.to_string());
        let call = commands().into_iter().find(|known| known.command == "hooks.preToolUse").unwrap();
        assert_eq!(call.arguments["properties"]["tool_input"]["type"], json!(["object"]));
        assert_eq!(
            call.arguments["required"].as_array().unwrap().len(),
            7,
            "the permission mode may be absent"
        );
    }
}
