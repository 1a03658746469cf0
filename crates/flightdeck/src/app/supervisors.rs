//! The supervisors that are connected: each `flightdeck run` has started one client and can start it again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, getpgid};
use tokio::sync::{mpsc, oneshot};

use super::App;

/// Longest wait for a supervisor's answer. The client's hook waits meanwhile, and gives up after 50 ms.
const ANSWER_WITHIN: Duration = Duration::from_millis(30);
/// Orders that wait for one supervisor. A second order means that the first was not carried out yet.
const ORDERS_MAX: usize = 1;

/// An order for one supervisor.
#[derive(Debug)]
pub struct Order {
    /// The first prompt of the fresh client.
    pub prompt: String,
    answer: oneshot::Sender<bool>,
}

impl Order {
    pub fn answer(self, accepted: bool) {
        // Fails if the order took too long; the hook has been answered then.
        let _ = self.answer.send(accepted);
    }
}

/// The connected supervisors, by the process group of their client.
#[derive(Debug, Default)]
pub struct Supervisors {
    by_group: Mutex<HashMap<u32, mpsc::Sender<Order>>>,
}

impl Supervisors {
    fn by_group(&self) -> MutexGuard<'_, HashMap<u32, mpsc::Sender<Order>>> {
        // No code panics while it holds the lock; if it did, the map would still be whole.
        self.by_group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects a supervisor until the result is dropped.
    pub fn connect(self: &Arc<Self>, group: u32) -> Orders {
        let (sender, receiver) = mpsc::channel(ORDERS_MAX);
        self.by_group().insert(group, sender.clone());
        Orders { group, sender, receiver, supervisors: Arc::clone(self) }
    }

    /// Tells the supervisor of this client to end it and to start it fresh with a prompt. True if it does; false if the client
    /// has no supervisor, or if that declines or does not answer in time. The client then goes on as it is.
    pub async fn restart(&self, client: u32, prompt: String) -> bool {
        let Some(supervisor) = self.supervisor_of(client) else { return false };
        let (answer, accepted) = oneshot::channel();
        if supervisor.try_send(Order { prompt, answer }).is_err() {
            return false;
        }
        matches!(tokio::time::timeout(ANSWER_WITHIN, accepted).await, Ok(Ok(true)))
    }

    fn supervisor_of(&self, client: u32) -> Option<mpsc::Sender<Order>> {
        let by_group = self.by_group();
        // Most daemons have no supervisor; then the kernel is not asked.
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

/// The orders for one supervisor.
#[derive(Debug)]
pub struct Orders {
    group: u32,
    sender: mpsc::Sender<Order>,
    receiver: mpsc::Receiver<Order>,
    supervisors: Arc<Supervisors>,
}

impl Orders {
    /// The next order. Never ends by itself.
    pub async fn next(&mut self) -> Option<Order> {
        self.receiver.recv().await
    }
}

impl Drop for Orders {
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
    pub fn supervise(&self, group: u32) -> Orders {
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
        assert!(!supervisors.restart(client, "go on".into()).await, "there is no supervisor");
        let mut orders = supervisors.connect(own_group());
        let mut other = supervisors.connect(own_group() + 1);
        for accepts in [true, false] {
            let answering = async {
                let order = orders.next().await.unwrap();
                assert_eq!(order.prompt, "go on");
                order.answer(accepts);
            };
            let (accepted, ()) = tokio::join!(supervisors.restart(client, "go on".into()), answering);
            assert_eq!(accepted, accepts);
        }
        assert!(other.receiver.try_recv().is_err());
        drop(orders);
        assert!(!supervisors.restart(client, "go on".into()).await);
        assert_eq!(supervisors.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_supervisor_that_does_not_answer_delays_the_hook_by_30_ms() {
        let supervisors = Arc::new(Supervisors::default());
        let _silent = supervisors.connect(own_group());
        let began = tokio::time::Instant::now();
        assert!(!supervisors.restart(std::process::id(), "go on".into()).await);
        assert_eq!(began.elapsed(), ANSWER_WITHIN);
        assert!(!supervisors.restart(std::process::id(), "again".into()).await, "its queue is full");
        assert_eq!(began.elapsed(), ANSWER_WITHIN);
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
