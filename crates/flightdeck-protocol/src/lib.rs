//! The daemon's own interface as types: requests, replies, changes and error codes.
//!
//! [`endpoints!`] is the one table of all requests. The daemon's HTTP routes and socket commands, the OpenAPI document and
//! the client's typed calls are derived from it. Each module below holds the requests of one area with their replies.

pub mod arguments;
pub mod asks;
pub mod assignments;
pub mod changes;
pub mod daemon;
pub mod efforts;
mod endpoint;
pub mod engine_hooks;
mod error;
mod fail_open;
pub mod fleet;
pub mod frame;
pub mod hooks;
pub mod hosts;
pub mod notify;
pub mod openapi;
pub mod policy;
pub mod schema;
pub mod seats;
pub mod sessions;
mod shape;
pub mod supervise;
mod table;
pub mod terminal;
pub mod types;
#[cfg(feature = "ts")]
pub mod typescript;
pub mod usage;

pub use endpoint::{ApiRequest, Endpoint, Method, Route, SocketCommand};
pub use error::{AskRefusal, ErrorCode, ErrorReply, PlainError};
pub use fail_open::fail_open_reply;
pub use table::{ALIASES, ENDPOINTS};
