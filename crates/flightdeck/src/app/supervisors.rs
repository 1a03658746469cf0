//! The connected supervisors: each is a `flightdeck run` that started one client and can start it again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flightdeck_protocol::supervise::RESTART_HOLD_MAX;
use rustix::process::{Pid, getpgid};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use super::App;

/// Longest wait for a supervisor's answer, which takes some milliseconds. A supervisor that a person has stopped with Ctrl-Z
/// does not answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);
/// Orders that may wait for one supervisor. A second one would mean that the first was not carried out yet.
const ORDERS_MAX: usize = 1;

/// An order for one supervisor.
#[derive(Debug)]
pub struct SupervisorOrder {
    /// The first prompt of the fresh client.
    pub prompt: String,
    answer: oneshot::Sender<bool>,
}

impl SupervisorOrder {
    pub fn answer(self, accepted: bool) {
        // Fails if the order took too long or the hook has ended.
        let _ = self.answer.send(accepted);
    }
}

/// The connected supervisors, by the process group of their client.
#[derive(Debug, Default)]
pub struct Supervisors {
    by_group: Mutex<HashMap<u32, mpsc::Sender<SupervisorOrder>>>,
}

impl Supervisors {
    fn by_group(&self) -> MutexGuard<'_, HashMap<u32, mpsc::Sender<SupervisorOrder>>> {
        // No code panics while it holds the lock; if it did, the map would still be whole.
        self.by_group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects a supervisor until the result is dropped.
    pub fn connect(self: &Arc<Self>, group: u32) -> SupervisorOrders {
        let (sender, receiver) = mpsc::channel(ORDERS_MAX);
        self.by_group().insert(group, sender.clone());
        SupervisorOrders { group, sender, receiver, supervisors: Arc::clone(self) }
    }

    /// Orders the supervisor of this client to end it and to start it again with `prompt`. `None` if the client has no supervisor, or if
    /// the supervisor has not taken its previous order yet.
    pub fn restart(&self, client: u32, prompt: String) -> Option<OrderedRestart> {
        let supervisor = self.supervisor_of(client)?;
        let (answer, accepted) = oneshot::channel();
        supervisor.try_send(SupervisorOrder { prompt, answer }).ok()?;
        Some(OrderedRestart { accepted, supervisor, until: Instant::now() + RESTART_HOLD_MAX })
    }

    fn supervisor_of(&self, client: u32) -> Option<mpsc::Sender<SupervisorOrder>> {
        let by_group = self.by_group();
        // Most daemons have no supervisor. Then the kernel is not asked for the process group.
        if by_group.is_empty() {
            return None;
        }
        let group = getpgid(Some(Pid::from_raw(i32::try_from(client).ok()?)?)).ok()?;
        by_group.get(&u32::try_from(group.as_raw_nonzero().get()).ok()?).cloned()
    }

