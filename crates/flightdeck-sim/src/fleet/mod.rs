//! A fake fleet: sessions made of pieces of the real client's captures.
//!
//! Each seat (a terminal) holds one session at a time. A turn is planned as a whole: a prompt, some pieces of work, a stop;
//! its events have realistic gaps, and each arrives a little after it fired, with its own delay, so that async hooks arrive
//! out of order as in the captures. Everything follows from the seed.

mod answer;
#[cfg(test)]
mod cut;
mod library;
mod seat;
mod template;
mod transcript_writer;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::Map;
use answer::SimRequest;
pub use answer::SimVerdict;
use library::REPOS;
use seat::SimSeat;
use template::Template;
pub use transcript_writer::TranscriptWriter;

/// Seats in one folder before the next folder is filled.
const SEATS_PER_WORKTREE: usize = 6;

#[derive(Clone, Debug)]
pub struct FleetConfig {
    /// Terminals; each holds one session at a time.
    pub sessions: usize,
    pub seed: u64,
    /// Milliseconds since 1970 of "now".
    pub start_ms: i64,
    /// The fleet starts this long before `start_ms`: the first events are in the past.
    pub history_ms: u64,
    /// 1.0 is a realistic day; 10.0 is ten times as busy.
    pub speed: f64,
    /// Shortest time, in milliseconds of the wall clock, that a request waits before its terminal answers it. If requests wait longer,
    /// there are fewer of them, so that sessions still make progress.
    pub answer_ms_min: u64,
    /// An async hook arrives up to this long after it fired. 0: in order.
    pub jitter_ms: u64,
    /// Home folder of the simulated person.
    pub home: String,
    /// First value of `CLAUDE_PID` in the environment. Leave it out if the process table is watched: these processes do not
    /// exist.
    pub pids_from: Option<u32>,
}

impl Default for FleetConfig {
    fn default() -> Self {
        Self {
            sessions: 54,
            seed: 1,
            start_ms: 1_794_700_800_000,
            history_ms: 0,
            speed: 1.0,
            answer_ms_min: 0,
            // In captures with async hooks on a busy machine, events 20 ms apart arrived in either order.
            jitter_ms: 60,
            home: "/home/dev".into(),
            pids_from: None,
        }
    }
}

/// One hook call.
#[derive(Clone, Debug, PartialEq)]
pub struct SimEvent {
    /// When it reaches the daemon, in milliseconds since 1970. Never before the event returned last.
    pub at_ms: i64,
    /// When the client fired it.
    pub fired_ms: i64,
    pub session_id: String,
    pub payload: Map,
    /// The client's variables in the hook's environment.
    pub env: Map,
    /// For a request of the main agent: how the session can continue.
    request: Option<Box<SimRequest>>,
    /// For an event that shows the terminal's answer: the earliest time of the event, so that the request waits long enough for the
    /// person.
    not_before_ms: Option<i64>,
}

impl SimEvent {
    fn is_named(&self, name: &str) -> bool {
        self.payload.get("hook_event_name").is_some_and(|n| n == name)
    }
}

/// The project of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatProject {
    pub cwd: String,
    pub project: String,
    /// Folder name of the worktree, if it is not the main checkout.
    pub worktree: Option<String>,
    pub branch: String,
}

/// An endless stream of hook calls in order of arrival. [`SimFleet::end`] makes it finite.
#[derive(Debug)]
pub struct SimFleet {
    config: FleetConfig,
    templates: Vec<Template>,
    seats: Vec<SimSeat>,
    /// Planned events by arrival. A number in the key keeps events with equal times in the order of their planning.
    queue: BinaryHeap<Reverse<Queued>>,
    planned: u64,
    /// Seats by the time their next turn must be planned.
    due: BinaryHeap<Reverse<(i64, usize)>>,
    /// Sessions that have started and not ended among the returned events, and their seats.
    open: BTreeMap<String, usize>,
    /// For each seat: the number of its last returned event. Reminders do not count.
    returned: Vec<u64>,
}

