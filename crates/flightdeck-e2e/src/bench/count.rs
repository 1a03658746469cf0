//! Instruction counts under callgrind: they show a regression on a busy machine too.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::measured_daemon::MeasuredDaemon;
use crate::workspace::{is_installed, root, target};

/// A tool call as the client sends one.
const PAYLOAD: &str = r#"{"session_id":"9bc34ae7-600a-4b20-a9ed-000000000001","transcript_path":"/home/dev/t.jsonl","cwd":"/home/dev","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cargo test"},"tool_use_id":"toolu_1"}"#;

/// A larger difference is a regression; a smaller one may come from another libc or processor.
const SLACK_PERCENT: u64 = 10;
/// Only these functions are counted, so that the length of paths and the environment does not matter.
const IN_HOOK: &str = "flightdeck_hook::hook::run";
const IN_REDUCER: [&str; 2] = [
    "flightdeck_core::log::event::Event::from_record",
    "flightdeck_core::fleet::apply::<impl flightdeck_core::fleet::state::Fleet>::apply",
];
/// The daemon stores one event here.
const KEEP_MEGABYTES: u64 = 16;
/// The recorded counts apply to this kind of machine.
const COUNTED_HERE: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// Instructions of a dev build; `cargo xtask bench --callgrind --record` writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InstructionCounts {
    hook: u64,
    /// The mean over the corpus, which may grow.
    fold_an_event: u64,
}

fn recorded() -> PathBuf {
    root().join("crates/flightdeck-e2e/counts.json")
}

/// False if a count is higher than recorded.
pub(super) fn run(binary: &Path, record: bool) -> Result<bool> {
    let now = count(binary)?;
    if record {
        std::fs::write(recorded(), serde_json::to_string_pretty(&now)? + "\n")?;
        println!("recorded {}", recorded().display());
        return Ok(true);
    }
    if !COUNTED_HERE {
        println!("SKIPPED the comparison: the recorded counts are of Linux on x86_64");
        return Ok(true);
    }
    let text = std::fs::read(recorded()).with_context(|| format!("no counts at {}", recorded().display()))?;
    let changes = serde_json::from_slice::<InstructionCounts>(&text)?.changes(&now);
    changes.iter().for_each(|change| println!("{change}"));
    Ok(!changes.iter().any(|change| change.starts_with(WORSE)))
}

const WORSE: &str = "WORSE";

impl InstructionCounts {
    fn changes(&self, now: &Self) -> Vec<String> {
        let record = "if this is intended: cargo xtask bench --callgrind --record";
        let rows = [
            ("one hook", self.hook, now.hook),
            ("the reducer, an event", self.fold_an_event, now.fold_an_event),
        ];
        let changed = rows.into_iter().filter_map(|(what, was, is)| {
            let word = if is * 100 > was * (100 + SLACK_PERCENT) {
                WORSE
            } else if is * 100 < was * (100 - SLACK_PERCENT) {
                "BETTER"
            } else {
                return None;
            };
            Some(format!("{word} {what}: {was} instructions were recorded, now {is}; {record}"))
        });
        changed.collect()
    }
}

fn count(binary: &Path) -> Result<InstructionCounts> {
    if !is_installed("valgrind") {
        bail!("valgrind is not installed (on Debian: apt-get install valgrind)");
    }
    std::fs::create_dir_all(target().join("bench"))?;
    let daemon = MeasuredDaemon::start(binary, KEEP_MEGABYTES)?;
    let in_hook = instructions(&hook(callgrind(IN_HOOK).arg(binary), &daemon)?)?;
    let stored = daemon.get("/hook/status")?["events_total"].as_u64();
    if stored != Some(1) {
        bail!("the daemon did not store the event in time, so another code path was counted");
    }
    println!("{in_hook:>12} instructions in one hook, against a running daemon");
    if let Some(faults) = page_faults(binary, &daemon)? {
        println!("{faults:>12} page faults in it");
    }
    let (fold, events) = fold(binary, daemon.folder())?;
    let fold_an_event = fold / events.max(1);
    println!(
        "{fold:>12} instructions in the reducer over the corpus of {events} events, {fold_an_event} an event"
    );
    Ok(InstructionCounts { hook: in_hook, fold_an_event })
}

fn hook(command: &mut Command, daemon: &MeasuredDaemon) -> Result<Output> {
    // Under valgrind on a busy machine the default timeout could expire, and the hook would spool.
    command.args(["hook", "--ack-ms", "20000", "--home"]).arg(daemon.flightdeck_home());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.take().context("no stdin")?.write_all(PAYLOAD.as_bytes())?;
    Ok(child.wait_with_output()?)
}

