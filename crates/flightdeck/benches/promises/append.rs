//! The time from a new transcript line to the card: in a transcript of a gigabyte, against a small one.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::json;

use crate::daemon::Daemon;
use crate::world::{World, ms, payload, session};
use crate::{PromisePlan, Series};

const LARGE_BYTES: u64 = 1_000_000_000;
const SMALL_BYTES: u64 = 100_000;
/// Most lines are an attachment, a prompt or a result that costs nothing.
const FILLER_BYTES: usize = 60_000;
/// Reading a gigabyte for the first time, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let world = World::new(plan)?;
    let mut files = [Transcript::new(&world, 1, LARGE_BYTES)?, Transcript::new(&world, 2, SMALL_BYTES)?];
    let daemon = Daemon::start(&world)?;
    let mut socket = daemon.socket()?;
    for file in &files {
        let mut args = payload(0, &file.session);
        args.insert("transcript_path".into(), json!(file.path));
        socket.frame(&json!({"cmd": "hook", "args": args, "env": {}}))?;
    }
    for file in &files {
        file.wait(&daemon)?;
    }
    let names = ["1 GB", "100 KB"];
    let mut cpu = names.map(|name| Series::new(format!("append to {name}: processor"), "ms"));
    let mut time = names.map(|name| Series::new(format!("append to {name}: to the card"), "ms"));
    for _ in 0..plan.rounds(10, 40) {
        for (place, file) in files.iter_mut().enumerate() {
            // The second look of the last round, after 0.7 s, is over by then.
            std::thread::sleep(Duration::from_secs(1));
            let (before, begun) = (daemon.cpu_ms()?, Instant::now());
            file.append()?;
            file.wait(&daemon)?;
            time[place].samples.push(ms(begun.elapsed()));
            cpu[place].samples.push(daemon.cpu_ms()? - before);
        }
    }
    Ok(cpu.into_iter().chain(time).collect())
}

struct Transcript {
    session: String,
    path: PathBuf,
    messages: u64,
}

impl Transcript {
    fn new(world: &World, n: u64, bytes: u64) -> Result<Self> {
        let session = session(n);
        let folder = world.home().claude().join("projects/-home-dev-work-demo");
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{session}.jsonl"));
        let filler =
            json!({"type": "attachment", "attachment": {"content": "x".repeat(FILLER_BYTES)}}).to_string();
        let mut transcript = Self { session, path, messages: 0 };
        let mut file = BufWriter::new(File::create(&transcript.path)?);
        let mut written = 0;
        while written < bytes {
            let line = transcript.next_line();
            writeln!(file, "{filler}\n{line}")?;
            written += (filler.len() + line.len() + 2) as u64;
        }
        file.flush()?;
        Ok(transcript)
    }

    /// Each message has one token of output, so that the card counts them.
    fn next_line(&mut self) -> String {
        self.messages += 1;
        json!({"type": "assistant", "timestamp": "2026-11-15T10:00:00.000Z", "requestId": self.messages.to_string(),
            "cwd": "/home/dev/work/demo", "message": {"id": format!("{}-{}", self.session, self.messages),
                "model": "claude-opus-5-5", "content": [], "usage": {"output_tokens": 1}}})
        .to_string()
    }

    fn append(&mut self) -> Result<()> {
        let line = self.next_line();
        Ok(writeln!(OpenOptions::new().append(true).open(&self.path)?, "{line}")?)
    }

    fn wait(&self, daemon: &Daemon<'_>) -> Result<()> {
        let begun = Instant::now();
        while daemon.get(&format!("/api/sessions/{}", self.session))?["tokens"]["output"] != self.messages {
            if begun.elapsed() > PATIENCE {
                bail!("the card never counted {} messages", self.messages);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}
