//! The TUI in a terminal: the time from a key to the screen in a busy fleet, its processor time and memory, and what it writes
//! while nothing happens.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;

use crate::child::kilobytes;
use crate::daemon::{Daemon, Socket};
use crate::world::{World, ms, payload};
use crate::{PromisePlan, Series};

const SESSIONS: u64 = 1_000;
/// Pause between changes: two hundred a second.
const CHANGE_EVERY: Duration = Duration::from_millis(5);
/// How long the processor time is measured while the board changes.
const WATCHED: Duration = Duration::from_secs(10);
/// Thirty times a second.
const KEY_REPEAT: Duration = Duration::from_millis(33);
/// Sessions of the board at rest.
const RESTING: u64 = 54;
const SIZE: (u16, u16) = (200, 60);
/// Longer than any frame takes.
const LOST: Duration = Duration::from_secs(10);
/// Words that are on the screen only while the help is open.
const HELP: &str = "take an answer back";
const MINUTE: Duration = Duration::from_secs(60);
/// The first numbers and timelines have been read by then.
const SETTLE: Duration = Duration::from_secs(35);

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let mut series = busy(plan)?;
    series.push(at_rest(plan)?);
    Ok(series)
}

fn id(n: u64) -> String {
    format!("{n:08x}-600a-4b20-a9ed-000000000000")
}

fn tell(socket: &mut Socket, id: &str, name: &str) -> Result<()> {
    let args = json!({"session_id": id, "hook_event_name": name, "cwd": "/home/dev/work/demo", "prompt": format!("Task of {id}")});
    let fired = flightdeck::clock::now().to_string();
    socket.frame(&json!({ "cmd": "hook", "args": args, "env": {"fired_at": fired} }))
}

fn busy(plan: &PromisePlan) -> Result<Vec<Series>> {
    let world = World::new(plan)?;
    let daemon = Daemon::start(&world)?;
    let mut socket = daemon.socket()?;
    for n in 0..SESSIONS {
        tell(&mut socket, &id(n), "UserPromptSubmit")?;
    }
    let mut terminal = Terminal::start(plan, &world)?;
    terminal.wait_for(|screen| screen.contains("1000 running"))?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let fleet = scope.spawn(|| change(&mut socket, &stop));
        let measured = measure_busy(plan, &mut terminal);
        stop.store(true, Ordering::Relaxed);
        fleet.join().unwrap_or_else(|_| bail!("the fleet panicked"))?;
        measured
    })
}

fn change(socket: &mut Socket, stop: &AtomicBool) -> Result<()> {
    let begun = Instant::now();
    for n in 0_u32.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let event = payload(u64::from(n), &id(u64::from(n / 2) * 7919 % SESSIONS));
        let fired = flightdeck::clock::now().to_string();
        socket.frame(&json!({ "cmd": "hook", "args": event, "env": {"fired_at": fired} }))?;
        std::thread::sleep((begun + CHANGE_EVERY * n).saturating_duration_since(Instant::now()));
    }
    Ok(())
}

fn measure_busy(plan: &PromisePlan, terminal: &mut Terminal) -> Result<Vec<Series>> {
    let mut watched = Series::new("tui: processor, no key", "%");
    watched.samples.push(terminal.processor(|terminal| terminal.read_for(WATCHED).map(drop))?);
    let mut held = Series::new("tui: processor, a key held", "%");
    held.samples.push(terminal.processor(hold_key)?);
    let mut key = Series::new("tui: key to screen", "ms");
    let mut processor = Series::new("tui: processor", "%");
    processor.samples.push(terminal.processor(|terminal| keys(plan, terminal, &mut key))?);
    let mut memory = Series::new("tui: resident", "MB");
    memory.samples.push(kilobytes(terminal.child.id(), "VmRSS:").context("the TUI has ended")? / 1024.0);
    Ok(vec![key, watched, held, processor, memory])
}

/// Presses `j` as often as a keyboard repeats a key that is held down.
fn hold_key(terminal: &mut Terminal) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < WATCHED {
        terminal.press(b"j")?;
        terminal.read_for(KEY_REPEAT)?;
    }
    Ok(())
}

