//! Watches the processes of sessions and reports at once when one ends.
//!
//! An unknown process is not a dead one. A pid has a meaning only in its own namespace: nothing is known of a process in a
//! container that shares the home. If no namespace was reported, a process counts as gone only after it was seen alive here,
//! or if it is missing after a restart.

use std::collections::BTreeMap;
use std::time::Duration;

use flightdeck_core::fleet::Occupant;
use flightdeck_core::ids::SessionId;
use flightdeck_core::log::from_registry::process_gone_record;
use tokio::sync::mpsc;

use crate::clock;
use crate::ingest::Sink;
use crate::process;

/// Most processes that wait to be watched. If there are more, the end of one is noticed only at the next restart.
pub const SEATS_WAITING_MAX: usize = 1024;

/// When to retry after the store refused the end of a process.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// From this many watched processes on, ended ones are removed from the list.
const CLEAN_UP_FROM: usize = 256;

/// What the process table says about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Liveness {
    Alive,
    Gone,
    Unknown,
}

/// The watched processes, each with its session.
type Watched = BTreeMap<(u32, Option<String>), SessionId>;

/// Watches processes until the daemon stops. `restored` are the occupants of seats at the last stop and those that the spool added since.
pub async fn watch(sink: Sink, restored: Vec<Occupant>, mut seats: mpsc::Receiver<Occupant>) {
    let here = process::namespace();
    let mut watched = Watched::new();
    for occupant in restored {
        let liveness = check_occupant(&occupant, here.as_deref());
        handle(&sink, occupant, liveness, &mut watched);
    }
    let mut clean_up_at = CLEAN_UP_FROM;
    while let Some(occupant) = seats.recv().await {
        let liveness = match check_occupant(&occupant, here.as_deref()) {
            Liveness::Gone if occupant.pid_ns.is_none() => Liveness::Unknown,
            liveness => liveness,
        };
        handle(&sink, occupant, liveness, &mut watched);
        if watched.len() >= clean_up_at {
            watched.retain(|(pid, _), _| process::exists(*pid));
            clean_up_at = CLEAN_UP_FROM.max(2 * watched.len());
        }
    }
}

fn handle(sink: &Sink, occupant: Occupant, liveness: Liveness, watched: &mut Watched) {
    let process = (occupant.pid, occupant.proc_start.clone());
    match liveness {
        Liveness::Alive => {
            let before = watched.insert(process, occupant.session_id.clone());
            if before.as_ref() != Some(&occupant.session_id) {
                watch_process(sink, occupant);
            }
        }
        // Runs in a task of its own, so that the other processes are watched while the store refuses.
        Liveness::Gone => drop(tokio::spawn(report_end(sink.clone(), occupant))),
        Liveness::Unknown => {}
    }
}

fn check_occupant(occupant: &Occupant, here: Option<&str>) -> Liveness {
    let elsewhere = occupant.pid_ns.is_some() && occupant.pid_ns.as_deref() != here;
    if elsewhere || !occupant.host.is_this() {
        return Liveness::Unknown;
    }
    match (process::start_time(occupant.pid), &occupant.proc_start) {
        (Some(now), Some(then)) if now == *then => Liveness::Alive,
        // The pid belongs to another process now.
        (Some(_), Some(_)) => Liveness::Gone,
        (Some(_), None) => Liveness::Unknown,
        (None, Some(_)) if cfg!(target_os = "linux") => Liveness::Gone,
        (None, _) if process::exists(occupant.pid) => Liveness::Alive,
        (None, _) => Liveness::Gone,
    }
}

fn watch_process(sink: &Sink, occupant: Occupant) {
    let sink = sink.clone();
    tokio::spawn(async move {
        process::wait_until_ended(occupant.pid, occupant.proc_start.as_deref()).await;
        report_end(sink, occupant).await;
    });
}

/// Appends the end of the process. The core ignores it if the session had left the process or had ended before.
async fn report_end(sink: Sink, occupant: Occupant) {
    let Occupant { session_id, pid, proc_start, .. } = &occupant;
    let record =
        process_gone_record(session_id, *pid, proc_start.as_deref(), clock::now(), clock::fresh_id());
    while let Err(error) = sink.engine.append(vec![record.clone()]).await {
        if sink.engine.is_stopped() {
            return;
        }
        tracing::warn!(%error, session = %session_id, "could not store that a process ended; it is tried again");
        tokio::time::sleep(RETRY_AFTER).await;
    }
}
