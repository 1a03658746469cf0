//! What the client itself reports about a turn, in its transcript.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The reports of the finished turns of one session.
#[derive(Debug, Default)]
pub(super) struct Reports {
    pub(super) turns_ms: Vec<f64>,
    /// Stop hooks that the client waited for; it gives no time for others.
    pub(super) stop_hooks_ms: Vec<f64>,
}

/// Empty before the first turn, when there is no transcript yet.
pub(super) fn read(config_dir: &Path, session: &str) -> Reports {
    let folders = fs::read_dir(config_dir.join("projects")).into_iter().flatten().flatten();
    let mut files = folders.map(|folder| folder.path().join(session).with_extension("jsonl"));
    let text = files.find_map(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    reports(&text)
}

fn reports(text: &str) -> Reports {
    let mut reports = Reports::default();
    // The last line may be incomplete.
    for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        match line["subtype"].as_str() {
            Some("turn_duration") => reports.turns_ms.extend(line["durationMs"].as_f64()),
            Some("stop_hook_summary") => {
                reports.stop_hooks_ms.extend(line["hookInfos"][0]["durationMs"].as_f64());
            }
            _ => {}
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_turns_and_of_stop_hooks_are_read() {
        let read = reports(concat!(
            r#"{"type":"user"}"#,
            "\n",
            r#"{"subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"Flightdeck","durationMs":18}]}"#,
            "\n",
            r#"{"subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"Flightdeck"}]}"#,
            "\n",
            r#"{"subtype":"turn_duration","durationMs":804}"#,
            "\n",
            r#"{"subtype":"turn_dur"#,
        ));
        assert_eq!((read.turns_ms, read.stop_hooks_ms), (vec![804.0], vec![18.0]));
    }
}
