//! The arguments of each socket command, found out from its request type: the fields that it reads, which of them it needs, and
//! the kinds of JSON that each takes. `flightdeck rpc --list` prints them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::shape::{Shape, shape_of};
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
pub fn command_schemas() -> Vec<CommandSchema> {
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
    let properties: Map<String, Value> =
        known.iter().map(|field| ((*field).to_owned(), property::<R>(&given, field))).collect();
    let required: Vec<&str> = known.iter().copied().filter(|field| is_required::<R>(&given, field)).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Another spelling of a field, which some requests take.
fn is_alias(field: &str) -> bool {
    field.chars().any(|c| c.is_ascii_uppercase())
}

/// Whether the request needs this field: without the field, the example does not parse.
fn is_required<R: DeserializeOwned>(example: &Map<String, Value>, field: &str) -> bool {
    let mut without = example.clone();
    example.contains_key(field) && without.remove(field).is_some() && !reads::<R>(without)
}

/// The schema of one argument. An argument that is an object of ours is described down to its last field.
fn property<R: DeserializeOwned>(example: &Map<String, Value>, field: &'static str) -> Value {
    match shape_of::<R>(&[field]) {
        Some(Shape::Struct(_)) => inner_schema::<R>(example, &mut vec![field]),
        _ => json!({ "type": kinds::<R>(example, field) }),
    }
}

/// The schema of the value at a path of fields in a request. A field is required if the example does not parse without it.
fn inner_schema<R: DeserializeOwned>(request: &Map<String, Value>, path: &mut Vec<&'static str>) -> Value {
    match shape_of::<R>(path) {
        Some(Shape::Struct(fields)) => {
            let mut properties = Map::new();
            for field in fields.iter().filter(|field| !is_alias(field)) {
                path.push(field);
                let value = inner_schema::<R>(request, path);
                path.pop();
                properties.insert((*field).to_owned(), value);
            }
            let required: Vec<_> =
                fields.iter().filter(|field| is_needed::<R>(request, path, field)).collect();
            json!({ "type": "object", "properties": properties, "required": required })
        }
        Some(Shape::Words(words)) => json!({ "type": "string", "enum": words }),
        Some(Shape::List) => {
            path.push(Shape::ITEM);
            let items = inner_schema::<R>(request, path);
            path.pop();
            json!({ "type": "array", "items": items })
        }
        Some(Shape::Plain(kind)) => json!({ "type": kind }),
        // The Rust type of the field does not say what it takes.
        Some(Shape::Any) | None => match path.as_slice() {
            [.., "phases", Shape::ITEM] => phase_schema(),
            _ => json!({}),
        },
    }
}

/// A phase of a skill: its name, or its name with directives.
fn phase_schema() -> Value {
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    let with_directives = json!({ "type": "object", "properties": { "name": { "type": "string" }, "directives": strings },
        "required": ["name", "directives"] });
    json!({ "anyOf": [{ "type": "string" }, with_directives] })
}

/// Whether the request does not parse without this field of the object at the path.
fn is_needed<R: DeserializeOwned>(request: &Map<String, Value>, path: &[&str], field: &str) -> bool {
    let mut without = Value::Object(request.clone());
    let object = without.pointer_mut(&format!("/{}", path.join("/"))).and_then(Value::as_object_mut);
    object.is_some_and(|object| object.remove(field).is_some())
        && serde_json::from_value::<R>(without).is_err()
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
    // The field may refuse a sample although the kind is right, such as a word that it does not know.
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
    match shape_of::<R>(&[]) {
        Some(Shape::Struct(fields)) => Some(fields),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn every_command_has_a_schema_that_its_example_fits() {
        for CommandSchema { command, arguments, example, .. } in command_schemas() {
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
        let all = command_schemas();
        let alias = all.iter().find(|known| known.command == "session.finish").unwrap();
        let meant = all.iter().find(|known| known.command == "window.finish").unwrap();
        assert_eq!((alias.alias_of, &alias.arguments), (Some("window.finish"), &meant.arguments));
        assert!(all.iter().any(|known| known.command == "agent.directives.discover"));
    }

    #[test]
    fn a_schema_has_the_kinds_of_its_fields() {
        let phase = command_schemas().into_iter().find(|known| known.command == "effort.phase").unwrap();
        expect![[r#"{"type":"object","properties":{"id":{"type":["string"]},"phase":{"type":["string"]},"proof":{"type":["string"]}},"required":["id","phase"]}"#]]
            .assert_eq(&phase.arguments.to_string());
        let call = command_schemas().into_iter().find(|known| known.command == "hooks.preToolUse").unwrap();
        assert_eq!(call.arguments["properties"]["tool_input"]["type"], json!(["object"]));
        assert_eq!(
            call.arguments["required"].as_array().unwrap().len(),
            7,
            "the permission mode may be absent"
        );
    }

    #[test]
    fn an_argument_that_is_an_object_is_described_down_to_its_fields() {
        let all = command_schemas();
        let argument = |command: &str, field: &str| {
            let found = all.iter().find(|known| known.command == command).unwrap();
            found.arguments["properties"][field].to_string()
        };
        expect![[r#"{"type":"object","properties":{"id":{"type":"string"},"when":{"type":"object","properties":{"field":{"type":"string"},"op":{"type":"string","enum":["eq","ne","contains","glob","regex","gt","lt","in","exists"]},"value":{}},"required":["field","op"]},"then":{"type":"string","enum":["allow","warn","deny","inject"]},"message":{"type":"string"},"once":{"type":"boolean"},"priority":{"type":"integer"}},"required":["id","when","then"]}"#]].assert_eq(&argument("guard.set", "rule"));
        expect![[r#"{"type":"object","properties":{"phases":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"object","properties":{"name":{"type":"string"},"directives":{"type":"array","items":{"type":"string"}}},"required":["name","directives"]}]}},"preload":{"type":"array","items":{"type":"string"}},"heartbeat":{"type":"integer"},"log_template":{"type":"string"},"directives":{"type":"array","items":{"type":"string"}}},"required":[]}"#]].assert_eq(&argument("effort.start", "settings"));
        assert_eq!(argument("guard.test", "rule").matches("\"enum\"").count(), 2);
        for phase in [json!("1: Plan"), json!({"name": "2: Build", "directives": ["BUILD.md"]})] {
            let start = json!({"dir": "/", "skill": "x", "settings": {"phases": [phase]}});
            assert!(serde_json::from_value::<StartEffort>(start).is_ok(), "{phase}");
        }
    }
}
