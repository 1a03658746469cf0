//! What goes out: the API, the event stream, the page, and how the daemon is doing.

pub mod api;
pub mod assets;
pub mod numbers;
pub mod observe;
pub mod openapi;
pub mod sse;
pub mod terminal;
pub mod usage;
