//! Instruction counts under callgrind: a regression shows without a clock, and on a busy machine.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::workspace::{is_installed, root, target};

/// A tool call as the client sends one.
const PAYLOAD: &str = r#"{"session_id":"9bc34ae7-600a-4b20-a9ed-000000000001","transcript_path":"/home/dev/t.jsonl","cwd":"/home/dev","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cargo test"},"tool_use_id":"toolu_1"}"#;

/// More than this is a regression; less is another libc or another processor.
const SLACK_PERCENT: u64 = 5;
/// The recorded counts are of such a machine.
const COUNTED_HERE: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// What a dev build takes: `cargo xtask bench --callgrind --dev --record` writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    hook: u64,
    /// One event of the corpus, which may grow.
    fold_an_event: u64,
}

/// What becomes of the counts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    Print,
    Judge,
    Record,
}

fn recorded() -> PathBuf {
    root().join("xtask/counts.json")
}

pub(super) fn run(program: &Path, binary: &Path, then: Then) -> Result<bool> {
    let now = count(program, binary)?;
    match then {
        Then::Print => Ok(true),
        Then::Record => {
            std::fs::write(recorded(), serde_json::to_string_pretty(&now)? + "\n")?;
            println!("recorded {}", recorded().display());
            Ok(true)
        }
        Then::Judge if COUNTED_HERE => {
            let text = std::fs::read(recorded())
                .with_context(|| format!("no counts at {}", recorded().display()))?;
            let changes = serde_json::from_slice::<Counts>(&text)?.changes(&now);
            changes.iter().for_each(|change| println!("{change}"));
            Ok(!changes.iter().any(|change| change.starts_with(WORSE)))
        }
        Then::Judge => {
            println!("SKIPPED the comparison: the recorded counts are of Linux on x86_64");
            Ok(true)
        }
    }
}

const WORSE: &str = "WORSE";

impl Counts {
    fn changes(&self, now: &Self) -> Vec<String> {
        let record = "if it is meant: cargo xtask bench --callgrind --dev --record";
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
            Some(format!("{word} {what}: {was} instructions were recorded, {is} are taken now; {record}"))
        });
        changed.collect()
    }
}

fn count(program: &Path, binary: &Path) -> Result<Counts> {
    if !is_installed("valgrind") {
        bail!("valgrind is not installed (on Debian: apt-get install valgrind)");
    }
    let daemon = Daemon::start(program, binary)?;
    let in_hook = instructions(&hook(callgrind(&[]).arg(binary), &daemon)?)?;
    println!("{in_hook:>12} instructions in one hook, from start to exit, against a running daemon");
    if let Some(faults) = page_faults(binary, &daemon)? {
        println!("{faults:>12} page faults in it");
    }
    drop(daemon);
    let (fold, events) = fold(program)?;
    let fold_an_event = fold / events.max(1);
    println!(
        "{fold:>12} instructions in the reducer over the corpus of {events} events, {fold_an_event} an event"
    );
    Ok(Counts { hook: in_hook, fold_an_event })
}

fn hook(command: &mut Command, daemon: &Daemon) -> Result<Output> {
    command.args(["hook", "--home", &daemon.home]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    child.stdin.take().context("no stdin")?.write_all(PAYLOAD.as_bytes())?;
    Ok(child.wait_with_output()?)
}

/// Pages that a hook has to wait for; what `build/hook.ld` puts together shows here. The least of a few, because other
/// processes push pages out. `None` where the kernel does not tell.
fn page_faults(binary: &Path, daemon: &Daemon) -> Result<Option<u64>> {
    let mut least = None;
    for _ in 0..5 {
        let before = faults_of_children();
        hook(Command::new(binary).env_clear(), daemon)?;
        let new = faults_of_children().zip(before).map(|(after, before)| after.saturating_sub(before));
        least = [least, new].into_iter().flatten().min();
    }
    Ok(least)
}

/// Of all children that were waited for: the eleventh field of proc(5).
fn faults_of_children() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The first field after the name is the third.
    stat.rsplit(')').next()?.split_whitespace().nth(8)?.parse().ok()
}

/// Counts only while the fold runs, not while the corpus is read.
fn fold(program: &Path) -> Result<(u64, u64)> {
    let output = callgrind(&["--toggle-collect=*counted_fold*"]).arg(program).arg("fold-corpus").output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let events =
        said.split_whitespace().next().and_then(|n| n.parse().ok()).context("no number of events")?;
    Ok((instructions(&output)?, events))
}

fn callgrind(args: &[&str]) -> Command {
    let mut command = Command::new("valgrind");
    let out: PathBuf = target().join("bench/callgrind.out");
    command.args(["--tool=callgrind", &format!("--callgrind-out-file={}", out.display())]).args(args);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").stdin(Stdio::null());
    command
}

/// `==1== Collected : 123456`
fn instructions(output: &Output) -> Result<u64> {
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find_map(|line| line.split_once("Collected :"));
    let count = line.and_then(|(_, number)| number.trim().parse().ok());
    match count {
        Some(count) if output.status.success() => Ok(count),
        _ => bail!("callgrind did not count: {}", said.trim()),
    }
}

/// A daemon in a throw-away home, until we let go of its stdin.
struct Daemon {
    child: Child,
    home: String,
}

impl Daemon {
    fn start(program: &Path, binary: &Path) -> Result<Self> {
        std::fs::create_dir_all(target().join("bench"))?;
        let mut command = Command::new(program);
        command.args(["daemon", "--binary"]).arg(binary).env_clear();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut home = String::new();
        BufReader::new(child.stdout.take().context("no stdout")?).read_line(&mut home)?;
        Ok(Self { child, home: home.trim().to_owned() })
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It ends and cleans up when its stdin does.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_five_percent_is_worse_and_less_is_said() {
        let was = Counts { hook: 1000, fold_an_event: 1000 };
        let told = |hook, fold_an_event| was.changes(&Counts { hook, fold_an_event });
        assert!(told(1050, 950).is_empty());
        assert!(told(1051, 1000)[0].starts_with("WORSE one hook: 1000 instructions were recorded, 1051"));
        assert!(told(1000, 1051)[0].starts_with("WORSE the reducer"));
        assert!(told(949, 1000)[0].starts_with("BETTER one hook"));
    }

    #[test]
    fn what_is_recorded_can_be_read() {
        let counts: Counts = serde_json::from_slice(&std::fs::read(recorded()).unwrap()).unwrap();
        assert!(counts.hook > 0 && counts.fold_an_event > 0);
    }
}
