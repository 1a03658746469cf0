//! The replies to `hooks.*` if no daemon answers in time: those of a session without an effort, so that the agent goes on.

use serde_json::Value;

use crate::types::*;

macro_rules! default_of {
    ($reply:ty, engine_hook) => {
        serde_json::to_value(<$reply>::default()).ok()
    };
    ($reply:ty $(, $other:ident)?) => {
        None
    };
}

/// The reply to a command of `hooks.*` without an effort. `None` for any other command: it has no reply without a daemon.
pub fn fail_open_reply(command: &str) -> Option<Value> {
    macro_rules! find {
        ($(
            $request:ident -> $reply:ty, $summary:literal {
                $(socket $command:literal $(by $special:ident)?, example $example:tt;)?
                $(http $method:ident $path:literal $(by $handler:ident)? $(, $about:literal)? [$($responses:tt)*];)*
            }
        )*) => {
            match command {
                $($($command => default_of!($reply $(, $special)?),)?)*
                _ => None,
            }
        };
    }
    crate::endpoints!(find)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ENDPOINTS;

    #[test]
    fn every_command_of_hooks_has_a_reply_that_lets_the_agent_go_on_and_no_other_command_has_one() {
        for command in ENDPOINTS.iter().filter_map(|endpoint| endpoint.command) {
            assert_eq!(fail_open_reply(command).is_some(), command.starts_with("hooks."), "{command}");
        }
        let call = fail_open_reply("hooks.preToolUse").unwrap();
        let fields = json!({"allow": true, "heartbeatCount": 0, "contextUsage": null, "overflowWarning": false,
            "pendingPreloads": [], "firedRules": []});
        assert_eq!(call, fields);
        let compacts = fail_open_reply("hooks.preCompact").unwrap();
        assert_eq!(compacts, json!({"action": "none", "windowEnded": false}));
    }
}
