//! What the table says about a request.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One request of the interface. Implemented by the table, [`crate::endpoints!`].
pub trait ApiRequest: Serialize + DeserializeOwned + Send + 'static {
    type Reply: Serialize + DeserializeOwned + Send + 'static;
    const ENDPOINT: Endpoint;
}

/// A request that the socket takes. Implemented by the table for each row with a `socket` line.
pub trait SocketCommand: ApiRequest {
    const COMMAND: &'static str;
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    pub summary: &'static str,
    /// The name of the socket command; `None` if only HTTP has the request.
    pub command: Option<&'static str>,
    /// Arguments of the command, as an example. Empty if the row has no command.
    pub example: fn() -> Value,
    pub routes: &'static [Route],
}

/// One HTTP route of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub method: Method,
    /// With `{name}` where a part of the path is an argument.
    pub path: &'static str,
    pub summary: &'static str,
    /// Status codes and what each means, a success first.
    pub responses: &'static [(u16, &'static str)],
}

impl Route {
    /// The status of a request that succeeded.
    pub const fn success(&self) -> u16 {
        match self.responses {
            [(status, _), ..] => *status,
            [] => 200,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
}

impl Method {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
        }
    }
}
