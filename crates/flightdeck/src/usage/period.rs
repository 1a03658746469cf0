//! Days and hours in the person's time zone, and the start of a report.

use flightdeck_core::time::{Millis, Timestamp};
use jiff::tz::TimeZone;

/// One day or one hour in a time zone, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) from: i64,
    pub(super) to: i64,
}

impl Period {
    pub(super) fn day_of(at: Timestamp, zone: &TimeZone) -> Self {
        let ms = at.as_millis();
        let day = jiff::Timestamp::from_millisecond(ms).ok().map(|t| t.to_zoned(zone.clone()));
        let bound = |z: Result<jiff::Zoned, jiff::Error>| z.ok().map(|z| z.timestamp().as_millisecond());
        let from = day.as_ref().and_then(|d| bound(d.start_of_day()));
        let to = day.as_ref().and_then(|d| bound(d.tomorrow().and_then(|t| t.start_of_day())));
        Self { from: from.unwrap_or(ms), to: to.unwrap_or(ms + 1) }
    }

    /// The hour that contains `at`, in local time.
    pub(super) fn hour_of(at: Timestamp, zone: &TimeZone) -> Self {
        let ms = at.as_millis();
        let offset = jiff::Timestamp::from_millisecond(ms).map_or(0, |t| zone.to_offset(t).seconds());
        let local = ms + i64::from(offset) * 1000;
        let from = ms - local.rem_euclid(Millis::hours(1).0);
        Self { from, to: from + Millis::hours(1).0 }
    }

    pub(super) fn name(self, zone: &TimeZone) -> String {
        let start = jiff::Timestamp::from_millisecond(self.from).unwrap_or_default();
        start.to_zoned(zone.clone()).date().to_string()
    }
}

/// Local midnight.
pub fn start_of_today(now: Timestamp, zone: &TimeZone) -> Timestamp {
    Timestamp::from_millis(Period::day_of(now, zone).from)
}

/// Parses the start of a report: `today`, `7d`, a date, or an RFC 3339 time.
pub fn parse_since(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let midnight = start_of_today(now, zone);
    if text == "today" {
        return Some(midnight);
    }
    if let Some(days) =
        text.strip_suffix('d').and_then(|n| n.parse::<i64>().ok()).filter(|n| (1..36_500).contains(n))
    {
        let first = jiff::Timestamp::from_millisecond(midnight.as_millis()).ok()?.to_zoned(zone.clone());
        let first = first.checked_sub(jiff::Span::new().days(days - 1)).ok()?;
        return Some(Timestamp::from_millis(first.timestamp().as_millisecond()));
    }
    if let Ok(date) = text.parse::<jiff::civil::Date>() {
        let first = date.to_zoned(zone.clone()).ok()?;
        return Some(Timestamp::from_millis(first.timestamp().as_millisecond()));
    }
    Timestamp::parse(text)
}
