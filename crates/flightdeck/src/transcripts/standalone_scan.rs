//! Scans every transcript at once, for `flightdeck usage` without a running daemon.

use flightdeck_core::ids::SessionId;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::price::PriceTable;
use jiff::tz::TimeZone;

use super::fast_scan::FastScan;
use super::line_reader::{LineReader, ReadPosition};
use super::locate::{ListedTranscript, list};
use crate::store::{SessionRead, Title};
use crate::usage::{Report, UsageTally};

/// The usage of everything below `projects`, and the number of files that could not be read.
pub fn report(
    projects: &Path,
    prices: &PriceTable,
    zone: TimeZone,
    since: Option<Timestamp>,
    now: Timestamp,
) -> (Report, usize) {
    let mut files = list(projects);
    // A file that was last written before `since` contains nothing newer.
    files.retain(|f| {
        since.is_none_or(|since| f.changed_at + flightdeck_core::time::Millis::seconds(1) >= since)
    });
    // The largest first, so that the workers finish at about the same time.
    files.sort_by_key(|f| std::cmp::Reverse(f.bytes));
    let gathered = scan_all(&files);
    let failed = files.len() - gathered.len();
    let mut sessions = BTreeMap::<&SessionId, (SessionRead, Vec<FastScan>)>::new();
    for (file, found) in gathered {
        let id = &file.transcript.session_id;
        let main = file.transcript.agent.is_empty();
        let (session, files) = sessions.entry(id).or_insert_with(|| (empty_session(id), Vec::new()));
        session.merge(&found, file.born_at, main);
        files.push(found);
    }
    let mut sessions: Vec<_> = sessions.into_values().collect();
    sessions.sort_by(|(a, _), (b, _)| {
        (a.first_at, a.born_at, &a.session_id).cmp(&(b.first_at, b.born_at, &b.session_id))
    });
    let mut tally = UsageTally::new(prices, zone, since, now);
    for (session, files) in &sessions {
        for found in files {
            // The last line of a message counts, and the tally keeps the first that it gets.
            found.rows.iter().rev().for_each(|r| tally.add(r.key, r.at, found.model(r), &r.usage));
        }
        tally.end_session(session);
    }
    (tally.report(), failed)
}

fn scan_all(files: &[ListedTranscript]) -> Vec<(&ListedTranscript, FastScan)> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files.len().max(1));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut reader = LineReader::default();
        let mut done = Vec::new();
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut found = FastScan::default();
            let read = reader.read_new_lines(
                &file.transcript.path,
                ReadPosition::default(),
                |l| found.read_line(l),
                || false,
            );
            if read.is_ok() {
                done.push((file, found));
            }
        }
        done
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        // If a worker panicked, its files are counted as unread.
        others.into_iter().for_each(|other| all.extend(other.join().unwrap_or_default()));
        all
    })
}

/// A session of which no file has been read.
pub(super) fn empty_session(session_id: &SessionId) -> SessionRead {
    SessionRead {
        session_id: session_id.to_owned(),
        first_at: Timestamp::from_millis(i64::MAX),
        born_at: Timestamp::from_millis(i64::MAX),
        ..SessionRead::default()
    }
}

impl SessionRead {
    pub(super) fn merge(&mut self, found: &FastScan, born_at: Timestamp, main: bool) {
        self.first_at = found.first_at.map_or(self.first_at, |at| at.min(self.first_at));
        self.last_at = found.last_at.map_or(self.last_at, |at| at.max(self.last_at));
        self.born_at = self.born_at.min(born_at);
        if main || self.cwd.is_none() {
            self.cwd = found.cwd.clone().or(self.cwd.take());
        }
        if main {
            Title::replace_if_better(&mut self.title, found.title.clone());
        }
    }
}
