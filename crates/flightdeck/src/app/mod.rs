//! The use cases of the daemon, one per request: typed in, typed out, one error. Transports call them.

mod asks;
mod daemon;
mod encoded;
mod error;
mod fleet;
pub mod holds;
pub mod hook_watch;
mod hooks;
mod notify;
mod policy;
pub mod registration;
mod sessions;
mod terminal;
mod usage;

use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::approval::policy::Policy;
use flightdeck_core::ids::SessionId;
use flightdeck_core::log::hold_rules::HoldRules;
use flightdeck_core::log::record::{Record, Source};
use flightdeck_core::usage::price::PriceTable;
use flightdeck_protocol::Request;
use serde_json::{Map, Value};

pub use self::encoded::{Encoded, Reply};
pub use self::error::{AppError, AskError, Unavailable};
use self::holds::HeldHooks;
pub use self::hooks::{IncomingHook, ReceivedHook};
use self::registration::Registrar;
use crate::clock;
pub use crate::engine::changes::Subscription;
use crate::engine::{EngineHandle, Stopped};
use crate::health::Health;
use crate::notify::Notifier;
use crate::store::Store;
use crate::terminal::Terminals;
use crate::transcripts::history::History;

/// The parts of the daemon that the use cases work with. A clone shares them.
#[derive(Clone, Debug)]
pub struct App {
    pub engine: EngineHandle,
    pub store: Store,
    pub health: Arc<Health>,
    pub registrar: Arc<Registrar>,
    /// The address of the board.
    pub url: Arc<str>,
    /// How often a stream without changes sends a heartbeat.
    pub heartbeat_every: Duration,
    pub history: Arc<History>,
    pub prices: Arc<PriceTable>,
    pub holds: Arc<HeldHooks>,
    pub hold_rules: HoldRules,
    /// As it was read at the start.
    pub policy: Arc<Policy>,
    pub terminals: Arc<Terminals>,
    pub notifier: Arc<Notifier>,
}

/// A use case: what a request does and what it is answered with.
pub trait Handle<R: Request> {
    fn handle(&self, request: R) -> impl Future<Output = Result<Reply<R::Reply>, AppError>> + Send;
}

impl App {
    /// Every change of the board from now on, after a snapshot or what the viewer missed since `last_event_id`.
    pub async fn subscribe(&self, last_event_id: Option<String>) -> Result<Subscription, Stopped> {
        self.engine.subscribe(last_event_id).await
    }

    /// Appends what the person did to the log.
    async fn append_user_action(
        &self,
        session_id: &SessionId,
        name: &str,
        payload: Map<String, Value>,
    ) -> Result<u64, AppError> {
        let record = Record::ours(Source::User, name, session_id, payload, clock::fresh_id());
        let appended = self.engine.append(vec![record]).await?;
        Ok(appended.first().map_or(0, |a| a.seq))
    }
}
