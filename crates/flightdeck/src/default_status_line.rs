//! The status line for a person who has no command of their own: model, context, cost, branch.

use std::fs;
use std::path::{Path, PathBuf};

use flightdeck_core::limits::NAME_CHARS_MAX;
use flightdeck_core::text::one_line;
use flightdeck_core::wire::lenient::{object, text};
use flightdeck_core::wire::status_line;
use serde_json::{Map, Value};

use crate::frame::parse_body;

/// Parent folders in which a repository is looked for.
const ANCESTORS_MAX: usize = 32;
/// The longest HEAD is `ref: refs/heads/` and a branch name.
const HEAD_BYTES_MAX: u64 = 4096;
/// From this percentage on the context is yellow: compaction will soon be useful.
const FULL_PERCENT: u64 = 70;
/// From this percentage on the context is red: compact now.
const VERY_FULL_PERCENT: u64 = 85;

/// The line for the client's JSON, with a newline at its end. Empty if the JSON cannot be read or has none of these fields.
pub fn draw(payload: &[u8]) -> String {
    parse_body(payload).map(|payload| line(&payload, colour_is_wanted())).unwrap_or_default()
}

/// <https://no-color.org>
fn colour_is_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn line(payload: &Map<String, Value>, colour: bool) -> String {
    let paint = |code: &str, text: String| {
        if colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text }
    };
    let says = status_line::parse_status_line(payload);
    let shown = object(payload, "model").and_then(|model| text(model, "display_name"));
    let model = shown.map(|name| one_line(&name, NAME_CHARS_MAX)).or(says.model);
    let context = says.context_tokens.zip(says.context_window).map(|(tokens, window)| {
        let percent = tokens.saturating_mul(100) / window;
        let code = match percent {
            VERY_FULL_PERCENT.. => "31",
            FULL_PERCENT.. => "33",
            _ => "32",
        };
        paint(code, format!("{percent}% context"))
    });
    let cost = says.client_usd_micros.map(|micros| format!("${:.2}", micros as f64 / 1e6));
    let branch = says.worktree.and_then(|tree| tree.branch).or_else(|| branch_of(&folder(payload)?));
    let parts = [model, context, cost, branch.map(|branch| paint("36", branch))];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return String::new();
    }
    parts.join(&paint("2", " · ".to_owned())) + "\n"
}

fn folder(payload: &Map<String, Value>) -> Option<PathBuf> {
    let now = object(payload, "workspace").and_then(|w| text(w, "current_dir"));
    now.or_else(|| text(payload, "cwd")).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Read from the repository's HEAD: running git would take longer than everything else.
fn branch_of(folder: &Path) -> Option<String> {
    let git = folder.ancestors().take(ANCESTORS_MAX).map(|dir| dir.join(".git")).find(|git| git.exists())?;
    let head = match small_file(&git.join("HEAD")) {
        Some(head) => head,
        // In a worktree `.git` is a file that names the folder.
        None => {
            let there = PathBuf::from(small_file(&git)?.strip_prefix("gitdir:")?.trim());
            small_file(&git.parent()?.join(there).join("HEAD"))?
        }
    };
    let head = head.trim();
    let name = match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => branch,
        None => head.get(..7)?,
    };
    Some(one_line(name, NAME_CHARS_MAX))
}

fn small_file(path: &Path) -> Option<String> {
    let small = fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= HEAD_BYTES_MAX);
    if small { fs::read_to_string(path).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { unreachable!() };
        map
    }

    fn payload(percent: u64, cwd: &str) -> Map<String, Value> {
        map(json!({"model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"}, "cwd": cwd,
            "cost": {"total_cost_usd": 0.064524},
            "context_window": {"context_window_size": 1000, "current_usage": {"input_tokens": percent * 10}}}))
    }

    #[test]
    fn the_line_has_model_context_cost_and_branch() {
        let repo = tempfile::tempdir().unwrap();
        fs::create_dir_all(repo.path().join(".git")).unwrap();
        fs::create_dir_all(repo.path().join("a/b")).unwrap();
        fs::write(repo.path().join(".git/HEAD"), "ref: refs/heads/fix/it\n").unwrap();
        let below = repo.path().join("a/b");
        assert_eq!(
            line(&payload(15, below.to_str().unwrap()), false),
            "Opus 5.5 · 15% context · $0.06 · fix/it\n"
        );
        fs::write(repo.path().join(".git/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(branch_of(&below).as_deref(), Some("0123456"));
    }

    #[test]
    fn the_branch_of_a_worktree_is_found() {
        let repo = tempfile::tempdir().unwrap();
        let (there, tree) = (repo.path().join("main/.git/worktrees/x"), repo.path().join("x"));
        fs::create_dir_all(&there).unwrap();
        fs::create_dir_all(&tree).unwrap();
        fs::write(there.join("HEAD"), "ref: refs/heads/x\n").unwrap();
        for gitdir in ["../main/.git/worktrees/x", there.to_str().unwrap()] {
            fs::write(tree.join(".git"), format!("gitdir: {gitdir}\n")).unwrap();
            assert_eq!(branch_of(&tree).as_deref(), Some("x"));
        }
    }

    #[test]
    fn colour_warns_of_a_full_context_and_can_be_turned_off() {
        let colours = [15, 70, 85, 120].map(|percent| line(&payload(percent, ""), true));
        assert!(colours[0].contains("\u{1b}[32m15%") && colours[1].contains("\u{1b}[33m70%"));
        assert!(colours[2].contains("\u{1b}[31m85%") && colours[3].contains("\u{1b}[31m120%"));
        assert!(!line(&payload(15, ""), false).contains('\u{1b}'));
    }

    #[test]
    fn unknown_parts_are_left_out_and_control_characters_are_removed() {
        assert_eq!(line(&Map::new(), true), "");
        let odd = map(json!({"model": {"display_name": "a\u{1b}]0;x\u{7}b\nc"}}));
        assert!(!line(&odd, false).trim_end().contains(['\u{1b}', '\u{7}', '\n']));
    }
}
