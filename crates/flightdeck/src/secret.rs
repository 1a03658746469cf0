//! A secret: it can be used and compared, but not printed.

use std::fmt;

use serde::Deserialize;

/// Compares in constant time.
pub(crate) fn equal_in_constant_time(given: &str, secret: &str) -> bool {
    let differ = given.bytes().zip(secret.bytes()).fold(0, |d, (a, b)| d | (a ^ b));
    given.len() == secret.len() && differ == 0
}

#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub(crate) fn equals(&self, given: &str) -> bool {
        equal_in_constant_time(given, &self.0)
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
