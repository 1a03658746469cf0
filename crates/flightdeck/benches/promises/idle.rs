//! An idle daemon with ten thousand transcripts: the processor time of a minute, and the files it reads.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::daemon::Daemon;
use crate::world::World;
use crate::{PromisePlan, Series};

const TRANSCRIPTS: usize = 10_000;
const PROJECTS: usize = 100;
/// The work after a start (the first search for old events) and after a last event (a session becomes quiet) is over by then.
const SETTLE: Duration = Duration::from_secs(90);
const MINUTE: Duration = Duration::from_secs(60);
/// Long enough for a process that reads a folder ten times a second.
const CONTROL: Duration = Duration::from_secs(2);

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let world = World::new(plan)?;
    fill(&world)?;
    let daemon = Daemon::start(&world)?;
    drop(daemon.feed_history()?);
    while daemon.get("/api/usage")?["indexing"]["files_left"] != 0 {
        std::thread::sleep(Duration::from_millis(200));
    }
    std::thread::sleep(SETTLE);
    let mut cpu = Series::new("idle: processor in a minute", "ms");
    for _ in 0..plan.rounds(1, 3) {
        let before = daemon.cpu_ms_of_threads()?;
        std::thread::sleep(MINUTE);
        cpu.samples.push(since(&before, &daemon.cpu_ms_of_threads()?));
    }
    let mut reads = Series::new("idle: directory reads in a minute", "reads");
    reads.samples.push(directory_reads(daemon.pid(), MINUTE)?);
    seen_where_there_are_some()?;
    Ok(vec![cpu, reads])
}

fn fill(world: &World) -> Result<()> {
    for n in 0..TRANSCRIPTS {
        let folder = world.home().claude().join(format!("projects/-home-dev-work-p{}", n % PROJECTS));
        std::fs::create_dir_all(&folder)?;
        let line = serde_json::json!({"type": "assistant", "timestamp": "2026-10-01T10:00:00.000Z", "requestId": n.to_string(),
            "cwd": "/home/dev/work", "message": {"id": n.to_string(), "model": "claude-opus-5-5", "usage": {"output_tokens": 1}}});
        std::fs::write(folder.join(format!("00000000-0000-4000-8000-{n:012}.jsonl")), format!("{line}\n"))?;
    }
    Ok(())
}

/// The processor time of all threads between the two moments. A thread that ended in between is left out: threads end because
/// they are idle.
fn since(before: &BTreeMap<u32, f64>, after: &BTreeMap<u32, f64>) -> f64 {
    after.iter().map(|(thread, ms)| ms - before.get(thread).unwrap_or(&0.0)).sum()
}

/// Checks the measurement: strace must see the calls of a process that is known to read folders. Otherwise it proves nothing that
/// strace sees none in the daemon.
fn seen_where_there_are_some() -> Result<()> {
    let mut reader = Command::new("sh").args(["-c", "while sleep 0.1; do ls / >/dev/null; done"]).spawn()?;
    let seen = directory_reads(reader.id(), CONTROL);
    // The child runs until it is killed here.
    reader.kill()?;
    reader.wait()?;
    if seen? == 0.0 {
        bail!("strace does not see the directory reads of `ls`, so its count for the daemon proves nothing");
    }
    Ok(())
}

/// How many directories a process reads in this time. strace counts the calls of all its threads and children.
fn directory_reads(pid: u32, time: Duration) -> Result<f64> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-c", "-e", "trace=getdents64,getdents", "-p", &pid.to_string()]);
    let child = strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.context("strace is needed (on Debian: apt-get install strace)")?;
    std::thread::sleep(time);
    if child.try_wait()?.is_some() {
        bail!("strace may not look at our own child here");
    }
    let tracer = rustix::process::Pid::from_child(&child);
    // strace then detaches and prints its table.
    rustix::process::kill_process(tracer, rustix::process::Signal::INT)?;
    let said = String::from_utf8_lossy(&child.wait_with_output()?.stderr).into_owned();
    let calls = |line: &str| line.split_whitespace().nth(3).and_then(|n| n.parse::<f64>().ok());
    Ok(said.lines().filter(|line| line.trim_end().ends_with("getdents64")).find_map(calls).unwrap_or(0.0))
}
