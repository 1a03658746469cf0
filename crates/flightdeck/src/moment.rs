//! A time as a person writes it: `lunch`, `9:00`, `yesterday 9:00`, `2h`, `2 hours ago`, a date.

use flightdeck_core::time::{Millis, Timestamp};
use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Zoned};

use crate::usage::parse_since;

/// What [`parse_moment`] understands, for error messages.
pub(crate) const MOMENTS: &str = "lunch, 9:00, 2pm, yesterday, yesterday 9:00, monday, 30m, 2h, 2 hours ago, today, 7d, 2026-11-18, or an RFC 3339 time";

/// Longest span back: older than any event that is kept.
const HOURS_BACK_MAX: i64 = 24 * 366;

/// The moment that the text names, the last one before `now`. `None` if it is not understood.
pub(crate) fn parse_moment(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim().to_ascii_lowercase();
    let local = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?.to_zoned(zone.clone());
    let named = match text.as_str() {
        "now" => return Some(now),
        word => day_start(word, &local)
            .or_else(|| time_of_day(word).and_then(|time| last_time(&local, time)))
            .or_else(|| time_on_day(word, &local))
            .or_else(|| days_ago(word, &local)),
    };
    let back = || span_back(&text).map(|span| now - span);
    named.map(|at| Timestamp::from_millis(at.timestamp().as_millisecond())).or_else(back).or_else(|| {
        // RFC 3339 has capital letters.
        parse_since(&text, now, zone).or_else(|| parse_since(&text.to_ascii_uppercase(), now, zone))
    })
}

/// The start of `yesterday` or of a weekday.
fn day_start(word: &str, now: &Zoned) -> Option<Zoned> {
    match word {
        "yesterday" => now.yesterday().and_then(|day| day.start_of_day()).ok(),
        word => weekday(word).and_then(|day| last_weekday(now, day)),
    }
}

/// `yesterday 9:00`, `monday at noon`, `2026-11-18 14:30`. `None` if that time has not come yet.
fn time_on_day(text: &str, now: &Zoned) -> Option<Zoned> {
    let (day, time) = text.split_once(' ')?;
    let time = time.trim_start();
    let time = time_of_day(time.strip_prefix("at ").unwrap_or(time).trim_start())?;
    let date = || day.parse::<Date>().ok()?.to_zoned(now.time_zone().clone()).ok();
    let today = || now.start_of_day().ok().filter(|_| day == "today");
    let day = day_start(day, now).or_else(today).or_else(date)?;
    day.with().time(time).build().ok().filter(|at| at <= now)
}

/// `3 days ago`: the start of that day.
fn days_ago(text: &str, now: &Zoned) -> Option<Zoned> {
    let (count, unit) = text.strip_suffix(" ago")?.split_once(' ')?;
    let days: i64 = if matches!(count, "a" | "one") { 1 } else { count.parse().ok()? };
    let span = Span::new().try_days(days).ok().filter(|_| days > 0 && matches!(unit, "day" | "days"))?;
    now.checked_sub(span).ok()?.start_of_day().ok()
}

/// That time today, or yesterday if it has not come yet.
fn last_time(now: &Zoned, time: Time) -> Option<Zoned> {
    let today = now.with().time(time).build().ok()?;
    if today <= *now { Some(today) } else { now.yesterday().ok()?.with().time(time).build().ok() }
}

/// The start of that day; of today if today is that day.
fn last_weekday(now: &Zoned, day: Weekday) -> Option<Zoned> {
    let back = i64::from(now.weekday().since(day));
    now.checked_sub(Span::new().days(back)).ok()?.start_of_day().ok()
}

fn weekday(word: &str) -> Option<Weekday> {
    use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
    let days = [Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday];
    let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let found = names.iter().position(|name| *name == word || name.get(..3) == Some(word))?;
    days.get(found).copied()
}

/// `9:00`, `14.30`, `9am`, `2:30pm`, `noon`. A bare number is none.
fn time_of_day(word: &str) -> Option<Time> {
    match word {
        "lunch" | "noon" => return Some(Time::constant(12, 0, 0, 0)),
        "morning" => return Some(Time::constant(6, 0, 0, 0)),
        "evening" => return Some(Time::constant(18, 0, 0, 0)),
        _ => {}
    }
    let (clock, half) = match (word.strip_suffix("am"), word.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some(0)),
        (_, Some(clock)) => (clock, Some(12)),
        _ => (word, None),
    };
    let parts = clock.trim_end().split_once([':', '.']);
    let (hour, minute) = match parts {
        Some((hour, minute)) if minute.len() == 2 => (hour, minute.parse().ok()?),
        None if half.is_some() => (clock.trim_end(), 0),
        _ => return None,
    };
    let hour: i8 = hour.parse().ok()?;
    let hour = match half {
        None => hour,
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
    };
    Time::new(hour, minute, 0, 0).ok()
}

