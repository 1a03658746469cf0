//! `flightdeck run`: starts the client in the foreground of this terminal. When the daemon says that its context window is
//! over, ends it and starts it fresh with the handoff.
//!
//! The client has a process group of its own, so that the keys of the terminal (Ctrl-C, Ctrl-Z) and its size reach the client
//! and not the supervisor. The supervisor takes the terminal back when the client stops or ends, as a shell does. It learns of Ctrl-C
//! from a process in the client's group (`interrupts.rs`): two within a second end both.

mod client_process;
mod daemon_link;
mod fresh_command;
mod interrupts;
mod restarts;
mod signals;
mod tty;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_current_process_group};
use tokio::time::{Instant, sleep_until};

use self::client_process::{ClientEvent, ClientProcess};
use self::daemon_link::{DaemonLink, DaemonOrder};
use self::fresh_command::fresh_command;
use self::interrupts::InterruptReporter;
pub use self::interrupts::report_interrupts;
pub use self::restarts::RESTARTS_MAX;
use self::restarts::Restarts;
use self::signals::{SignalMeaning, Signals};
use self::tty::Tty;
use crate::paths::Paths;

/// How long a client may take to end. It ends within 2 s, by measurement, even if a hook is still running.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
/// How long a client that got Ctrl-C twice may take to end by itself, with its own exit code. Then it is told to end.
const ENDS_ITSELF_WITHIN: Duration = Duration::from_secs(1);
/// Within this time the reporter reports a signal that the supervisor itself passed on to the client's group.
const REPORTED_WITHIN: Duration = Duration::from_secs(1);
/// The exit codes that shells use for a program that cannot be started.
const NOT_FOUND: u8 = 127;
const NOT_RUNNABLE: u8 = 126;
/// The exit code after Ctrl-C.
const INTERRUPTED: u8 = 130;

/// What to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    pub paths: Paths,
    /// The client and its arguments.
    pub command: Vec<OsString>,
    /// The beginning of a command that runs [`become_client`] in a process of its own.
    pub becomes_client: Option<Vec<OsString>>,
    /// A command that runs [`report_interrupts`] in a process of its own.
    pub reports_interrupts: Option<Vec<OsString>>,
    /// The home that the person named, for the agent's own calls of `flightdeck`.
    pub named_home: Option<PathBuf>,
    /// The name of the seat that the client's sessions occupy.
    pub seat: Option<String>,
    pub restarts_max: u32,
}

/// Why a client ended, and what the supervisor does next.
enum ClientOutcome {
    Ended { code: u8 },
    Restart { prompt: String, delay: Duration },
}

/// Runs the client until it ends by itself. Returns its exit code.
pub async fn run(options: &RunOptions) -> anyhow::Result<u8> {
    let mut signals = Signals::listen()?;
    let mut tty = Tty::open();
    let mut restarts = Restarts::new(options.restarts_max);
    let mut command = options.command.clone();
    loop {
        let mut running = match RunningClient::start(&command, options, tty.as_mut()) {
            Ok(running) => running,
            Err(error) => return Ok(cannot_start(&command, &error)),
        };
        let outcome = running.watch(&mut signals, &mut restarts).await;
        // Closes the connection at once: it tells the daemon that the client is gone.
        drop(running);
        match outcome {
            ClientOutcome::Ended { code } => return Ok(code),
            ClientOutcome::Restart { prompt, delay } => {
                if delay > Duration::ZERO && !wait_to_restart(delay, &mut signals).await {
                    return Ok(INTERRUPTED);
                }
                command = fresh_command(&options.command, &prompt);
            }
        }
    }
}

/// Brings this process to the foreground of the terminal and becomes the command. Returns only if that fails, with the exit
/// code. The supervisor starts this program instead of the client: a client that reads the terminal before it is in the
/// foreground is stopped, or gets an error where its parent ignores that signal, as tmux does.
pub fn become_client(command: &[OsString]) -> u8 {
    if let Some(tty) = Tty::open()
        && let Err(error) = tty.come_to_front()
    {
        tracing::warn!(%error, "the client could not come to the foreground");
    }
    let Some((program, args)) = command.split_first() else { return NOT_RUNNABLE };
    cannot_start(command, &Command::new(program).args(args).exec())
}

