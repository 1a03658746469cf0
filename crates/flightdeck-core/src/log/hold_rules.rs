//! Which hooks are held open while a person decides, and for how long.

use std::time::Duration;

use super::record::Record;
use crate::wire::hook_name::HookName;

/// Hooks held at once: half of the socket's connections, so that other hooks can always connect.
pub const HOLDS_MAX: usize = 512;
/// The daemon ends a hold this long before the client's timeout kills the hook. So a hook that disconnects during its hold was
/// not killed by the timeout: the person refused the request in the terminal.
pub const HOLD_ENDS_BEFORE: Duration = Duration::from_secs(5);

/// For how long hooks are held, and which hooks beside the permission requests of the main agent (decision 0008).
#[derive(Clone, Copy, Debug)]
pub struct HoldRules {
    /// The timeout of the handler, less [`HOLD_ENDS_BEFORE`]. Zero holds no hook.
    pub hold: Duration,
    /// Also hold the requests of `claude -p`, which shows no prompt of its own.
    pub print: bool,
    /// Also hold elicitations. The client shows its own dialog only after the hook has ended.
    pub elicitation: bool,
    /// Also hold the requests of subagents. The client shows its own dialog only after the hook has ended.
    pub agents: bool,
}

impl HoldRules {
    /// Holds only hooks during which the terminal's own prompt stays usable.
    pub fn new(timeout_seconds: u32) -> Self {
        let hold = Duration::from_secs(timeout_seconds.into()).saturating_sub(HOLD_ENDS_BEFORE);
        Self { hold, print: false, elicitation: false, agents: false }
    }

    /// The rules for a hook whose handler may report the client's timeout; the hold then ends with that timeout. If it reports
    /// none, the client has not read its new settings yet and may not wait for the hook, so elicitations are not held
    /// (decision 0011).
    #[must_use]
    pub fn until_timeout(self, seconds: Option<u32>) -> Self {
        match seconds {
            Some(seconds) => Self { hold: Self::new(seconds).hold, ..self },
            None => Self { elicitation: false, ..self },
        }
    }

    /// Whether the hook of this record is held.
    pub fn holds_hook_of(&self, record: &Record) -> bool {
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
