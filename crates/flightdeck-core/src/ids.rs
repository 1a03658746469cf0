//! Ids as types of their own, so that a session's id is never taken for an ask's.
//!
//! Each is a text. JSON and snapshots hold the bare text.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Deref for $name {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }

        impl PartialEq<String> for $name {
            fn eq(&self, other: &String) -> bool {
                self.0 == *other
            }
        }

        impl PartialEq<$name> for str {
            fn eq(&self, other: &$name) -> bool {
                self == other.0
            }
        }

        impl PartialEq<$name> for &str {
            fn eq(&self, other: &$name) -> bool {
                *self == other.0
            }
        }

        #[cfg(feature = "ts")]
        impl ts_rs::TS for $name {
            type WithoutGenerics = Self;
            type OptionInnerType = Self;
            fn name(_: &ts_rs::Config) -> String {
                "string".to_owned()
            }
            fn inline(config: &ts_rs::Config) -> String {
                Self::name(config)
            }
        }
    )*};
}

ids! {
    /// One conversation: the client's `session_id`.
    SessionId;
    /// A request that a person can answer: the id of the event that opened it.
    AskId;
    /// A subagent inside a session: the client's `agent_id`.
    AgentId;
    /// What a person asked of a session: `a-` and the id of the event that opened it.
    AssignmentId;
    /// A machine. Empty for the machine that the daemon runs on, so that a renamed machine replays the same.
    HostId;
    /// A place that sessions occupy one after the other. The daemon gives the id.
    SeatId;
    /// The name that a person or a program gave to a seat, such as `backend`. A seat without a name has only its `SeatId`.
    SeatName;
    /// A run of a skill that outlives context windows: `e-` and the id of the event that started it.
    EffortId;
    /// A context window of an effort: `w-` and the id of the event that began it.
    WindowId;
    /// A text that an effort waits to give to its agent: `i-` and the id of the event that asked for it.
    InjectionId;
    /// A message of an effort: `m-` and the id of the event that it was filed for.
    MessageId;
}

impl SessionId {
    /// The id that a hub gives to another host's session. Two hosts may have equal ids, so the name of the host is added to every such id.
    #[must_use]
    pub fn on_host(&self, host: &HostId) -> Self {
        if host.is_this() { self.clone() } else { Self(format!("{self}@{host}")) }
    }

    /// The id that the session has on its own host.
    #[must_use]
    pub fn without_host(&self, host: &HostId) -> Self {
        let bare = self.0.strip_suffix(host.as_str()).and_then(|rest| rest.strip_suffix('@'));
        bare.map_or_else(|| self.clone(), Self::from)
    }
}

impl HostId {
    /// The machine that the daemon runs on.
    pub fn this_machine() -> Self {
        Self::default()
    }
    pub fn is_this(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_bare_text_in_json() {
        let id = SessionId::new("a-1");
        assert_eq!(serde_json::to_string(&id).unwrap(), r#""a-1""#);
        assert_eq!(serde_json::from_str::<SessionId>(r#""a-1""#).unwrap(), id);
        assert_eq!(id, "a-1");
    }

    #[test]
    fn a_session_of_another_host_is_named_after_it_and_reads_back() {
        let (id, host) = (SessionId::new("a@b"), HostId::new("build-1"));
        assert_eq!(id.on_host(&host), "a@b@build-1");
        assert_eq!(id.on_host(&host).without_host(&host), id);
        assert_eq!(
            (id.on_host(&HostId::this_machine()), id.without_host(&HostId::this_machine())),
            (id.clone(), id)
        );
    }

    #[test]
    fn the_own_host_has_no_name() {
        assert!(HostId::this_machine().is_this());
        assert!(!HostId::new("build-1").is_this());
    }
}
