//! The digest: what happened since a time, how long agents worked, and how long they waited for the person.

use std::collections::BTreeMap;

use flightdeck_core::assignment::TimeSpan;
use flightdeck_core::assignment::transition::AssignmentState;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_protocol::assignments::{DayDigest, Digest, DigestSums, GetDigest, ProjectDigest};
use jiff::tz::TimeZone;

use super::assignments::moment;
use super::{App, AppError, AppReply, Handle};
use crate::clock;
use crate::engine::OpenAssignments;
use crate::store::{AssignmentsWanted, CompletedCount, ProjectTime};
use crate::usage::start_of_today;

/// Completed assignments that a digest lists. Its sums contain all of them.
const DIGEST_ROWS: usize = 50;
/// Longest stretch of a digest: a year, a row per day and project.
const DIGEST_DAYS_MAX: i64 = 366;

impl Handle<GetDigest> for App {
    async fn handle(&self, request: GetDigest) -> Result<AppReply<Digest>, AppError> {
        let (zone, now) = (TimeZone::system(), clock::now());
        let since = match &request.since {
            Some(text) => moment(text, now, &zone)?,
            None => start_of_today(now, &zone),
        };
        let since = since.clamp(now - Millis::hours(24 * DIGEST_DAYS_MAX), now);
        let OpenAssignments { assignments: open, host } = self.engine.open_assignments().await?;
        let mut sums = Sums::new(Days::new(since, now, &zone));
        sums.add_completed(&self.store.completed_counts(since).await?);
        sums.add_times(&self.store.assignment_times(since).await?);
        sums.add_open(&open);
        let projects = sums.into_projects();
        let completed = AssignmentsWanted {
            state: Some(AssignmentState::Complete),
            since: Some(since),
            limit: DIGEST_ROWS,
            ..AssignmentsWanted::default()
        };
        let completed = self.store.assignments(completed).await?.assignments;
        let mut waiting: Vec<_> =
            open.into_iter().filter(|of| of.assignment.state == AssignmentState::AwaitingInput).collect();
        waiting.sort_by_key(|of| of.assignment.since);
        let digest = Digest {
            since,
            until: now,
            total: total(projects.iter().map(|project| &project.sums)),
            projects,
            waiting: self.with_costs(waiting, now, host.as_deref()).await?,
            completed: self.with_costs(completed, now, host.as_deref()).await?,
        };
        Ok(digest.into())
    }
}

/// The days of a digest in the person's time zone.
struct Days {
    since: Timestamp,
    until: Timestamp,
    /// The beginning and the name of each day, oldest first.
    days: Vec<(Timestamp, String)>,
}

impl Days {
    fn new(since: Timestamp, until: Timestamp, zone: &TimeZone) -> Self {
        let mut days = Vec::new();
        let mut day = zoned(since, zone).start_of_day().ok();
        while let Some(begin) = day.take() {
            let at = Timestamp::from_millis(begin.timestamp().as_millisecond());
            if at > until {
                break;
            }
            days.push((at, begin.date().to_string()));
            day = begin.tomorrow().and_then(|next| next.start_of_day()).ok();
        }
        Self { since, until, days }
    }

    /// The index of the day that contains this moment, or of the first day if the moment is before it.
    fn index(&self, at: Timestamp) -> usize {
        self.days.partition_point(|(begin, _)| *begin <= at).saturating_sub(1)
    }

    /// Splits the span at midnight: how much of it is on each day of the digest.
    fn time_on_days(&self, span: &TimeSpan) -> impl Iterator<Item = (usize, Millis)> {
        let (from, to) = (span.from.max(self.since), span.to.min(self.until));
        let (first, last) = (self.index(from), self.index(to));
        let part = move |day: usize| {
            let begin = self.days.get(day).map_or(from, |(begin, _)| from.max(*begin));
            let end = self.days.get(day + 1).map_or(to, |(next, _)| to.min(*next));
            (day, end - begin)
        };
        (first..=last).map(part).filter(|(_, length)| length.0 > 0)
    }
}

fn zoned(at: Timestamp, zone: &TimeZone) -> jiff::Zoned {
    jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default().to_zoned(zone.clone())
}

/// The sums of one project on one day, or on all days.
#[derive(Clone, Copy, Default)]
struct DaySum {
    assignments: u64,
    worked: Millis,
    waited: Millis,
}

#[derive(Default)]
struct ProjectSum {
    counts: DigestSums,
    days: BTreeMap<usize, DaySum>,
}

/// The sums of a digest, by project and day.
struct Sums {
    days: Days,
    projects: BTreeMap<String, ProjectSum>,
}

impl Sums {
    fn new(days: Days) -> Self {
        Self { days, projects: BTreeMap::new() }
    }

    fn project(&mut self, name: &str) -> &mut ProjectSum {
        self.projects.entry(name.to_owned()).or_default()
    }

    fn add_completed(&mut self, counts: &[CompletedCount]) {
        for CompletedCount { project, from, completed, ended, died } in counts {
            let day = self.days.index(*from);
            let sum = self.project(project);
            sum.counts.completed += completed;
            sum.counts.ended += ended;
            sum.counts.died += died;
            sum.days.entry(day).or_default().assignments += completed + ended + died;
        }
    }

