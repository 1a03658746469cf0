//! The hook events listed in a client's program, and which of them a recorder registers.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use flightdeck_core::wire::hook_name::{HookForm, HookName};

/// Events that the complete list must contain.
const ALWAYS: [&str; 2] = ["PreToolUse", "PostToolUse"];
/// Bytes read at once; the program has some hundred megabytes.
const READ_BYTES: usize = 1 << 20;

/// The listed events; `None` if the program has no list.
pub(super) fn listed_in(client: &Path) -> Result<Option<BTreeSet<String>>> {
    let program = File::open(client).with_context(|| format!("cannot read {}", client.display()))?;
    longest_list(BufReader::with_capacity(READ_BYTES, program))
}

/// The program is a script inside a binary and names its events as `["PreToolUse","PostToolUse",…]`. Shorter lists name
/// only some of them.
fn longest_list(mut program: impl BufRead) -> Result<Option<BTreeSet<String>>> {
    let mut longest: Option<BTreeSet<String>> = None;
    let mut piece = Vec::new();
    while program.read_until(b']', &mut piece)? > 0 {
        let found = names(&piece).filter(|names| ALWAYS.iter().all(|name| names.contains(*name)));
        longest = longest.into_iter().chain(found).max_by_key(BTreeSet::len);
        piece.clear();
    }
    Ok(longest)
}

/// The names between the last `[` and the closing bracket.
fn names(piece: &[u8]) -> Option<BTreeSet<String>> {
    let inside = piece.strip_suffix(b"\"]")?;
    let start = inside.iter().rposition(|byte| *byte == b'[')?;
    let inside = str::from_utf8(&inside[start + 1..]).ok()?.strip_prefix('"')?;
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
    let names: Vec<&str> = inside.split("\",\"").collect();
    names.iter().all(is_name).then(|| names.into_iter().map(str::to_owned).collect())
}

/// Every event that a recorder may register and that the client knows. The client refuses to start with an unknown name.
pub(super) fn to_register(listed: Option<&BTreeSet<String>>) -> Vec<String> {
    let harmless = HookName::ALL.iter().filter(|info| !matches!(info.form, HookForm::Never { .. }));
    let names = harmless.map(|info| info.name.as_str().to_owned());
    names.filter(|name| listed.is_none_or(|listed| listed.contains(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(program: &[u8]) -> Option<Vec<String>> {
        longest_list(program).unwrap().map(|names| names.into_iter().collect())
    }

    #[test]
    fn the_longest_list_of_events_in_a_program_is_the_clients_own() {
        let program = b"\xff\x00var a=[\"PreToolUse\",\"PostToolUse\"],b=[\"x\",\"y\",\"z\",\"w\"],\
            c=[\"PreToolUse\",\"PostToolUse\",\"Nap\"];[1]";
        assert_eq!(list(program).unwrap(), ["Nap", "PostToolUse", "PreToolUse"]);
    }

    #[test]
    fn a_program_without_such_a_list_has_none() {
        assert_eq!(list(b"var a=[\"PreToolUse\"],b=[PreToolUse,PostToolUse]"), None);
    }

    #[test]
    fn what_would_change_the_client_and_what_it_does_not_know_is_not_registered() {
        let listed = ["Stop", "WorktreeCreate", "Nap"].map(str::to_owned).into();
        assert_eq!(to_register(Some(&listed)), ["Stop"]);
        assert!(to_register(None).len() > 25);
    }
}
