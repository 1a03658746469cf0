//! Checks the form of an elicitation. The client passes a hook's answer to the server unchecked (measured).
//!
//! MCP keeps these forms flat: an object of texts, numbers, truth values and choices.

use serde_json::{Map, Value};

use crate::wire::lenient::{borrowed_text, list, object};

/// Returns why the content does not match the schema, as a sentence that names the field.
pub fn check(schema: Option<&Map<String, Value>>, content: &Map<String, Value>) -> Result<(), String> {
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
            fits(name, field, value)?;
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
    /// A type that forms are not meant to have.
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

    /// Its name in the schema.
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

/// `None` if the form has no such field, or gives it no type.
pub fn field_type<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<FieldType<'a>> {
    borrowed_text(object(object(schema, "properties")?, name)?, "type").map(FieldType::new)
}

fn fits(name: &str, field: &Map<String, Value>, value: &Value) -> Result<(), String> {
    if let Some(kind) = borrowed_text(field, "type").map(FieldType::new)
        && !is_of_type(value, kind)
    {
        return Err(format!("the field `{name}` wants {}", article(kind)));
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

fn article(kind: FieldType<'_>) -> String {
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
        check(schema.as_object(), content.as_object().unwrap())
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
