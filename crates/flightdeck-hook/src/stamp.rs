//! When a hook fired, and the id of its event.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// The time and the id of an event. The hook gives them once: an event that is sent again has the same stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Nanoseconds since 1970 by the hook's clock.
    pub fired_ns: u64,
    /// Unique in the log: the nanoseconds above, 64 random bits below.
    pub id: u128,
}

impl Stamp {
    pub fn now() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::new(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX), random())
    }

    pub fn new(fired_ns: u64, random: u64) -> Self {
        Self { fired_ns, id: (u128::from(fired_ns) << 64) | u128::from(random) }
    }

    /// Milliseconds since 1970.
    pub fn fired_ms(&self) -> u64 {
        self.fired_ns / 1_000_000
    }
}

/// Distinguishes two events of the same nanosecond. The keys of the standard library's hashes are random, and the kernel is
/// asked for them once a thread.
pub fn random() -> u64 {
    RandomState::new().hash_one(())
}

/// Appends a time in UTC with three decimals: `2026-11-15T18:47:31.273Z`.
pub(crate) fn write_rfc3339(out: &mut Vec<u8>, ms_since_1970: u64) {
    let (year, month, day) = date(ms_since_1970 / 86_400_000);
    let ms = ms_since_1970 % 86_400_000;
    for (value, digits, end) in [
        (year, 4, b'-'),
        (month, 2, b'-'),
        (day, 2, b'T'),
        (ms / 3_600_000, 2, b':'),
        (ms / 60_000 % 60, 2, b':'),
        (ms / 1000 % 60, 2, b'.'),
        (ms % 1000, 3, b'Z'),
    ] {
        for place in (0..digits).rev() {
            out.push(b'0' + (value / 10_u64.pow(place) % 10) as u8);
        }
        out.push(end);
    }
}

/// Year, month and day in the Gregorian calendar. In this calculation a year begins in March, so that a leap day is its last.
fn date(days_since_1970: u64) -> (u64, u64, u64) {
    const DAYS_FROM_YEAR_0_TO_1970: u64 = 719_468;
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let days = days_since_1970 + DAYS_FROM_YEAR_0_TO_1970;
    let (era, day_of_era) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use flightdeck_core::log::record::EventId;
    use flightdeck_core::time::Timestamp;
    use proptest::prelude::*;

    use super::*;

    fn written(ms: u64) -> String {
        let mut out = Vec::new();
        write_rfc3339(&mut out, ms);
        String::from_utf8(out).unwrap()
    }

    fn as_the_core_writes_it(ms: u64) -> String {
        Timestamp::from_millis(i64::try_from(ms).unwrap()).to_string()
    }

    #[test]
    fn every_day_until_2600_is_written_as_the_core_writes_it() {
        for day in 0..230_000 {
            let ms = day * 86_400_000 + day * 7919 % 86_400_000;
            assert_eq!(written(ms), as_the_core_writes_it(ms));
        }
    }

    proptest! {
        #[test]
        fn the_time_of_day_is_written_as_the_core_writes_it(fired_ns: u64, random: u64) {
            let stamp = Stamp::new(fired_ns, random);
            prop_assert_eq!(written(stamp.fired_ms()), as_the_core_writes_it(stamp.fired_ms()));
            prop_assert_eq!(EventId(stamp.id), EventId::new(fired_ns, random));
        }
    }
}
