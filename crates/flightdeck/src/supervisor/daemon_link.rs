//! Receives the daemon's orders about one client, and reconnects if the daemon restarts.

use std::time::Duration;

use flightdeck_protocol::ErrorCode;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::client::{AsyncClient, ClientError, reconnect_delay};
use crate::paths::Paths;

/// Longest wait until an answer is written to the daemon: it fits into the socket's buffer.
const WRITTEN_WITHIN: Duration = Duration::from_millis(200);

/// An order that the supervisor must answer.
#[derive(Debug)]
pub(super) struct DaemonOrder {
    pub(super) prompt: String,
    answer: oneshot::Sender<bool>,
    /// Closed when the answer is written.
    written: oneshot::Receiver<()>,
}

impl DaemonOrder {
    /// Returns when the answer is written, or cannot be.
    pub(super) async fn answer(self, accepted: bool) {
        // Fails if the connection broke; then the daemon lets the client compact.
        let _ = self.answer.send(accepted);
        // Always ends with an error, because nothing is ever sent and the other side is dropped.
        let _ = timeout(WRITTEN_WITHIN, self.written).await;
    }
}

/// The connection to the daemon about one client. Dropping it closes the connection.
#[derive(Debug)]
pub(super) struct DaemonLink {
    orders: mpsc::Receiver<DaemonOrder>,
    task: JoinHandle<()>,
}

impl DaemonLink {
    pub(super) fn open(paths: Paths, group: u32) -> Self {
        // The next order comes only after the answer to the last one.
        let (sender, orders) = mpsc::channel(1);
        Self { orders, task: tokio::spawn(async move { keep_connected(&paths, group, &sender).await }) }
    }

    /// Waits for the next order. Never returns if no daemon runs.
    pub(super) async fn next_order(&mut self) -> DaemonOrder {
        match self.orders.recv().await {
            Some(order) => order,
            None => std::future::pending().await,
        }
    }
}

impl Drop for DaemonLink {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn keep_connected(paths: &Paths, group: u32, orders: &mpsc::Sender<DaemonOrder>) {
    let mut failures = 0;
    loop {
        match pass_orders_on(paths, group, orders, &mut failures).await {
            // The daemon is of an earlier version and sends no orders, so no reconnect is needed.
            ClientError::Refused(refusal) if refusal.error == ErrorCode::UnknownCommand => return,
            _ => tokio::time::sleep(reconnect_delay(failures)).await,
        }
        failures = failures.saturating_add(1);
    }
}

/// Passes orders from the daemon to the supervisor, and its answers back. Returns the error that ended the connection.
async fn pass_orders_on(
    paths: &Paths,
    group: u32,
    orders: &mpsc::Sender<DaemonOrder>,
    failures: &mut u32,
) -> ClientError {
    let connected = async { AsyncClient::connect(paths).await?.supervise(group).await };
    let mut supervision = match connected.await {
        Ok(supervision) => supervision,
        Err(error) => return error,
    };
    *failures = 0;
    loop {
        let order = match supervision.next_order().await {
            Ok(order) => order,
            Err(error) => return error,
        };
        let ((answer, accepted), (is_written, written)) = (oneshot::channel(), oneshot::channel());
        // Fails if the supervisor is ending; then the order is declined.
        let _ = orders.send(DaemonOrder { prompt: order.prompt, answer, written }).await;
        if let Err(error) = supervision.answer(accepted.await.unwrap_or(false)).await {
            return error;
        }
        drop(is_written);
    }
}