/// Opens and closes the help, and moves in between, each key as soon as the one before is on the screen.
fn keys(plan: &PromisePlan, terminal: &mut Terminal, key: &mut Series) -> Result<()> {
    for _ in 0..plan.rounds(200, 1000) {
        terminal.press(b"j")?;
        key.samples.push(terminal.time(b"?", |screen| screen.contains(HELP))?);
        key.samples.push(terminal.time(b"?", |screen| !screen.contains(HELP))?);
    }
    Ok(())
}

fn at_rest(plan: &PromisePlan) -> Result<Series> {
    let world = World::new(plan)?;
    let daemon = Daemon::start(&world)?;
    let mut socket = daemon.socket()?;
    for n in 0..RESTING {
        tell(&mut socket, &id(n), "UserPromptSubmit")?;
        tell(&mut socket, &id(n), "Stop")?;
    }
    let mut terminal = Terminal::start(plan, &world)?;
    terminal.wait_for(|screen| screen.contains("NEEDS YOU 0 + 54 idle"))?;
    terminal.read_for(SETTLE)?;
    let mut bytes = Series::new("tui: bytes in a minute at rest", "bytes");
    bytes.samples.push(terminal.read_for(MINUTE)? as f64);
    Ok(bytes)
}

/// The TUI in a pseudo terminal, with the screen that a person would see.
struct Terminal {
    child: Child,
    master: File,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
}

impl Terminal {
    fn start(plan: &PromisePlan, world: &World) -> Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?.into_string()?;
        tcsetwinsize(&master, Winsize { ws_col: SIZE.0, ws_row: SIZE.1, ws_xpixel: 0, ws_ypixel: 0 })?;
        let slave = || File::options().read(true).write(true).open(&name);
        // Without a controlling terminal the TUI can only see this one.
        let mut command: Command = world.command("setsid".as_ref());
        command.arg(&plan.binary).arg("tui").env("TERM", "xterm-256color");
        let child = command.stdin(slave()?).stdout(slave()?).stderr(slave()?).spawn()?;
        let master = File::from(master);
        let output = read_all(master.try_clone()?);
        Ok(Self { child, master, output, screen: vt100::Parser::new(SIZE.1, SIZE.0, 0) })
    }

    fn press(&mut self, keys: &[u8]) -> Result<()> {
        Ok(self.master.write_all(keys)?)
    }

    /// Milliseconds from the key until the screen is so.
    fn time(&mut self, key: &[u8], is: impl Fn(&str) -> bool) -> Result<f64> {
        let begun = Instant::now();
        self.press(key)?;
        self.wait_for(is)?;
        Ok(ms(begun.elapsed()))
    }

    fn wait_for(&mut self, is: impl Fn(&str) -> bool) -> Result<()> {
        while !is(&self.screen.screen().contents()) {
            let bytes = self.output.recv_timeout(LOST);
            let bytes =
                bytes.with_context(|| format!("it never came: {}", self.screen.screen().contents()))?;
            self.screen.process(&bytes);
        }
        Ok(())
    }

    /// The number of bytes that are written within this time.
    fn read_for(&mut self, time: Duration) -> Result<usize> {
        let (until, mut count) = (Instant::now() + time, 0);
        loop {
            match self.output.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(bytes) => {
                    count += bytes.len();
                    self.screen.process(&bytes);
                }
                Err(RecvTimeoutError::Timeout) => return Ok(count),
                Err(RecvTimeoutError::Disconnected) => bail!("the TUI has ended"),
            }
        }
    }

    /// The part of one core that it uses meanwhile, in percent.
    fn processor(&mut self, run: impl FnOnce(&mut Self) -> Result<()>) -> Result<f64> {
        let (cpu, begun) = (self.cpu_ms()?, Instant::now());
        run(self)?;
        Ok((self.cpu_ms()? - cpu) / ms(begun.elapsed()) * 100.0)
    }

    /// Processor time of all its threads so far.
    fn cpu_ms(&self) -> Result<f64> {
        let mut sum = 0.0;
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let stat = std::fs::read_to_string(thread?.path().join("schedstat"))?;
            sum += stat.split_whitespace().next().context("schedstat is empty")?.parse::<f64>()? / 1e6;
        }
        Ok(sum)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Our own child; it may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_all(mut master: File) -> Receiver<Vec<u8>> {
    let (sender, output) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 64 << 10];
        while let Ok(read) = master.read(&mut buffer) {
            if read == 0 || sender.send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    output
}
