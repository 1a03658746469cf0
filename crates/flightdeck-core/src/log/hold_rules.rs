//! Which hooks are held open while a person decides, and for how long.

use std::time::Duration;

use super::record::Record;
use crate::wire::hook_name::HookName;

/// Hooks held at once: half of the socket's connections, so that other hooks can always connect.
pub const HOLDS_MAX: usize = 512;
/// A hold ends this long before the client would kill its hook, because an earlier end means that the person refused.
pub const HOLD_ENDS_BEFORE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
pub struct HoldRules {
    /// The timeout of the handler, less [`HOLD_ENDS_BEFORE`].
    pub hold: Duration,
    /// Hooks of `claude -p` too, which shows no prompt of its own.
    pub print: bool,
    /// Elicitations too: the client does not show its own dialog meanwhile.
    pub elicitation: bool,
    /// Requests of subagents too: the client shows its dialog for those only once the hook has ended.
    pub agents: bool,
}

impl HoldRules {
    /// Holds only hooks during which the terminal's own prompt stays usable.
    pub fn new(timeout_seconds: u32) -> Self {
        let hold = Duration::from_secs(timeout_seconds.into()).saturating_sub(HOLD_ENDS_BEFORE);
        Self { hold, print: false, elicitation: false, agents: false }
    }

    /// For a hook that reports the client's timeout. A hook without one may be of an older version: its elicitations are not
    /// held, because until the client has read its settings again it does not wait for that handler.
    #[must_use]
    pub fn until_timeout(self, seconds: Option<u32>) -> Self {
        match seconds {
            Some(seconds) => Self { hold: Self::new(seconds).hold, ..self },
            None => Self { elicitation: false, ..self },
        }
    }

    pub fn wants(&self, record: &Record) -> bool {
        let kind = match HookName::parse(&record.name) {
            Some(HookName::PermissionRequest) => true,
            Some(HookName::Elicitation) => self.elicitation,
            _ => false,
        };
        let print = record.envelope.entrypoint.as_deref() == Some("sdk-cli");
        let agent = record.agent_id.is_some();
        kind && (self.print || !print) && (self.agents || !agent) && !self.hold.is_zero()
    }
}