/// Page faults of a hook; `build/hook.ld` keeps them low. The minimum of a few runs, because other processes evict pages.
/// `None` if the kernel does not report them.
fn page_faults(binary: &Path, daemon: &MeasuredDaemon) -> Result<Option<u64>> {
    let mut least = None;
    for _ in 0..5 {
        let before = faults_of_children();
        hook(Command::new(binary).env_clear(), daemon)?;
        let new = faults_of_children().zip(before).map(|(after, before)| after.saturating_sub(before));
        least = [least, new].into_iter().flatten().min();
    }
    Ok(least)
}

/// Page faults of all waited-for children: the eleventh field of proc(5).
fn faults_of_children() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The first field after the name is the third.
    stat.rsplit(')').next()?.split_whitespace().nth(8)?.parse().ok()
}

/// Every captured event, played by `flightdeck replay`: the instructions of a second pass over the corpus, in other sessions. The first pass
/// also builds what is built once (the automata behind the patterns), which says nothing about an event.
fn fold(binary: &Path, home: &Path) -> Result<(u64, u64)> {
    let (first, events) = corpus_as_lines("")?;
    let (second, _) = corpus_as_lines("-again")?;
    let once = reduced(binary, home, &first)?;
    let twice = reduced(binary, home, &[first, second].concat())?;
    Ok((twice.saturating_sub(once), events))
}

/// The captured events as lines for `flightdeck replay`, their session ids with this suffix; and how many there are.
fn corpus_as_lines(suffix: &str) -> Result<(Vec<u8>, u64)> {
    let mut corpus = Vec::new();
    let mut events = 0;
    for mut hook in flightdeck_sim::corpus::scenarios().into_iter().flat_map(|scenario| scenario.hooks) {
        let session = format!("{}{suffix}", hook.session_id());
        hook.event.insert("session_id".to_owned(), session.into());
        let line = serde_json::json!({ "t_ms": hook.t_ms, "event": hook.event, "env": hook.env });
        writeln!(corpus, "{line}")?;
        events += 1;
    }
    Ok((corpus, events))
}

/// Instructions in the reducer while it plays these lines.
fn reduced(binary: &Path, home: &Path, lines: &[u8]) -> Result<u64> {
    let file = home.join("corpus.jsonl");
    std::fs::write(&file, lines)?;
    let mut all = 0;
    for function in IN_REDUCER {
        let mut replay = callgrind(function);
        replay.arg(binary).arg("replay").arg(&file).arg("--json");
        replay.env("HOME", home).env("FLIGHTDECK_HOME", home.join("fd"));
        all += instructions(&replay.output()?)?;
    }
    Ok(all)
}

/// A callgrind command that counts only inside this function.
fn callgrind(function: &str) -> Command {
    let mut command = Command::new("valgrind");
    let out: PathBuf = target().join("bench/callgrind.out");
    command.args(["--tool=callgrind", &format!("--callgrind-out-file={}", out.display())]);
    command.arg(format!("--toggle-collect={function}"));
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").stdin(Stdio::null());
    command
}

/// `==1== Collected : 123456`
fn instructions(output: &Output) -> Result<u64> {
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find_map(|line| line.split_once("Collected :"));
    let count = line.and_then(|(_, number)| number.trim().parse().ok());
    match count {
        // A count of zero: the function was renamed or inlined.
        Some(count) if output.status.success() && count > 0 => Ok(count),
        _ => bail!("callgrind did not count: {}", said.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_ten_percent_is_worse_and_less_is_said() {
        let was = InstructionCounts { hook: 1000, fold_an_event: 1000 };
        let told = |hook, fold_an_event| was.changes(&InstructionCounts { hook, fold_an_event });
        assert!(told(1100, 900).is_empty());
        assert!(told(1101, 1000)[0].starts_with("WORSE one hook: 1000 instructions were recorded, now 1101"));
        assert!(told(1000, 1101)[0].starts_with("WORSE the reducer"));
        assert!(told(899, 1000)[0].starts_with("BETTER one hook"));
    }

    #[test]
    fn what_is_recorded_can_be_read() {
        let counts: InstructionCounts = serde_json::from_slice(&std::fs::read(recorded()).unwrap()).unwrap();
        assert!(counts.hook > 0 && counts.fold_an_event > 0);
    }
}