#[derive(Debug)]
struct Queued {
    key: (i64, u64),
    seat: usize,
    event: SimEvent,
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Queued {}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl SimFleet {
    pub fn new(config: FleetConfig) -> Self {
        let begin = config.start_ms - i64::try_from(config.history_ms).unwrap_or(0);
        let seats: Vec<SimSeat> = (0..config.sessions).map(|n| SimSeat::new(n, begin, &config)).collect();
        let due = seats.iter().enumerate().map(|(n, seat)| Reverse((seat.free_at(), n))).collect();
        Self {
            templates: template::embedded(),
            returned: vec![0; seats.len()],
            seats,
            queue: BinaryHeap::new(),
            planned: 0,
            due,
            open: BTreeMap::new(),
            config,
        }
    }

    /// The folders of this fleet, so that a demo can make them look like checkouts.
    pub fn places(&self) -> Vec<SeatProject> {
        let mut places: Vec<SeatProject> = Vec::new();
        for seat in &self.seats {
            if !places.contains(seat.project()) {
                places.push(seat.project().clone());
            }
        }
        places
    }

    /// Ends all sessions at `at_ms`: later events are dropped, and each session sends its end.
    pub fn end(&mut self, at_ms: i64) {
        let queue = std::mem::take(&mut self.queue);
        self.queue = queue.into_iter().filter(|Reverse(q)| q.event.fired_ms <= at_ms).collect();
        self.due.clear();
        // Turns are planned ahead, so only the remaining events show which sessions exist.
        let mut open = self.open.clone();
        let mut kept: Vec<&Queued> = self.queue.iter().map(|Reverse(q)| q).collect();
        kept.sort();
        kept.into_iter().for_each(|q| track_open_session(&mut open, q));
        for (session_id, seat) in open {
            let goodbye = self.seats[seat].close_session(session_id, at_ms, &self.templates, &self.config);
            self.enqueue(seat, goodbye);
        }
    }

    fn plan_seats_due_before(&mut self, at_ms: i64) {
        while let Some(&Reverse((due, n))) = self.due.peek() {
            if due > at_ms {
                return;
            }
            self.due.pop();
            let events = self.seats[n].plan(&self.templates, &self.config);
            self.due.push(Reverse((self.seats[n].free_at(), n)));
            self.enqueue(n, events);
        }
    }

    /// Corrects when the next turn of a seat must be planned, after the seat's plan has changed.
    fn reschedule(&mut self, seat: usize) {
        let free_at = self.seats[seat].free_at();
        let due = std::mem::take(&mut self.due).into_iter();
        self.due = due.map(|Reverse((at, n))| Reverse((if n == seat { free_at } else { at }, n))).collect();
    }

    /// When the next event arrives. Until then [`SimFleet::answer`] may change it.
    pub fn next_at(&mut self) -> Option<i64> {
        self.first().map(|queued| queued.event.at_ms)
    }

    fn first(&mut self) -> Option<&Queued> {
        loop {
            // An unplanned turn fires no event before its seat is free, so earlier events are final.
            let next_due = self.due.peek().map(|Reverse((due, _))| *due);
            match (self.queue.peek().map(|Reverse(first)| first.event.at_ms), next_due) {
                (Some(at), Some(due)) if at >= due => self.plan_seats_due_before(at),
                (Some(_), _) => return self.queue.peek().map(|Reverse(first)| first),
                (None, Some(due)) => self.plan_seats_due_before(due),
                (None, None) => return None,
            }
        }
    }

    fn enqueue(&mut self, seat: usize, events: Vec<SimEvent>) {
        for mut event in events {
            self.planned += 1;
            if let Some(request) = &mut event.request {
                (request.seat, request.number) = (seat, self.planned);
            }
            self.queue.push(Reverse(Queued { key: (event.at_ms, self.planned), seat, event }));
        }
    }
}

impl Iterator for SimFleet {
    type Item = SimEvent;

    fn next(&mut self) -> Option<SimEvent> {
        self.first()?;
        let Reverse(queued) = self.queue.pop()?;
        track_open_session(&mut self.open, &queued);
        if !queued.event.is_named("Notification") {
            let returned = &mut self.returned[queued.seat];
            *returned = queued.key.1.max(*returned);
        }
        Some(queued.event)
    }
}

/// Updates which sessions are open: an event opens its session, and `SessionEnd` closes it.
fn track_open_session(open: &mut BTreeMap<String, usize>, queued: &Queued) {
    let id = &queued.event.session_id;
    if queued.event.is_named("SessionEnd") {
        open.remove(id);
    } else if !open.contains_key(id) {
        open.insert(id.clone(), queued.seat);
    }
}

fn project_of_seat(seat: usize, home: &str) -> (usize, SeatProject) {
    let folder = seat / SEATS_PER_WORKTREE;
    let (repo_number, tree) = (folder / 3, folder % 3);
    let repo = REPOS[repo_number % REPOS.len()];
    // A fleet larger than the library repeats it under numbered names.
    let round = repo_number / REPOS.len();
    let number = if round == 0 { String::new() } else { format!("-{}", round + 1) };
    let (worktree, branch) = repo.worktrees[tree];
    let project = format!("{}{number}", repo.name);
    let folder = if worktree.is_empty() { project.clone() } else { format!("{worktree}{number}") };
    let place = SeatProject {
        cwd: format!("{home}/work/{folder}"),
        project,
        worktree: (!worktree.is_empty()).then_some(folder),
        branch: branch.into(),
    };
    (repo_number % REPOS.len(), place)
}

#[cfg(test)]
mod tests;
