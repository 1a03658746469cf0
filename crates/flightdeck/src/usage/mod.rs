//! Usage by day, project, model and session. A message counts once, even if several sessions contain a copy of it.

mod period;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use flightdeck_core::project::Project;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::usage::amounts::Tokens;
use flightdeck_core::usage::price::{Nanos, PriceTable, Usage};
pub use flightdeck_core::usage::totals::{Report, Spent, UsageRow};
use flightdeck_core::wire::billed_usage::MessageKey;
use jiff::tz::TimeZone;
use serde::Deserialize;

use self::period::Period;
pub use self::period::{parse_since, start_of_today};
use crate::store::SessionRead;

/// Most sessions in a report: those with the highest cost. The totals include all.
pub const SESSIONS_REPORTED_MAX: usize = 500;

/// Most hours in a report: one month.
pub const HOURS_REPORTED_MAX: i64 = 31 * 24;

/// How the rows of a report are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// Oldest first, without gaps, up to the current hour.
    Hour,
    Day,
    Project,
    Model,
    Session,
}

#[derive(Clone, Debug, Default)]
struct UsageSum {
    messages: u64,
    usage: Usage,
    nanos: Nanos,
    unpriced: BTreeSet<String>,
}

impl UsageSum {
    fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.usage.add(&other.usage);
        self.nanos.0 = self.nanos.0.saturating_add(other.nanos.0);
        self.unpriced.extend(other.unpriced.iter().cloned());
    }

    fn spent(&self) -> Spent {
        Spent {
            messages: self.messages,
            tokens: Tokens::sum_usage([&self.usage]),
            usd_micros: self.nanos.micros(),
            unpriced_models: self.unpriced.iter().cloned().collect(),
        }
    }
}

/// A message key is a hash already; hashing it again would only cost time.
#[derive(Debug, Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_le_bytes(word);
        }
    }
    fn write_u128(&mut self, n: u128) {
        self.0 ^= n as u64;
    }
}

/// Adds up sessions one after the other, the oldest first: the oldest session owns the messages that its forks copied.
#[derive(Debug)]
pub struct UsageTally<'a> {
    prices: &'a PriceTable,
    zone: TimeZone,
    since: Option<Timestamp>,
    now: Timestamp,
    today: String,
    by: Option<GroupBy>,
    seen: HashSet<MessageKey, BuildHasherDefault<IdentityHasher>>,
    /// The current session, by day and model.
    parts: Vec<(Period, String, UsageSum)>,
    /// Only filled for a report by hour.
    by_hour: BTreeMap<i64, UsageSum>,
    by_day: BTreeMap<String, UsageSum>,
    by_project: BTreeMap<String, (String, UsageSum)>,
    by_model: BTreeMap<String, UsageSum>,
    by_session: Vec<(UsageRow, u64)>,
    sessions: u64,
}

impl<'a> UsageTally<'a> {
    pub fn new(prices: &'a PriceTable, zone: TimeZone, since: Option<Timestamp>, now: Timestamp) -> Self {
        let today = Period::day_of(now, &zone).name(&zone);
        Self {
            prices,
            zone,
            since,
            now,
            today,
            by: None,
            seen: HashSet::default(),
            parts: Vec::new(),
            by_hour: BTreeMap::new(),
            by_day: BTreeMap::new(),
            by_project: BTreeMap::new(),
            by_model: BTreeMap::new(),
            by_session: Vec::new(),
            sessions: 0,
        }
    }

    /// Sets how the rows are grouped.
    pub fn group_by(mut self, by: Option<GroupBy>) -> Self {
        self.by = by;
        self
    }

    /// Adds a message of the current session. The first message with a key counts, so add the newest line of a message first.
    pub fn add(&mut self, key: MessageKey, at: Timestamp, model: &str, usage: &Usage) {
        if self.since.is_some_and(|since| at < since) || !self.seen.insert(key) {
            return;
        }
        let ms = at.as_millis();
        let found = self.parts.iter().rposition(|(d, m, _)| d.from <= ms && ms < d.to && m == model);
        let place = found.unwrap_or_else(|| {
            let period = match self.by {
                // An hour of local time never crosses midnight.
                Some(GroupBy::Hour) => Period::hour_of(at, &self.zone),
                _ => Period::day_of(at, &self.zone),
            };
            self.parts.push((period, model.to_owned(), UsageSum::default()));
            self.parts.len() - 1
        });
        let sum = &mut self.parts[place].2;
        sum.messages += 1;
        sum.usage.add(usage);
    }

