//! Time in the core: milliseconds since 1970, always passed as an argument.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, to the millisecond. On the wire: RFC 3339 in UTC with three decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A length of time in whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Millis(pub i64);

impl Millis {
    pub const fn seconds(n: i64) -> Self {
        Self(n * 1000)
    }
    pub const fn minutes(n: i64) -> Self {
        Self::seconds(n * 60)
    }
    pub const fn hours(n: i64) -> Self {
        Self::minutes(n * 60)
    }
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }
}

impl Timestamp {
    /// Clamped to the years 1970 to 9999, which RFC 3339 can express in every time zone.
    pub fn from_millis(ms: i64) -> Self {
        Self(ms.clamp(0, 253_402_200_000_000))
    }
    pub fn as_millis(self) -> i64 {
        self.0
    }
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|t| Self::from_millis(t.as_millisecond()))
    }
}

impl Add<Millis> for Timestamp {
    type Output = Self;
    fn add(self, by: Millis) -> Self {
        Self::from_millis(self.0.saturating_add(by.0))
    }
}

impl Sub<Millis> for Timestamp {
    type Output = Self;
    fn sub(self, by: Millis) -> Self {
        Self::from_millis(self.0.saturating_sub(by.0))
    }
}

impl Sub for Timestamp {
    type Output = Millis;
    fn sub(self, earlier: Self) -> Millis {
        Millis(self.0 - earlier.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(t) => write!(f, "{t:.3}"),
            Err(_) => f.write_str("1970-01-01T00:00:00.000Z"),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("not an RFC 3339 time: {text}")))
    }
}

/// On the wire a time is its text.
#[cfg(feature = "ts")]
impl ts_rs::TS for Timestamp {
    type WithoutGenerics = Self;
    type OptionInnerType = Self;
    fn name(_: &ts_rs::Config) -> String {
        "string".to_owned()
    }
    fn inline(config: &ts_rs::Config) -> String {
        Self::name(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_back_from_its_own_text() {
        let at = Timestamp::from_millis(1_794_768_451_273);
        assert_eq!(at.to_string(), "2026-11-15T18:47:31.273Z");
        assert_eq!(Timestamp::parse(&at.to_string()), Some(at));
    }

    #[test]
    fn a_moment_out_of_range_is_clamped_and_still_reads_back() {
        for ms in [i64::MIN, -1, i64::MAX] {
            let at = Timestamp::from_millis(ms);
            assert_eq!(Timestamp::parse(&at.to_string()), Some(at), "{ms}");
        }
    }
}
