//! The daemon that is measured.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use flightdeck::settings::{ClientVersion, Registration, Via};
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::hook_name::HookName;
use flightdeck_e2e::testkit::{SocketClient, TestDaemon};
use flightdeck_sim::fleet::{FleetConfig, SimEvent, SimFleet};
use serde_json::{Value, json};

use crate::PromisePlan;
use crate::child::kilobytes;
use crate::world::{SESSIONS, World};

/// The age of a fleet when it is measured.
const HISTORY: Duration = Duration::from_secs(20 * 60);

/// Longer than any disk stalls: after this silence the daemon has failed.
const SILENCE_MAX: Duration = Duration::from_secs(60);

pub(crate) struct Daemon<'a> {
    world: &'a World,
    daemon: TestDaemon,
    /// From spawn to the line that says where the board is.
    pub(crate) started_in: Duration,
}

impl<'a> Daemon<'a> {
    pub(crate) fn start(world: &'a World) -> Result<Self> {
        let begun = Instant::now();
        let daemon = world.home().try_up(&["--no-hooks"])?.with_timeout(SILENCE_MAX);
        Ok(Self { world, daemon, started_in: begun.elapsed() })
    }

    /// `127.0.0.1:47892`
    pub(crate) fn address(&self) -> String {
        self.daemon.addr.to_string()
    }

    /// The command that `hooks install` writes for this event, as the client hands it to its shell.
    pub(crate) fn hook_command(&self, plan: &PromisePlan, via: Via) -> Result<String> {
        hook_command(plan, self.world, via, self.daemon.addr.port())
    }

    pub(crate) fn socket(&self) -> Result<Socket> {
        Ok(Socket(self.world.home().try_socket(SILENCE_MAX)?))
    }

    /// Plays twenty minutes of a fleet, as `demo` shows; returns the events that follow.
    pub(crate) fn feed_history(&self) -> Result<impl Iterator<Item = SimEvent> + use<>> {
        let now = flightdeck::clock::now().as_millis();
        let mut events = SimFleet::new(FleetConfig {
            sessions: SESSIONS as usize,
            start_ms: now,
            history_ms: HISTORY.as_millis() as u64,
            ..FleetConfig::default()
        })
        .peekable();
        let mut socket = self.socket()?;
        while let Some(event) = events.next_if(|event| event.at_ms <= now) {
            socket.send(event)?;
        }
        Ok(events)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.daemon.pid()
    }

    /// The reply of a route.
    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        self.daemon.api().get_json(path)
    }

    /// Processor time of all its threads so far. Threads that ended are not included, so compare only within a short time.
    pub(crate) fn cpu_ms(&self) -> Result<f64> {
        Ok(self.cpu_ms_of_threads()?.values().sum())
    }

    /// Processor time of each thread, in nanoseconds.
    pub(crate) fn cpu_ms_of_threads(&self) -> Result<BTreeMap<u32, f64>> {
        let mut times = BTreeMap::new();
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.pid()))? {
            let thread = thread?;
            // A thread may end meanwhile.
            let Ok(stat) = std::fs::read_to_string(thread.path().join("schedstat")) else { continue };
            let ns = stat.split_whitespace().next().context("schedstat is empty")?.parse::<f64>()?;
            times.insert(thread.file_name().to_string_lossy().parse()?, ns / 1e6);
        }
        Ok(times)
    }

    /// Resident and private megabytes.
    pub(crate) fn memory(&self) -> Result<(f64, f64)> {
        let megabytes = |name: &str| {
            let kilobytes = kilobytes(self.pid(), name);
            kilobytes.map(|kb| kb / 1024.0).with_context(|| format!("no {name} in the status"))
        };
        Ok((megabytes("VmRSS:")?, megabytes("RssAnon:")?))
    }
}

pub(crate) fn hook_command(plan: &PromisePlan, world: &World, via: Via, port: u16) -> Result<String> {
    command_of(Registration {
        via,
        port,
        ..Registration::new(&plan.binary, world.home().flightdeck_home(), ClientVersion::assumed())
    })
}

/// The command for a tool call while an effort is active: the client waits for the verdict.
pub(crate) fn verdict_command(plan: &PromisePlan, world: &World) -> Result<String> {
    command_of(Registration {
        tool_verdicts: true,
        ..Registration::new(&plan.binary, world.home().flightdeck_home(), ClientVersion::assumed())
    })
}

fn command_of(registration: Registration) -> Result<String> {
    let handlers = registration.handlers()?;
    let of_event = handlers.iter().find(|(name, _)| *name == HookName::PreToolUse);
    let command = of_event.and_then(|(_, handler)| handler["command"].as_str());
    Ok(command.context("no command is registered for PreToolUse")?.to_owned())
}

/// A connection to the daemon's socket, as a hook has one.
pub(crate) struct Socket(SocketClient);

impl Socket {
    pub(crate) fn send(&mut self, event: SimEvent) -> Result<()> {
        let mut env = event.env;
        env.insert("fired_at".into(), json!(Timestamp::from_millis(event.fired_ms).to_string()));
        self.frame(&json!({ "cmd": "hook", "args": event.payload, "env": env }))
    }

    pub(crate) fn frame(&mut self, frame: &Value) -> Result<()> {
        let reply = self.0.try_ask(frame)?;
        if !reply.contains("\"ok\":true") {
            bail!("the daemon answered {reply:?}");
        }
        Ok(())
    }
}
