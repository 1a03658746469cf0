//! The arguments of socket commands. Scripts of other tools write their names in camelCase; everything behind this has snake_case.

use flightdeck_core::wire::hook::snake_case;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::AppError;

/// The arguments of one command, with names in snake_case.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    pub fields: Map<String, Value>,
    /// The sender wrote camelCase, so an error names a field in camelCase.
    is_camel: bool,
}

impl Arguments {
    /// Translates the names of the arguments to snake_case. Names inside the values do not change.
    pub fn new(args: Map<String, Value>) -> Self {
        let is_camel = args.keys().any(|name| snake_case(name) != *name);
        let fields = match is_camel {
            true => args.into_iter().map(|(name, value)| (snake_case(&name), value)).collect(),
            false => args,
        };
        Self { fields, is_camel }
    }

    /// Reads the arguments as the request `R`. The error names the argument that is missing or has the wrong type.
    pub fn read<R: DeserializeOwned>(self) -> Result<R, AppError> {
        let is_camel = self.is_camel;
        let name = |field: &str| if is_camel { camel_case(field) } else { field.to_owned() };
        serde_path_to_error::deserialize(Value::Object(self.fields)).map_err(|error| {
            let (path, why) = (error.path().to_string(), error.inner().to_string());
            let missing = why.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
            let why = match missing.filter(|_| path == ".") {
                Some(field) => format!("missing field `{}`", name(field)),
                None => why,
            };
            let (first, rest) = path.split_at(path.find('.').unwrap_or(path.len()));
            let field = if path == "." { String::new() } else { format!("`{}{rest}`: ", name(first)) };
            AppError::Invalid(format!("the arguments are not understood: {field}{why}"))
        })
    }

    /// The name of a field in the sender's spelling.
    pub fn spelled(&self, field: &str) -> String {
        if self.is_camel { camel_case(field) } else { field.to_owned() }
    }
}

/// `hook_event_name` → `hookEventName`
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |whole, word| {
        let mut chars = word.chars();
        whole + &chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
    })
}