    fn add_times(&mut self, times: &[ProjectTime]) {
        times.iter().for_each(|time| self.add_span(&time.project, &time.span));
    }

    /// Adds the open assignments. Each counts on the last day, and its times count on the days on which they were.
    fn add_open(&mut self, open: &[SessionAssignment]) {
        let (now, today) = (self.days.until, self.days.index(self.days.until));
        for SessionAssignment { project, assignment, .. } in open {
            let sum = self.project(project.name());
            match assignment.state {
                AssignmentState::AwaitingInput => sum.counts.waiting += 1,
                _ => sum.counts.working += 1,
            }
            sum.days.entry(today).or_default().assignments += 1;
            let running = assignment.running_span(now);
            assignment.spans.iter().chain(&running).for_each(|span| self.add_span(project.name(), span));
        }
    }

    fn add_span(&mut self, project: &str, span: &TimeSpan) {
        let parts: Vec<_> = self.days.time_on_days(span).collect();
        let sum = self.project(project);
        for (day, length) in parts {
            let day = sum.days.entry(day).or_default();
            let time = if span.waits { &mut day.waited } else { &mut day.worked };
            time.0 += length.0;
        }
    }

    /// The projects that waited longest for the person come first.
    fn into_projects(self) -> Vec<ProjectDigest> {
        let Self { days, projects } = self;
        let mut projects: Vec<_> =
            projects.into_iter().map(|(name, sum)| sum.into_digest(name, &days)).collect();
        projects.sort_by(|a, b| b.sums.waiting_seconds.total_cmp(&a.sums.waiting_seconds));
        projects
    }
}

impl ProjectSum {
    fn into_digest(self, project: String, names: &Days) -> ProjectDigest {
        let sum = |time: fn(&DaySum) -> Millis| {
            Millis(self.days.values().map(|day| time(day).0).sum()).as_seconds()
        };
        let sums = DigestSums {
            working_seconds: sum(|day| day.worked),
            waiting_seconds: sum(|day| day.waited),
            ..self.counts
        };
        let day = |(index, day): (&usize, &DaySum)| {
            Some(DayDigest {
                day: names.days.get(*index)?.1.clone(),
                assignments: day.assignments,
                working_seconds: day.worked.as_seconds(),
                waiting_seconds: day.waited.as_seconds(),
            })
        };
        ProjectDigest { project, sums, days: self.days.iter().filter_map(day).collect() }
    }
}

fn total<'a>(sums: impl Iterator<Item = &'a DigestSums>) -> DigestSums {
    sums.fold(DigestSums::default(), |total, one| DigestSums {
        completed: total.completed + one.completed,
        ended: total.ended + one.ended,
        died: total.died + one.died,
        working: total.working + one.working,
        waiting: total.waiting + one.waiting,
        working_seconds: total.working_seconds + one.working_seconds,
        waiting_seconds: total.waiting_seconds + one.waiting_seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timestamp(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn waits(from: &str, to: &str) -> ProjectTime {
        let span = TimeSpan { waits: true, from: timestamp(from), to: timestamp(to) };
        ProjectTime { project: "api".to_owned(), span }
    }

    /// Central Europe: midnight is 23:00 UTC.
    fn sums(since: &str, until: &str) -> Sums {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        Sums::new(Days::new(timestamp(since), timestamp(until), &zone))
    }

    fn days_of(sums: Sums) -> Vec<(String, u64, f64)> {
        let project = sums.into_projects().pop().unwrap();
        project.days.into_iter().map(|day| (day.day, day.assignments, day.waiting_seconds)).collect()
    }

    #[test]
    fn a_wait_over_midnight_is_split_between_the_days() {
        let mut sums = sums("2026-11-16T08:00:00Z", "2026-11-18T12:00:00Z");
        sums.add_times(&[waits("2026-11-16T22:00:00Z", "2026-11-17T23:30:00Z")]);
        let hour = 3600.0;
        assert_eq!(
            days_of(sums),
            [
                ("2026-11-16".to_owned(), 0, hour),
                ("2026-11-17".to_owned(), 0, 24.0 * hour),
                ("2026-11-18".to_owned(), 0, 0.5 * hour)
            ]
        );
    }

    #[test]
    fn what_was_before_the_time_does_not_count() {
        let mut sums = sums("2026-11-18T11:00:00Z", "2026-11-18T12:00:00Z");
        sums.add_times(&[waits("2026-11-18T08:00:00Z", "2026-11-18T11:10:00Z")]);
        // The quarter of an hour in which it was completed begins before the time.
        let count = CompletedCount {
            project: "api".to_owned(),
            from: timestamp("2026-11-18T10:45:00Z"),
            completed: 1,
            ..CompletedCount::default()
        };
        sums.add_completed(&[count]);
        assert_eq!(days_of(sums), [("2026-11-18".to_owned(), 1, 600.0)]);
    }
}