/// `90m`, `2h`, `1w`, `2 hours`, `an hour ago`. Days are whole days: see [`parse_since`] and [`days_ago`].
fn span_back(text: &str) -> Option<Millis> {
    let text = text.strip_suffix(" ago").unwrap_or(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (count, unit) = match text.split_at(digits) {
        ("", words) => (
            1,
            words
                .strip_prefix("an ")
                .or_else(|| words.strip_prefix("a "))
                .or_else(|| words.strip_prefix("one "))?,
        ),
        (count, unit) => (i64::from(count.parse::<u32>().ok()?), unit),
    };
    let one = match unit.trim_start() {
        "m" | "min" | "mins" | "minute" | "minutes" => Millis::minutes(1),
        "h" | "hr" | "hrs" | "hour" | "hours" => Millis::hours(1),
        "w" | "week" | "weeks" => Millis::hours(24 * 7),
        _ => return None,
    };
    let span = Millis(one.0.checked_mul(count)?);
    (count > 0 && span <= Millis::hours(HOURS_BACK_MAX)).then_some(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wednesday, 18 November 2026, 14:20 in Central Europe.
    const NOW: &str = "2026-11-18T13:20:00Z";

    fn resolved(text: &str) -> Option<String> {
        at_time(text, NOW)
    }

    fn at_time(text: &str, now: &str) -> Option<String> {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let moment = parse_moment(text, Timestamp::parse(now).unwrap(), &zone)?;
        let local = jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap().to_zoned(zone);
        Some(local.strftime("%d %H:%M").to_string())
    }

    #[test]
    fn times_of_day_are_the_last_ones() {
        for (text, expected) in [
            ("lunch", "18 12:00"),
            ("noon", "18 12:00"),
            ("9:00", "18 09:00"),
            ("09.15", "18 09:15"),
            ("9am", "18 09:00"),
            ("2pm", "18 14:00"),
            ("12am", "18 00:00"),
            ("12:10pm", "18 12:10"),
            ("16:00", "17 16:00"),
            ("evening", "17 18:00"),
            (" Lunch ", "18 12:00"),
        ] {
            assert_eq!(resolved(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(at_time("lunch", "2026-11-18T08:00:00Z").as_deref(), Some("17 12:00"), "before noon");
    }

    #[test]
    fn a_day_may_have_a_time() {
        for (text, expected) in [
            ("yesterday 9:00", "17 09:00"),
            ("yesterday at 9am", "17 09:00"),
            ("yesterday noon", "17 12:00"),
            ("today 9:00", "18 09:00"),
            ("monday 16:30", "16 16:30"),
            ("fri evening", "13 18:00"),
            ("2026-11-03 8:15", "03 08:15"),
        ] {
            assert_eq!(resolved(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["today 16:00", "yesterday soon", "9:00 yesterday at", "2h 9:00", "yesterday 9:00 9:00"] {
            assert_eq!(resolved(text), None, "{text}");
        }
    }

    #[test]
    fn days_begin_at_midnight() {
        for (text, expected) in [
            ("yesterday", "17 00:00"),
            ("today", "18 00:00"),
            ("monday", "16 00:00"),
            ("wed", "18 00:00"),
            ("thursday", "12 00:00"),
            ("2d", "17 00:00"),
            ("2026-11-03", "03 00:00"),
        ] {
            assert_eq!(resolved(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn spans_go_back_from_now() {
        for (text, expected) in [
            ("2h", "18 12:20"),
            ("30m", "18 13:50"),
            ("45min", "18 13:35"),
            ("1w", "11 14:20"),
            ("now", "18 14:20"),
            ("2 hours ago", "18 12:20"),
            ("2h ago", "18 12:20"),
            ("1 hour", "18 13:20"),
            ("an hour ago", "18 13:20"),
            ("45 minutes ago", "18 13:35"),
            ("30 min ago", "18 13:50"),
            ("a week ago", "11 14:20"),
            ("3 days ago", "15 00:00"),
        ] {
            assert_eq!(resolved(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(resolved("2026-11-18T09:00:00Z").as_deref(), Some("18 10:00"));
    }

    #[test]
    fn anything_else_is_not_understood() {
        for text in
            ["", "soon", "25:00", "9:60", "9", "13pm", "0h", "-2h", "99999999h", "h", "12:5", "9:00:00:00"]
        {
            assert_eq!(resolved(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_of_day_is_local_on_the_day_the_clocks_change() {
        // In Central Europe the clocks went back on 25 October 2026 at 3:00.
        assert_eq!(at_time("9:00", "2026-10-25T11:00:00Z").as_deref(), Some("25 09:00"));
        assert_eq!(at_time("yesterday", "2026-10-26T11:00:00Z").as_deref(), Some("25 00:00"));
    }
}
