//! Watches over the processes that sessions sit in, and tells of their death at once.
//!
//! Unknown is not dead: a process is only missed after it was seen alive here. What a restart finds gone, though, died
//! while nobody watched.

use std::collections::BTreeMap;
use std::time::Duration;

use flightdeck_core::fleet::Occupant;
use flightdeck_core::wire::registry::process_gone;
use tokio::sync::mpsc;

use crate::clock;
use crate::process;
use crate::server::App;

/// News of seats that may wait; one more than that and a death is noticed at the next restart.
pub const SEATS_WAITING_MAX: usize = 1024;

/// A death the store refused is told again after this.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// From this many on the dead are forgotten now and then.
const TIDY_FROM: usize = 256;

/// What the process table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    Alive,
    Gone,
    Unknown,
}

/// `restored`: who sat where when the daemon last stopped, or by what came from the spool since.
pub async fn watch(app: App, restored: Vec<Occupant>, mut seats: mpsc::Receiver<Occupant>) {
    let mut followed: BTreeMap<(u32, Option<String>), String> = BTreeMap::new();
    for occupant in restored {
        followed.insert((occupant.pid, occupant.proc_start.clone()), occupant.session_id.clone());
        match look(&occupant) {
            Sight::Alive => follow(&app, occupant),
            // Beside us: while the store refuses, others are still to be followed.
            Sight::Gone => drop(tokio::spawn(tell(app.clone(), occupant))),
            Sight::Unknown => {}
        }
    }
    let mut tidy_at = TIDY_FROM;
    while let Some(occupant) = seats.recv().await {
        let process = (occupant.pid, occupant.proc_start.clone());
        let same = followed.insert(process, occupant.session_id.clone()) == Some(occupant.session_id.clone());
        if !same && look(&occupant) == Sight::Alive {
            follow(&app, occupant);
        }
        if followed.len() >= tidy_at {
            followed.retain(|(pid, _), _| process::exists(*pid));
            tidy_at = TIDY_FROM.max(2 * followed.len());
        }
    }
}

fn look(occupant: &Occupant) -> Sight {
    match (process::start_time(occupant.pid), &occupant.proc_start) {
        (Some(now), Some(then)) if now == *then => Sight::Alive,
        // The number was given to somebody else.
        (Some(_), Some(_)) => Sight::Gone,
        (Some(_), None) => Sight::Unknown,
        (None, Some(_)) if cfg!(target_os = "linux") => Sight::Gone,
        (None, _) if process::exists(occupant.pid) => Sight::Alive,
        (None, _) => Sight::Gone,
    }
}

fn follow(app: &App, occupant: Occupant) {
    let app = app.clone();
    tokio::spawn(async move {
        process::ended(occupant.pid, occupant.proc_start.as_deref()).await;
        tell(app, occupant).await;
    });
}

/// The session may have left the process, or ended by its own word: the core knows.
async fn tell(app: App, occupant: Occupant) {
    let Occupant { session_id, pid, proc_start } = &occupant;
    let record = process_gone(session_id, *pid, proc_start.as_deref(), clock::now(), clock::fresh_id());
    while let Err(error) = app.engine.append(vec![record.clone()]).await {
        if app.engine.is_stopped() {
            return;
        }
        tracing::warn!(%error, session = session_id, "the death of a process was not stored yet");
        tokio::time::sleep(RETRY_AFTER).await;
    }
}
