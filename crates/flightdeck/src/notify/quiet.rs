//! Quiet hours: times of the day, in the time zone of this machine.

use flightdeck_core::time::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;

/// Minutes since midnight, written `22:30`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct TimeOfDay(u16);

impl TryFrom<String> for TimeOfDay {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("{text:?} is no time of the day, as in \"22:30\""))
    }
}

impl TimeOfDay {
    fn parse(text: &str) -> Option<Self> {
        let (hours, minutes) = text.split_once(':')?;
        let number = |text: &str, max: u16| {
            let digits = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u16>().ok().filter(|n| digits && *n <= max)
        };
        Some(Self(number(hours, 23)? * 60 + number(minutes, 59)?))
    }

    /// The time of the day at that moment.
    pub(super) fn from_moment(moment: Timestamp, zone: &TimeZone) -> Self {
        let moment = jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap_or_default();
        let time = moment.to_zoned(zone.clone()).time();
        Self(u16::from(time.hour().unsigned_abs()) * 60 + u16::from(time.minute().unsigned_abs()))
    }

    /// Whether it is in the hours from `from` until before `to`, which may lie after midnight. Equal times are a whole day.
    pub(super) fn is_within(self, from: Self, to: Self) -> bool {
        if from < to { from <= self && self < to } else { from <= self || self < to }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> TimeOfDay {
        TimeOfDay::parse(text).unwrap()
    }

    #[test]
    fn quiet_hours_may_lie_across_midnight() {
        let quiet = |now, from, to| time(now).is_within(time(from), time(to));
        for (now, expected) in [
            ("21:59", false),
            ("22:00", true),
            ("23:59", true),
            ("0:00", true),
            ("07:29", true),
            ("07:30", false),
        ] {
            assert_eq!(quiet(now, "22:00", "07:30"), expected, "{now}");
        }
        for (now, expected) in [("11:59", false), ("12:00", true), ("12:59", true), ("13:00", false)] {
            assert_eq!(quiet(now, "12:00", "13:00"), expected, "{now}");
        }
        assert!(quiet("5:00", "0:00", "0:00"));
    }

    #[test]
    fn only_a_time_of_the_day_is_read() {
        for wrong in ["", "7", "24:00", "7:60", "-1:00", "+7:00", "07:001", "7:3a"] {
            assert_eq!(TimeOfDay::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_time_is_that_of_the_zone() {
        let noon = Timestamp::parse("2026-11-15T12:00:00Z").unwrap();
        assert_eq!(TimeOfDay::from_moment(noon, &TimeZone::UTC), time("12:00"));
        assert_eq!(TimeOfDay::from_moment(noon, &TimeZone::fixed(jiff::tz::offset(-5))), time("7:00"));
    }
}
