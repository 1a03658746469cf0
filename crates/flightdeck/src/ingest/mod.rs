//! Sources of events other than a request: the spool, the client's registry, process exits.

pub mod drain;
pub mod liveness;
mod pane_discovery;
pub mod registry;
pub mod spool;

use std::sync::Arc;

use crate::engine::EngineHandle;
use crate::health::Health;

/// Where events go, and where problems on the way are reported. A clone shares both.
#[derive(Clone, Debug)]
pub struct Sink {
    pub engine: EngineHandle,
    pub health: Arc<Health>,
}