    /// Ends the session whose messages were added.
    pub fn end_session(&mut self, session: &SessionRead) {
        let mut whole = UsageSum::default();
        for (day, model, mut sum) in std::mem::take(&mut self.parts) {
            match self.prices.cost(&model, &sum.usage) {
                Some(cost) => sum.nanos = cost,
                None => drop(sum.unpriced.insert(model.clone())),
            }
            if self.by == Some(GroupBy::Hour) {
                self.by_hour.entry(day.from).or_default().add(&sum);
            }
            self.by_day.entry(day.name(&self.zone)).or_default().add(&sum);
            self.by_model.entry(model).or_default().add(&sum);
            whole.add(&sum);
        }
        if whole.messages == 0 {
            return;
        }
        self.sessions += 1;
        let mut project = Project::default();
        project.learn_from(None, session.cwd.as_deref());
        let root = project.root().unwrap_or_default().to_owned();
        let entry =
            self.by_project.entry(root).or_insert_with(|| (project.name().to_owned(), UsageSum::default()));
        entry.1.add(&whole);
        let group = UsageRow {
            key: session.session_id.to_string(),
            name: session.title.as_ref().map_or("–", |title| &title.text).to_owned(),
            project: Some(project.name().to_owned()),
            last_at: Some(session.last_at),
            spent: whole.spent(),
        };
        self.by_session.push((group, whole.nanos.0));
    }

