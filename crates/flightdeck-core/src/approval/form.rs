//! Checks the form of an elicitation. The client passes a hook's answer to the server unchecked (measured).
//!
//! MCP keeps these forms flat: an object of texts, numbers, truth values and choices.

use serde_json::{Map, Value};

use crate::wire::lenient::{list, object, str};

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

fn fits(name: &str, field: &Map<String, Value>, value: &Value) -> Result<(), String> {
    let kind = str(field, "type").unwrap_or_default();
    let right = match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        _ => true,
    };
    if !right {
        return Err(format!("the field `{name}` wants {}", article(kind)));
    }
    let choices = list(field, "enum");
    if !choices.is_empty() && !choices.contains(value) {
        return Err(format!("{value} is not among the choices of `{name}`"));
    }
    Ok(())
}

fn article(kind: &str) -> String {
    match kind {
        "string" => "text".to_owned(),
        "integer" => "a whole number".to_owned(),
        "boolean" => "true or false".to_owned(),
        other => format!("a {other}"),
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
}