    /// How many supervisors are connected.
    pub fn len(&self) -> usize {
        self.by_group().len()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A restart that a supervisor was ordered to make. The client's PreCompact hook is held until the client is gone: the client works on for
/// some tens of milliseconds after SIGTERM, and would compact if its hook ended earlier.
#[derive(Debug)]
pub struct OrderedRestart {
    accepted: oneshot::Receiver<bool>,
    /// Closed by the supervisor when the client is gone.
    supervisor: mpsc::Sender<SupervisorOrder>,
    until: Instant,
}

impl OrderedRestart {
    /// The longest time that the hook is held.
    pub fn hold_ms(&self) -> u64 {
        u64::try_from(self.until.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns when the hook may end: when the client is gone, when the supervisor declines or does not answer, or after the longest hold.
    /// A client that is still there then compacts. True if the supervisor accepted the order.
    pub async fn wait_until_accepted(self) -> bool {
        let accepted = matches!(timeout(ANSWER_WITHIN, self.accepted).await, Ok(Ok(true)));
        if accepted && timeout_at(self.until, self.supervisor.closed()).await.is_err() {
            tracing::warn!(
                "a client that was ordered to restart did not end in time; its hook is released, and it may compact first"
            );
        }
        accepted
    }
}

/// The orders for one supervisor.
#[derive(Debug)]
pub struct SupervisorOrders {
    group: u32,
    sender: mpsc::Sender<SupervisorOrder>,
    receiver: mpsc::Receiver<SupervisorOrder>,
    supervisors: Arc<Supervisors>,
}

impl SupervisorOrders {
    /// Waits for the next order.
    pub async fn next(&mut self) -> Option<SupervisorOrder> {
        self.receiver.recv().await
    }
}

impl Drop for SupervisorOrders {
    fn drop(&mut self) {
        let mut by_group = self.supervisors.by_group();
        // The supervisor may have connected again before its old connection was noticed as closed.
        if by_group.get(&self.group).is_some_and(|now| now.same_channel(&self.sender)) {
            by_group.remove(&self.group);
        }
    }
}

impl App {
    /// Connects the supervisor of the client with this process group.
    pub fn supervise(&self, group: u32) -> SupervisorOrders {
        self.supervisors.connect(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_group() -> u32 {
        u32::try_from(rustix::process::getpgrp().as_raw_nonzero().get()).unwrap()
    }

    #[tokio::test]
    async fn an_order_reaches_the_supervisor_of_the_clients_process_group() {
        let supervisors = Arc::new(Supervisors::default());
        let client = std::process::id();
        assert!(supervisors.restart(client, "go on".into()).is_none(), "there is no supervisor");
        let mut orders = supervisors.connect(own_group());
        let mut other = supervisors.connect(own_group() + 1);
        let restart = supervisors.restart(client, "go on".into()).unwrap();
        assert!(supervisors.restart(client, "again".into()).is_none(), "its queue is full");
        let order = orders.next().await.unwrap();
        assert_eq!(order.prompt, "go on");
        order.answer(false);
        assert!(!restart.wait_until_accepted().await);
        assert!(other.receiver.try_recv().is_err());
        drop(orders);
        assert!(supervisors.restart(client, "go on".into()).is_none());
        assert_eq!(supervisors.len(), 1);
    }

    /// How long the hook is held if the supervisor answers so, and says after a time that the client is gone.
    async fn held(answer: Option<bool>, gone_after: Duration) -> (bool, Duration) {
        let supervisors = Arc::new(Supervisors::default());
        let mut orders = supervisors.connect(own_group());
        let restart = supervisors.restart(std::process::id(), "go on".into()).unwrap();
        assert_eq!(restart.hold_ms(), 3_000);
        let began = Instant::now();
        let supervisor = tokio::spawn(async move {
            let order = orders.next().await.unwrap();
            // Kept: an order that is dropped is declined.
            let _unanswered = match answer {
                Some(answer) => {
                    order.answer(answer);
                    None
                }
                None => Some(order),
            };
            tokio::time::sleep(gone_after).await;
        });
        let accepted = restart.wait_until_accepted().await;
        supervisor.abort();
        (accepted, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn the_hook_is_held_until_the_client_is_gone_and_never_longer_than_the_limit() {
        let millis = Duration::from_millis;
        assert_eq!(held(Some(true), millis(1_600)).await, (true, millis(1_600)));
        assert_eq!(held(Some(true), millis(60_000)).await, (true, RESTART_HOLD_MAX));
        assert_eq!(held(Some(false), millis(60_000)).await, (false, Duration::ZERO));
        assert_eq!(held(None, millis(60_000)).await, (false, ANSWER_WITHIN));
        assert_eq!(held(None, millis(20)).await, (false, millis(20)), "the supervisor has left");
    }

    #[test]
    fn the_old_connection_of_a_supervisor_does_not_remove_its_new_one() {
        let supervisors = Arc::new(Supervisors::default());
        let old = supervisors.connect(7);
        let _new = supervisors.connect(7);
        drop(old);
        assert_eq!(supervisors.len(), 1);
    }
}
