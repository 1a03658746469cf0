//! Sources of events other than a request: the spool, the client's registry, process exits.

pub mod drain;
pub mod liveness;
mod pane_discovery;
pub mod registry;
pub mod spool;

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use flightdeck_core::log::record::Record;

use crate::engine::EngineHandle;
use crate::health::Health;

/// Adds to a hook's record what the fold needs and the payload does not say. Spooled hooks need it as much as hooks that were sent.
pub trait PrepareHook: Debug + Send + Sync {
    fn prepare<'a>(&'a self, record: &'a mut Record) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

/// Where sources send their events and report their problems. A clone shares both.
#[derive(Clone, Debug)]
pub struct Sink {
    pub engine: EngineHandle,
    pub health: Arc<Health>,
    pub hooks: Arc<dyn PrepareHook>,
}