#[expect(clippy::print_stderr, reason = "the person must see why nothing runs")]
fn cannot_start(command: &[OsString], error: &io::Error) -> u8 {
    let program = command.first().map(|program| program.to_string_lossy()).unwrap_or_default();
    eprintln!("flightdeck: cannot start {program}: {error}");
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUNNABLE }
}

/// Waits before a restart. False if the person ends it: no client has the terminal now, so one Ctrl-C is enough.
#[expect(clippy::print_stderr, reason = "the terminal shows nothing else meanwhile")]
async fn wait_to_restart(delay: Duration, signals: &mut Signals) -> bool {
    eprintln!("flightdeck: starting again in {} s (Ctrl-C ends)", delay.as_secs());
    let until = Instant::now() + delay;
    loop {
        tokio::select! {
            () = sleep_until(until) => return true,
            signal = signals.next() => if signal != SignalMeaning::Continue { return false },
        }
    }
}

/// A client that runs, with the connection about it.
struct RunningClient<'a> {
    client: ClientProcess,
    tty: Option<&'a mut Tty>,
    link: DaemonLink,
    started: Instant,
    /// Set while the client is ending because the daemon ordered it.
    restart: Option<(String, Duration)>,
    interrupts: InterruptReporter,
    /// When SIGINT was passed on to the client's group. The reporter is in that group, so it reports this signal too.
    passed_on: Option<Instant>,
    /// When to ask the client to end, because it got Ctrl-C twice.
    end_at: Option<Instant>,
    /// When to kill the client, because it does not end.
    kill_at: Option<Instant>,
}

impl<'a> RunningClient<'a> {
    fn start(command: &[OsString], options: &RunOptions, tty: Option<&'a mut Tty>) -> io::Result<Self> {
        let in_front = tty.as_ref().is_some_and(|tty| tty.is_in_front());
        let becomes = options.becomes_client.iter().filter(|_| in_front).flatten();
        let command: Vec<OsString> = becomes.chain(command).cloned().collect();
        let client = ClientProcess::start(&command, &variables(options))?;
        let link = DaemonLink::open(options.paths.clone(), raw(client.group()));
        // Without a terminal there is no key.
        let reports = options.reports_interrupts.as_deref().filter(|_| tty.is_some());
        let interrupts = InterruptReporter::start(reports, client.group());
        let mut running = Self {
            client,
            tty,
            link,
            started: Instant::now(),
            restart: None,
            interrupts,
            passed_on: None,
            end_at: None,
            kill_at: None,
        };
        if in_front {
            running.hand_over();
        }
        Ok(running)
    }

    async fn watch(&mut self, signals: &mut Signals, restarts: &mut Restarts) -> ClientOutcome {
        loop {
            tokio::select! {
                event = self.client.next_event() => match event {
                    ClientEvent::Ended(code) => return self.ended(code),
                    ClientEvent::Stopped => self.suspend(),
                },
                order = self.link.next_order(), if self.restart.is_none() => {
                    self.carry_out(order, restarts).await;
                }
                signal = signals.next() => self.pass_on(signal),
                () = self.interrupts.next() => self.client_interrupted(signals),
                () = sleep_until_or_forever(self.end_at) => self.end(),
                () = sleep_until_or_forever(self.kill_at) => self.kill(),
            }
        }
    }

    fn ended(&mut self, code: u8) -> ClientOutcome {
        self.take_terminal_back();
        match self.restart.take() {
            Some((prompt, delay)) => ClientOutcome::Restart { prompt, delay },
            None => ClientOutcome::Ended { code },
        }
    }

    fn take_terminal_back(&mut self) {
        if let Some(tty) = &mut self.tty {
            // Fails if the terminal was closed; then no settings have to be restored.
            let _ = tty.take_back();
        }
    }

