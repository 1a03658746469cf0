//! The command of a fresh client: as the person typed it, without the old session and with a new first prompt. Pure.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Options of the client that choose an old session. They are left out: the old session would compact again at once.
const SESSION_OPTIONS: [&str; 7] =
    ["--resume", "-r", "--continue", "-c", "--fork-session", "--session-id", "--from-pr"];
/// The options of [`SESSION_OPTIONS`] that may be followed by a value.
const SESSION_OPTIONS_WITH_VALUE: [&str; 4] = ["--resume", "-r", "--session-id", "--from-pr"];
/// Options without a value: the word after one of them is the prompt.
const FLAGS: [&str; 21] = [
    "-p",
    "--print",
    "-c",
    "--continue",
    "--fork-session",
    "--verbose",
    "--ide",
    "--bare",
    "--init",
    "--init-only",
    "--maintenance",
    "--chrome",
    "--no-chrome",
    "--strict-mcp-config",
    "--disable-slash-commands",
    "--no-session-persistence",
    "--include-partial-messages",
    "--include-hook-events",
    "--replay-user-messages",
    "--dangerously-skip-permissions",
    "--allow-dangerously-skip-permissions",
];
/// Options that take all words up to the next option.
const LISTS: [&str; 9] = [
    "--add-dir",
    "--allowedTools",
    "--allowed-tools",
    "--disallowedTools",
    "--disallowed-tools",
    "--tools",
    "--mcp-config",
    "--betas",
    "--file",
];

/// How the words after an option are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextWord {
    /// The next word is not a value, so it is the prompt.
    Prompt,
    Value,
    Values,
    /// The value of an option that is left out.
    Dropped,
}

/// The same command for a fresh session that begins with `prompt`. The prompt of the person's own command is left out.
///
/// A command other than `claude` has options that are not known here: only the long options of a session are left out of it,
/// and the prompt is its last argument.
pub(super) fn fresh_command(command: &[OsString], prompt: &str) -> Vec<OsString> {
    let Some((program, args)) = command.split_first() else { return Vec::new() };
    let mut fresh = vec![program.clone()];
    if Path::new(program).file_name() == Some(OsStr::new("claude")) {
        // The prompt comes first, because an option that takes several values would take it as one of them.
        fresh.push(prompt.into());
        fresh.extend(kept(args));
    } else {
        fresh.extend(args.iter().filter(|arg| !is_long_session_option(arg)).cloned());
        fresh.push(prompt.into());
    }
    fresh
}

fn is_long_session_option(arg: &OsStr) -> bool {
    let name = option_name(arg);
    name.starts_with("--") && SESSION_OPTIONS.contains(&name.as_str())
}

fn kept(args: &[OsString]) -> Vec<OsString> {
    let (mut kept, mut next) = (Vec::new(), NextWord::Prompt);
    for arg in args {
        // What follows `--` is the prompt.
        if arg == "--" {
            break;
        }
        let name = option_name(arg);
        if !name.starts_with('-') || name == "-" {
            if matches!(next, NextWord::Value | NextWord::Values) {
                kept.push(arg.clone());
            }
            next = if next == NextWord::Values { NextWord::Values } else { NextWord::Prompt };
            continue;
        }
        let has_value = arg.len() > name.len();
        if SESSION_OPTIONS.contains(&name.as_str()) {
            let takes_value = SESSION_OPTIONS_WITH_VALUE.contains(&name.as_str()) && !has_value;
            next = if takes_value { NextWord::Dropped } else { NextWord::Prompt };
            continue;
        }
        next = match name.as_str() {
            _ if has_value => NextWord::Prompt,
            flag if FLAGS.contains(&flag) => NextWord::Prompt,
            list if LISTS.contains(&list) => NextWord::Values,
            _ => NextWord::Value,
        };
        kept.push(arg.clone());
    }
    kept
}

/// The part of an argument before `=`.
fn option_name(arg: &OsStr) -> String {
    let text = arg.to_string_lossy();
    text.split('=').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, expected: &str) {
        let command: Vec<OsString> = shlex::split(typed).unwrap().into_iter().map(Into::into).collect();
        let fresh = fresh_command(&command, "go on").join(OsStr::new("|"));
        assert_eq!(fresh.to_str().unwrap(), expected, "{typed}");
    }

    #[test]
    fn a_fresh_client_keeps_its_options_and_begins_with_the_new_prompt() {
        check("claude", "claude|go on");
        check("/opt/bin/claude --model opus --verbose", "/opt/bin/claude|go on|--model|opus|--verbose");
    }

    #[test]
    fn the_first_prompt_is_not_asked_again() {
        check("claude 'fix the build'", "claude|go on");
        check("claude --model opus 'fix the build'", "claude|go on|--model|opus");
        check("claude --model=opus 'fix the build'", "claude|go on|--model=opus");
        check("claude --verbose 'fix the build'", "claude|go on|--verbose");
        check("claude -p fix --add-dir a b --model opus", "claude|go on|-p|--add-dir|a|b|--model|opus");
        check("claude --add-dir a -- 'fix the build'", "claude|go on|--add-dir|a");
    }

    #[test]
    fn an_old_session_is_never_resumed() {
        check("claude --resume abc --model opus", "claude|go on|--model|opus");
        check("claude --resume=abc", "claude|go on");
        check("claude -r", "claude|go on");
        check("claude -c 'and then'", "claude|go on");
        check("claude --continue --fork-session --verbose", "claude|go on|--verbose");
        check("claude --session-id 0b5e --model opus", "claude|go on|--model|opus");
    }

    #[test]
    fn another_program_gets_the_prompt_as_its_last_argument() {
        check("bash -c 'claude \"$@\"' sh --resume=x", "bash|-c|claude \"$@\"|sh|go on");
    }
}
