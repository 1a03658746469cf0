//! Watches over the processes that sessions sit in, and tells of their death at once.
//!
//! Unknown is not dead. A pid tells something only in its own namespace: of a process in a container that shares our home
//! nothing is known. Where no namespace was told, a process is only missed after it was seen alive here, or if a restart
//! finds it gone.

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

/// A process, and the session in it whose end is followed.
type Followed = BTreeMap<(u32, Option<String>), String>;

/// `restored`: who sat where when the daemon last stopped, or by what came from the spool since.
pub async fn watch(app: App, restored: Vec<Occupant>, mut seats: mpsc::Receiver<Occupant>) {
    let here = process::namespace();
    let mut followed = Followed::new();
    for occupant in restored {
        let sight = look(&occupant, here.as_deref());
        take(&app, occupant, sight, &mut followed);
    }
    let mut tidy_at = TIDY_FROM;
    while let Some(occupant) = seats.recv().await {
        let sight = match look(&occupant, here.as_deref()) {
            Sight::Gone if occupant.pid_ns.is_none() => Sight::Unknown,
            sight => sight,
        };
        take(&app, occupant, sight, &mut followed);
        if followed.len() >= tidy_at {
            followed.retain(|(pid, _), _| process::exists(*pid));
            tidy_at = TIDY_FROM.max(2 * followed.len());
        }
    }
}

fn take(app: &App, occupant: Occupant, sight: Sight, followed: &mut Followed) {
    let process = (occupant.pid, occupant.proc_start.clone());
    match sight {
        Sight::Alive => {
            let before = followed.insert(process, occupant.session_id.clone());
            if before.as_ref() != Some(&occupant.session_id) {
                follow(app, occupant);
            }
        }
        // Beside us: while the store refuses, others are still to be followed.
        Sight::Gone => drop(tokio::spawn(tell(app.clone(), occupant))),
        Sight::Unknown => {}
    }
}

fn look(occupant: &Occupant, here: Option<&str>) -> Sight {
    if occupant.pid_ns.is_some() && occupant.pid_ns.as_deref() != here {
        return Sight::Unknown;
    }
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
    let Occupant { session_id, pid, proc_start, .. } = &occupant;
    let record = process_gone(session_id, *pid, proc_start.as_deref(), clock::now(), clock::fresh_id());
    while let Err(error) = app.engine.append(vec![record.clone()]).await {
        if app.engine.is_stopped() {
            return;
        }
        tracing::warn!(%error, session = session_id, "the death of a process was not stored yet");
        tokio::time::sleep(RETRY_AFTER).await;
    }
}