    /// Ends the client, or declines after too many restarts in a row. The answer is written first: a client that ends fast closes the
    /// connection.
    async fn carry_out(&mut self, order: DaemonOrder, restarts: &mut Restarts) {
        // A client that is ending for another reason is not started again.
        let is_ending = self.kill_at.is_some() || self.end_at.is_some();
        let delay = if is_ending { None } else { restarts.next(self.started.elapsed()) };
        self.restart = delay.map(|delay| (order.prompt.clone(), delay));
        order.answer(delay.is_some()).await;
        if delay.is_some() {
            self.end();
        }
    }

    /// Called when Ctrl-C reached the client. A second one within a second ends the client and the supervisor, unless the client ends by
    /// itself.
    fn client_interrupted(&mut self, signals: &mut Signals) {
        let now = Instant::now();
        if self.passed_on.take().is_some_and(|at| now - at < REPORTED_WITHIN)
            || !signals.is_second_interrupt(now)
        {
            return;
        }
        self.restart = None;
        match self.end_at {
            // At the third Ctrl-C the client is killed without further waiting.
            Some(_) => self.end(),
            None if self.kill_at.is_none() => self.end_at = Some(now + ENDS_ITSELF_WITHIN),
            None => {}
        }
    }

    fn end(&mut self) {
        self.end_at = None;
        self.client.ask_to_end();
        self.kill_at = Some(Instant::now() + ENDS_WITHIN);
    }

    fn kill(&mut self) {
        self.kill_at = None;
        self.client.signal(Signal::KILL);
        if let Some(tty) = &mut self.tty {
            // Fails if the terminal was closed.
            let _ = tty.reset();
        }
    }

    fn pass_on(&mut self, signal: SignalMeaning) {
        match signal {
            SignalMeaning::PassOn(signal) => {
                self.passed_on = Some(Instant::now()).filter(|_| signal == Signal::INT);
                self.client.signal(signal);
            }
            SignalMeaning::End(signal) => {
                self.restart = None;
                self.client.signal(signal);
                self.end();
            }
            SignalMeaning::Continue => self.resume(),
        }
    }

    /// The client was stopped with Ctrl-Z: stops this job too, so that the shell gets the terminal. Returns when the shell
    /// continues it, or at once where no shell could.
    fn suspend(&mut self) {
        if self.tty.as_ref().is_some_and(|tty| tty.is_in_front()) {
            // `fg` for a job that was not stopped sends no signal, so this process must not stop. The client has stopped because it read
            // the terminal.
            return self.hand_over();
        }
        self.take_terminal_back();
        // A process may always signal its own group.
        let _ = kill_current_process_group(Signal::TSTP);
        self.resume();
    }

    fn resume(&mut self) {
        if self.tty.as_ref().is_some_and(|tty| tty.is_in_front()) {
            self.hand_over();
        } else {
            self.client.signal(Signal::CONT);
        }
    }

    fn hand_over(&mut self) {
        if let Some(tty) = &mut self.tty
            && let Err(error) = tty.give_to(self.client.group())
        {
            // The client continues in the background, where the shell can bring it to the foreground.
            tracing::warn!(%error, "the terminal could not be given to the client");
        }
        // The client is stopped if it used the terminal before it was in the foreground. SIGCONT continues it.
        self.client.signal(Signal::CONT);
    }
}

/// The environment that the client gets in addition.
fn variables(options: &RunOptions) -> Vec<(&'static str, OsString)> {
    let home = options.named_home.clone().map(|home| ("FLIGHTDECK_HOME", home.into_os_string()));
    let mut variables: Vec<_> = home.into_iter().collect();
    if let Some(seat) = &options.seat {
        variables.extend(["FLIGHTDECK_SEAT", "AGENT_ID"].map(|name| (name, seat.into())));
    }
    variables
}

fn raw(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

async fn sleep_until_or_forever(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
