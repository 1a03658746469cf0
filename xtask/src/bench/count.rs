//! Instruction counts under callgrind: a regression shows without a clock, and on a busy machine.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace::{is_installed, target};

/// A tool call as the client sends one.
const PAYLOAD: &str = r#"{"session_id":"9bc34ae7-600a-4b20-a9ed-000000000001","transcript_path":"/home/dev/t.jsonl","cwd":"/home/dev","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cargo test"},"tool_use_id":"toolu_1"}"#;

pub(super) fn run(program: &Path, binary: &Path) -> Result<bool> {
    if !is_installed("valgrind") {
        bail!("valgrind is not installed (on Debian: apt-get install valgrind)");
    }
    let daemon = Daemon::start(program, binary)?;
    let hook_instructions = instructions(&hook(callgrind(&[]).arg(binary), &daemon)?)?;
    println!(
        "{hook_instructions:>12} instructions in one hook, from start to exit, against a running daemon"
    );
    if let Some(faults) = page_faults(binary, &daemon)? {
        println!("{faults:>12} page faults in it");
    }
    drop(daemon);
    let (fold, events) = fold(program)?;
    println!(
        "{fold:>12} instructions in the reducer over the corpus of {events} events, {} an event",
        fold / events
    );
    Ok(true)
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
