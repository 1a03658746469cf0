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

/// Adds to a hook what its payload does not say and the fold needs: a spooled hook needs the same as one that was sent.
pub trait PrepareHook: Debug + Send + Sync {
    fn prepare<'a>(&'a self, record: &'a mut Record) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

/// Where events go, and where problems on the way are reported. A clone shares them.
#[derive(Clone, Debug)]
pub struct Sink {
    pub engine: EngineHandle,
    pub health: Arc<Health>,
    pub hooks: Arc<dyn PrepareHook>,
}
