//! Checks the form of an elicitation. The client passes a hook's answer to the server unchecked (measured).
//!
//! MCP keeps these forms flat: an object of texts, numbers, booleans and choices.

use serde_json::{Map, Value};

use crate::wire::lenient::{borrowed_text, list, object};

/// Returns why the content does not match the schema, as a sentence that names the field.
pub fn check_form(schema: Option<&Map<String, Value>>, content: &Map<String, Value>) -> Result<(), String> {
    let Some(schema) = schema else { return Ok(()) };
    let empty = Map::new();
    let fields = object(schema, "properties").unwrap_or(&empty);
    let required = list(schema, "required").iter().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| content.get(*name).is_none_or(Value::is_null)) {
        return Err(format!("the field `{missing}` is required"));
    }
    for (name, value) in content {
        let Some(field) = object(fields, name) else {
            return Err(format!("the form has no field `{name}`"));
        };
        if !value.is_null() {
            check_value(name, field, value)?;
        }
    }
    Ok(())
}

/// The type that a form gives one of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType<'a> {
    Text,
    Number,
    Integer,
    Boolean,
    List,
    /// A type that MCP does not allow in forms.
    Other(&'a str),
}

impl<'a> FieldType<'a> {
    fn new(name: &'a str) -> Self {
        match name {
            "string" => Self::Text,
            "number" => Self::Number,
            "integer" => Self::Integer,
            "boolean" => Self::Boolean,
            "array" => Self::List,
            other => Self::Other(other),
        }
    }

    /// The name of the type in the schema.
    pub fn as_str(self) -> &'a str {
        match self {
            Self::Text => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::List => "array",
            Self::Other(name) => name,
        }
    }
}

/// One field of a form, as its schema describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct FormField<'a> {
    pub name: &'a str,
    /// `None` if the schema gives it no type.
    pub kind: Option<FieldType<'a>>,
    pub title: Option<&'a str>,
    pub description: Option<&'a str>,
    /// The values that may be chosen. Empty if any value of the type is possible.
    pub choices: &'a [Value],
    pub is_required: bool,
}

/// The fields of a form in the order of its schema.
pub fn form_fields(schema: &Map<String, Value>) -> impl Iterator<Item = FormField<'_>> {
    let required = list(schema, "required");
    let is_required = move |name: &str| required.iter().any(|required| required == name);
    let properties = object(schema, "properties").into_iter().flatten();
    properties.map(move |(name, property)| {
        let text = |key: &str| property.as_object().and_then(|field| borrowed_text(field, key));
        FormField {
            name,
            kind: text("type").map(FieldType::new),
            title: text("title"),
            description: text("description"),
            choices: property.as_object().map_or(&[][..], |field| list(field, "enum")),
            is_required: is_required(name),
        }
    })
}

/// The type of a field. `None` if the form has no such field, or gives it no type.
pub fn field_type<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<FieldType<'a>> {
    form_fields(schema).find(|field| field.name == name)?.kind
}

fn check_value(name: &str, field: &Map<String, Value>, value: &Value) -> Result<(), String> {
    if let Some(kind) = borrowed_text(field, "type").map(FieldType::new)
        && !is_of_type(value, kind)
    {
        return Err(format!("the field `{name}` wants {}", expected_value(kind)));
    }
    let choices = list(field, "enum");
    if !choices.is_empty() && !choices.contains(value) {
        return Err(format!("{value} is not among the choices of `{name}`"));
    }
    Ok(())
}

fn is_of_type(value: &Value, kind: FieldType<'_>) -> bool {
    match kind {
        FieldType::Text => value.is_string(),
        FieldType::Number => value.is_number(),
        FieldType::Integer => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        FieldType::Boolean => value.is_boolean(),
        FieldType::List => value.is_array(),
        FieldType::Other(_) => true,
    }
}

fn expected_value(kind: FieldType<'_>) -> String {
    match kind {
        FieldType::Text => "text".to_owned(),
        FieldType::Integer => "a whole number".to_owned(),
        FieldType::Boolean => "true or false".to_owned(),
        other => format!("a {}", other.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check_all(schema: &Value, content: &Value) -> Result<(), String> {
        check_form(schema.as_object(), content.as_object().unwrap())
    }

    #[test]
    fn a_form_is_checked_field_by_field() {
        let schema = json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "size": {"type": "integer"}, "fast": {"type": "boolean"},
            "colour": {"type": "string", "enum": ["red", "blue"]}}});
        let refused = |content: Value| check_all(&schema, &content).unwrap_err();
        assert_eq!(check_all(&schema, &json!({"name": "x", "size": 3.0, "colour": "red"})), Ok(()));
        assert_eq!(refused(json!({"size": 3})), "the field `name` is required");
        assert_eq!(refused(json!({"name": 3})), "the field `name` wants text");
        assert_eq!(refused(json!({"name": "x", "size": 1.5})), "the field `size` wants a whole number");
        assert_eq!(refused(json!({"name": "x", "fast": "yes"})), "the field `fast` wants true or false");
        assert_eq!(
            refused(json!({"name": "x", "colour": "green"})),
            "\"green\" is not among the choices of `colour`"
        );
        assert_eq!(refused(json!({"name": "x", "nmae": "y"})), "the form has no field `nmae`");
    }

    #[test]
    fn the_fields_of_a_form_are_read_in_its_order() {
        let schema = json!({"required": ["env"], "properties": {
            "env": {"type": "string", "title": "Where", "enum": ["test", "live"]}, "note": true}});
        let [env, note] =
            <[FormField<'_>; 2]>::try_from(form_fields(schema.as_object().unwrap()).collect::<Vec<_>>())
                .unwrap();
        assert_eq!((env.name, env.kind, env.is_required), ("env", Some(FieldType::Text), true));
        assert_eq!((env.title, env.choices), (Some("Where"), &[json!("test"), json!("live")][..]));
        assert_eq!((note.name, note.kind, note.is_required, note.choices), ("note", None, false, &[][..]));
    }

    #[test]
    fn a_field_has_the_type_that_the_schema_names() {
        let schema = json!({"properties": {"a": {"type": "string"}, "b": {"type": "array"},
            "c": {"type": "date"}, "d": {}}});
        let kind = |name| field_type(schema.as_object().unwrap(), name);
        let kinds = ["a", "b", "c", "d", "e"].map(kind);
        assert_eq!(
            kinds,
            [Some(FieldType::Text), Some(FieldType::List), Some(FieldType::Other("date")), None, None]
        );
        for name in ["string", "number", "integer", "boolean", "array", "date"] {
            assert_eq!(FieldType::new(name).as_str(), name);
        }
    }
}
