//! Facts about the client that started the hook: a few named environment variables, and its process.

use std::ffi::OsString;

use crate::limits::VARIABLE_BYTES_MAX;
use crate::process::{self, Stat};

/// Only these variables are sent. The environment holds API keys and the client's messaging token: never add those.
pub const CLIENT_VARIABLES: [&str; 7] = [
    "AGENT_ID",
    "FLIGHTDECK_SEAT",
    "TMUX",
    "TMUX_PANE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CODE_ENTRYPOINT",
];

pub(crate) fn variables(env: impl Fn(&str) -> Option<OsString>) -> Vec<(&'static str, String)> {
    let bounded = |value: OsString| {
        let mut text = value.to_string_lossy().into_owned();
        text.truncate(text.floor_char_boundary(VARIABLE_BYTES_MAX));
        text
    };
    // A loop, because `collect` is a function of its own that the linker places far from the hook's code.
    let mut set = Vec::with_capacity(CLIENT_VARIABLES.len());
    for name in CLIENT_VARIABLES {
        if let Some(value) = env(name).filter(|value| !value.is_empty()) {
            set.push((name, bounded(value)));
        }
    }
    set
}

/// The client's pid and start time. The pid is `CLAUDE_PID`, or else that of the nearest ancestor that is not a shell. The start
/// time is missing where the kernel does not provide it.
pub(crate) fn process(claude_pid: Option<&str>) -> Option<(u32, Option<Stat>)> {
    let named = claude_pid.and_then(|pid| pid.trim().parse().ok()).filter(|pid| *pid > 0);
    match named {
        Some(pid) => Some((pid, process::stat(pid))),
        None => ancestor(),
    }
}

#[cfg(target_os = "linux")]
fn ancestor() -> Option<(u32, Option<Stat>)> {
    use crate::limits::ANCESTORS_MAX;
    /// Programs between the client and its hook.
    const SHELLS: [&str; 14] = [
        "sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "busybox", "env", "nice", "timeout",
        "setsid", "sudo",
    ];
    /// Programs that become the parent of a hook whose client died.
    const ADOPTERS: [&str; 6] = ["init", "systemd", "tini", "dumb-init", "docker-init", "catatonit"];

    let mut pid = std::os::unix::process::parent_id();
    for _ in 0..ANCESTORS_MAX {
        let stat = process::stat(pid)?;
        if ADOPTERS.contains(&stat.comm.as_str()) {
            return None;
        }
        if !SHELLS.contains(&stat.comm.as_str()) {
            return Some((pid, Some(stat)));
        }
        pid = stat.parent;
    }
    None
}

#[cfg(not(target_os = "linux"))]
fn ancestor() -> Option<(u32, Option<Stat>)> {
    Some((std::os::unix::process::parent_id(), None)).filter(|(pid, _)| *pid > 1)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn only_named_variables_are_sent_bounded_and_as_text() {
        let env = |name: &str| match name {
            "AGENT_ID" => Some(OsString::from_vec(b"a\xffb".to_vec())),
            "TMUX" => Some("".into()),
            "CLAUDE_PROJECT_DIR" => Some("ä".repeat(VARIABLE_BYTES_MAX).into()),
            "ANTHROPIC_API_KEY" | "CLAUDE_CODE_MESSAGING_TOKEN" => Some("secret".into()),
            _ => None,
        };
        let variables = variables(env);
        assert_eq!(variables[0], ("AGENT_ID", "a\u{fffd}b".to_owned()));
        assert_eq!(variables[1].1.len(), VARIABLE_BYTES_MAX);
        assert_eq!(variables.len(), 2);
    }

    #[test]
    fn a_claude_pid_that_is_not_a_number_is_ignored() {
        assert_eq!(process(Some("12 ")).map(|(pid, _)| pid), Some(12));
        let by_ancestor = process(None);
        for odd in ["", "0", "-4", "x", "99999999999999"] {
            assert_eq!(process(Some(odd)), by_ancestor, "{odd}");
        }
    }
}