    pub fn report(mut self) -> Report {
        let mut total = UsageSum::default();
        self.by_day.values().for_each(|sum| total.add(sum));
        let today = self.by_day.get(&self.today).cloned().unwrap_or_default();
        let group = |key: &str, name: &str, sum: &UsageSum| UsageRow {
            key: key.to_owned(),
            name: name.to_owned(),
            project: None,
            last_at: None,
            spent: sum.spent(),
        };
        let by_cost = |mut groups: Vec<(UsageRow, u64)>| {
            groups.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.key.cmp(&b.key)));
            groups.into_iter().map(|(group, _)| group).collect::<Vec<_>>()
        };
        let projects =
            self.by_project.iter().map(|(root, (name, sum))| (group(root, name, sum), sum.nanos.0));
        let models = self.by_model.iter().map(|(model, sum)| (group(model, model, sum), sum.nanos.0));
        let mut by_session = by_cost(std::mem::take(&mut self.by_session));
        by_session.truncate(SESSIONS_REPORTED_MAX);
        let report = Report {
            since: self.since,
            time_zone: self.zone.iana_name().map(str::to_owned),
            prices: self.prices.source.clone(),
            total: total.spent(),
            today: today.spent(),
            by_day: self.by_day.iter().map(|(day, sum)| group(day, day, sum)).collect(),
            by_project: by_cost(projects.collect()),
            by_model: by_cost(models.collect()),
            by_session,
            sessions_total: self.sessions,
            rows: None,
            rate_limits: None,
            indexing: None,
        };
        let rows = self.by.map(|by| match by {
            GroupBy::Hour => self.hours(),
            GroupBy::Day => report.by_day.clone(),
            GroupBy::Project => report.by_project.clone(),
            GroupBy::Model => report.by_model.clone(),
            GroupBy::Session => report.by_session.clone(),
        });
        Report { rows, ..report }
    }

    /// Every hour from the first to the current one, also those without usage.
    fn hours(&self) -> Vec<UsageRow> {
        const HOUR: Millis = Millis::hours(1);
        let current = Period::hour_of(self.now, &self.zone).from;
        let first = self.since.map(|since| Period::hour_of(since, &self.zone).from);
        let first = first.or_else(|| self.by_hour.keys().next().copied()).unwrap_or(current);
        let first = first.max(current - (HOURS_REPORTED_MAX - 1) * HOUR.0);
        let row = |from: i64| {
            let start = Timestamp::from_millis(from).to_string();
            let spent =
                self.by_hour.get(&from).map(UsageSum::spent).unwrap_or_else(|| UsageSum::default().spent());
            UsageRow { key: start.clone(), name: start, project: None, last_at: None, spent }
        };
        (0..).map(|n| first + n * HOUR.0).take_while(|from| *from <= current).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timestamp(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn session(id: &str) -> SessionRead {
        SessionRead { session_id: id.into(), cwd: Some("/w/api".to_owned()), ..SessionRead::default() }
    }

    #[test]
    fn a_fork_counts_shared_history_once_and_the_first_session_owns_it() {
        let usage = Usage { output: 10, ..Usage::default() };
        let now = timestamp("2026-11-15T12:00:00Z");
        let mut tally = UsageTally::new(PriceTable::shipped(), TimeZone::UTC, None, now);
        for (id, keys) in [("first", vec![1, 2]), ("fork", vec![1, 2, 3])] {
            keys.into_iter().for_each(|k| tally.add(MessageKey(k), now, "claude-opus-5-5", &usage));
            tally.end_session(&session(id));
        }
        let report = tally.report();
        assert_eq!((report.total.messages, report.total.usd_micros), (3, 600));
        assert_eq!(report.today, report.total);
        let by: Vec<_> = report.by_session.iter().map(|g| (g.key.as_str(), g.spent.messages)).collect();
        assert_eq!(by, [("first", 2), ("fork", 1)]);
    }

    #[test]
    fn hours_follow_each_other_without_gaps_up_to_now() {
        let usage = Usage { output: 1000, ..Usage::default() };
        // India's time zone is not a whole number of hours from UTC.
        let zone = TimeZone::fixed(jiff::tz::Offset::from_seconds(19_800).unwrap());
        let now = timestamp("2026-11-15T06:40:00Z");
        let since = Some(timestamp("2026-11-15T02:30:00Z"));
        let mut tally =
            UsageTally::new(PriceTable::shipped(), zone, since, now).group_by(Some(GroupBy::Hour));
        for (key, time) in
            ["2026-11-15T02:31:00Z", "2026-11-15T05:29:59Z", "2026-11-15T05:30:00Z"].iter().enumerate()
        {
            tally.add(MessageKey(key as u128), timestamp(time), "claude-opus-5-5", &usage);
        }
        tally.end_session(&session("s"));
        let report = tally.report();
        let rows: Vec<_> =
            report.rows.iter().flatten().map(|r| (&r.key[11..16], r.spent.usd_micros)).collect();
        assert_eq!(
            rows,
            [("02:30", 20_000), ("03:30", 0), ("04:30", 20_000), ("05:30", 20_000), ("06:30", 0)]
        );
        assert_eq!((report.total.usd_micros, report.by_day.len()), (60_000, 1));
    }

    #[test]
    fn days_are_local_and_old_ones_can_be_left_out() {
        let usage = Usage { output: 1, ..Usage::default() };
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let now = timestamp("2026-11-15T12:00:00Z");
        let since = parse_since("2d", now, &zone);
        assert_eq!(since, Some(timestamp("2026-11-13T22:00:00Z")));
        let mut tally = UsageTally::new(PriceTable::shipped(), zone.clone(), since, now);
        for (key, time) in
            ["2026-11-13T21:59:59Z", "2026-11-13T22:00:00Z", "2026-11-14T22:30:00Z"].iter().enumerate()
        {
            tally.add(MessageKey(key as u128), timestamp(time), "unpriced", &usage);
        }
        tally.end_session(&session("s"));
        let report = tally.report();
        let days: Vec<_> = report.by_day.iter().map(|g| g.key.as_str()).collect();
        assert_eq!(days, ["2026-11-14", "2026-11-15"]);
        assert_eq!(report.total.unpriced_models, ["unpriced"]);
        assert_eq!(parse_since("2026-11-14", now, &zone), since);
        assert_eq!(parse_since("today", now, &zone), Some(timestamp("2026-11-14T22:00:00Z")));
        assert_eq!(parse_since("soon", now, &zone), None);
    }
}
