//! The use cases of the daemon, one per request: typed in, typed out, one error. Transports call them.

mod arguments;
mod artifacts;
mod asks;
mod assignments;
mod conversation;
mod daemon;
mod digest;
mod effort_lists;
mod effort_pages;
mod effort_settings;
mod effort_verdicts;
mod efforts;
mod encoded;
mod engine_hooks;
mod error;
mod fleet;
mod guard_history;
mod guards;
pub mod holds;
pub mod hook_watch;
mod hooks;
mod hosts;
mod notify;
mod owner;
mod policy;
pub mod project_files;
mod real_dirs;
pub mod registration;
mod sessions;
pub mod supervisors;
mod terminal;
pub mod tool_hooks;
mod usage;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flightdeck_core::ids::SessionId;
use flightdeck_core::log::hold_rules::HoldRules;
use flightdeck_core::log::record::{Record, Source};
use flightdeck_core::usage::price::PriceTable;
use flightdeck_protocol::ApiRequest;
use serde_json::{Map, Value};
use tokio::sync::watch;

pub use self::arguments::Arguments;
pub use self::daemon::{Metric, MetricKind};
pub use self::effort_verdicts::EffortVerdict;
pub use self::encoded::{AppReply, Encoded};
pub use self::engine_hooks::{HandleHook, ScriptCall};
pub use self::error::{AppError, AskError, Unavailable};
use self::holds::HeldHooks;
pub use self::hooks::{HookOutcome, HookWaits, IncomingHook, ReceivedHook};
pub use self::owner::OwnerError;
use self::project_files::ProjectFiles;
pub(crate) use self::real_dirs::RealDirs;
use self::registration::Registrar;
pub use self::supervisors::OrderedRestart;
use self::supervisors::Supervisors;
use crate::clock;
use crate::config::live::LiveConfig;
use crate::engine::changes::SubscribeFrom;
pub use crate::engine::changes::Subscription;
use crate::engine::{EngineHandle, Stopped};
use crate::health::Health;
use crate::hosts::Hosts;
use crate::notify::Notifier;
pub use crate::settings::is_query_of_http_handler;
use crate::store::Store;
use crate::terminal::Terminals;
use crate::transcripts::follow::WatchList;
use crate::transcripts::history::History;

/// What the use cases share: the engine, the store and the other parts of the daemon. A clone shares the same parts.
#[derive(Clone, Debug)]
pub struct App {
    pub(crate) engine: EngineHandle,
    pub(crate) store: Store,
    pub(crate) health: Arc<Health>,
    pub(crate) registrar: Arc<Registrar>,
    /// The address of the board.
    pub(crate) url: Arc<str>,
    /// The name of this machine, as cards have it.
    pub(crate) host: Option<Arc<str>>,
    /// How often a stream without changes sends a heartbeat.
    pub(crate) heartbeat_every: Duration,
    pub(crate) history: Arc<History>,
    /// Knows where the transcripts of the sessions are.
    pub(crate) watch_list: WatchList,
    /// The present prices. The follower of transcripts is notified when they change.
    pub(crate) prices: Arc<watch::Sender<Arc<PriceTable>>>,
    pub(crate) holds: Arc<HeldHooks>,
    /// Which hooks are held, and how long: as long as the registered handlers wait.
    pub(crate) hold_rules: Arc<Mutex<HoldRules>>,
    /// The person's settings, read again when the file changes.
    pub(crate) config: Arc<LiveConfig>,
    pub(crate) terminals: Arc<Terminals>,
    pub(crate) notifier: Arc<Notifier>,
    /// Reads and writes the directories of projects, for efforts.
    pub(crate) files: Arc<dyn ProjectFiles>,
    /// The real paths of directories, for efforts.
    pub(crate) real_dirs: Arc<RealDirs>,
    /// The connected supervisors. Each can start its client again.
    pub(crate) supervisors: Arc<Supervisors>,
    pub(crate) hosts: Arc<Hosts>,
}

/// A use case: what a request does, and the reply to it.
pub trait Handle<R: ApiRequest> {
    fn handle(&self, request: R) -> impl Future<Output = Result<AppReply<R::Reply>, AppError>> + Send;
}

impl App {
    /// Which hooks are held, by the present settings.
    pub fn hold_rules_now(&self) -> HoldRules {
        let rules = *self.hold_rules.lock().unwrap_or_else(PoisonError::into_inner);
        match self.config.changed() {
            Some(config) => HoldRules {
                print: config.hold_print,
                agents: config.hold_agents,
                elicitation: config.hold_elicitation,
                ..rules
            },
            None => rules,
        }
    }

    pub(crate) fn set_hold_rules(&self, rules: HoldRules) {
        *self.hold_rules.lock().unwrap_or_else(PoisonError::into_inner) = rules;
    }

    /// Every change of the board from now on, after a snapshot or what the viewer missed since `last_event_id`.
    pub async fn subscribe(&self, last_event_id: Option<String>) -> Result<Subscription, Stopped> {
        self.engine.subscribe(SubscribeFrom::last_event_id(last_event_id)).await
    }

    /// Starts the stream of a viewer again with `gap` and the whole board. The viewer read too slowly, so changes were dropped. Counts the
    /// gap.
    pub async fn resubscribe_after_gap(&self) -> Result<Subscription, Stopped> {
        self.health.metrics.gaps.fetch_add(1, Ordering::Relaxed);
        tracing::info!("a viewer read too slowly and missed changes; it is sent the whole board");
        self.engine.subscribe(SubscribeFrom::Gap).await
    }

    /// Appends what the person did to the log.
    async fn append_user_action(
        &self,
        session_id: &SessionId,
        name: &str,
        payload: Map<String, Value>,
    ) -> Result<u64, AppError> {
        let record = Record::noticed_here(Source::User, name, session_id, payload, clock::fresh_id());
        let appended = self.engine.append(vec![record]).await?;
        Ok(appended.first().map_or(0, |a| a.seq))
    }
}
