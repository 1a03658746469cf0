//! Times of the day and dates, by the clock of this machine.

use flightdeck_core::time::Timestamp;

/// The local time of day.
pub(super) fn time_of_day(at: Timestamp) -> String {
    local(at, "%H:%M:%S")
}

pub(super) fn date_and_time(at: Timestamp) -> String {
    local(at, "%Y-%m-%d %H:%M:%S")
}

/// `14:05`
pub(super) fn hour_and_minute(at: Timestamp) -> String {
    local(at, "%H:%M")
}

/// `Wed 18 Nov 2026`
pub(super) fn date(at: Timestamp) -> String {
    local(at, "%a %d %b %Y")
}

fn local(at: Timestamp, format: &str) -> String {
    match jiff::Timestamp::from_millisecond(at.as_millis()) {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime(format).to_string(),
        Err(_) => at.to_string(),
    }
}
