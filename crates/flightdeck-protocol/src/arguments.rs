//! Numbers and flags of a request. In a query string they come as text, over the socket as JSON.

use std::fmt::Display;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;

/// Reads a flag. It is set by `true`, and by every text and number except `0` and `false`.
pub fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    match Option::<Value>::deserialize(from)? {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(flag),
        Some(Value::String(text)) => Ok(text != "0" && text != "false"),
        Some(Value::Number(number)) => Ok(number.as_f64() != Some(0.0)),
        Some(_) => Err(D::Error::custom("expected true or false")),
    }
}

/// A flag that may be absent.
pub fn maybe_flag<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    match Option::<Value>::deserialize(from)? {
        None | Some(Value::Null) => Ok(None),
        Some(value) => flag(value).map(Some).map_err(D::Error::custom),
    }
}

/// A whole number that may be absent.
pub fn number<'de, D, N>(from: D) -> Result<Option<N>, D::Error>
where
    D: Deserializer<'de>,
    N: FromStr<Err: Display> + TryFrom<u64>,
{
    let unfit = |value: &Value| D::Error::custom(format_args!("expected a whole number, not {value}"));
    match Option::<Value>::deserialize(from)? {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            text.parse().map(Some).map_err(|error| D::Error::custom(format_args!("{text:?}: {error}")))
        }
        Some(value) => {
            let number = value.as_u64().and_then(|n| N::try_from(n).ok());
            number.map(Some).ok_or_else(|| unfit(&value))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Arguments {
        #[serde(deserialize_with = "flag")]
        all: bool,
        #[serde(deserialize_with = "maybe_flag")]
        pause: Option<bool>,
        #[serde(deserialize_with = "number")]
        limit: Option<usize>,
    }

    fn read(args: Value) -> Result<Arguments, String> {
        serde_json::from_value(args).map_err(|error| error.to_string())
    }

    #[test]
    fn text_and_json_mean_the_same() {
        let wanted = Arguments { all: true, pause: Some(false), limit: Some(3) };
        assert_eq!(read(json!({"all": "1", "pause": "0", "limit": "3"})).unwrap(), wanted);
        assert_eq!(read(json!({"all": true, "pause": false, "limit": 3})).unwrap(), wanted);
    }

    #[test]
    fn an_absent_argument_and_null_are_the_default() {
        assert_eq!(read(json!({})).unwrap(), Arguments::default());
        assert_eq!(read(json!({"all": null, "pause": null, "limit": null})).unwrap(), Arguments::default());
    }

    #[test]
    fn a_number_that_is_none_is_refused() {
        for limit in [json!("many"), json!(-1), json!([]), json!(1.5)] {
            assert!(read(json!({ "limit": limit })).is_err(), "{limit}");
        }
    }
}
