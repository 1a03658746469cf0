//! The seats of a fleet as windows of one tmux session of the person's own tmux server.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use super::file::{FleetFile, SeatEntry};

/// The tmux option in which a window names its seat. The window's own name may be changed by the person.
const SEAT_OPTION: &str = "@flightdeck_seat";
/// The size of a session before a terminal is attached.
const SIZE: [&str; 4] = ["-x", "200", "-y", "50"];

#[derive(Debug, thiserror::Error)]
pub enum TmuxFailed {
    #[error("tmux is not installed")]
    NotInstalled,
    #[error("cannot run tmux: {0}")]
    Io(io::Error),
    #[error("tmux {command} failed: {said}")]
    Refused { command: String, said: String },
    #[error("seat {0} ended at once: try its command in a terminal")]
    EndedAtOnce(String),
}

/// The result of starting or stopping a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatChange {
    Started,
    AlreadyRunning,
    Stopped,
    NotRunning,
}

/// The fleet of one file on the person's tmux server.
#[derive(Debug)]
pub struct FleetTmux<'a> {
    fleet: &'a FleetFile,
    /// The start of the command that supervises a seat: this program and its `--home`.
    program: Vec<OsString>,
}

impl<'a> FleetTmux<'a> {
    pub fn new(fleet: &'a FleetFile, program: Vec<OsString>) -> Self {
        Self { fleet, program }
    }

    /// Starts a seat unless it runs.
    pub fn start(&self, seat: &SeatEntry) -> Result<SeatChange, TmuxFailed> {
        if self.window(&seat.name)?.is_some() {
            return Ok(SeatChange::AlreadyRunning);
        }
        let window = call(&mut self.new_window(seat)?)?;
        let named = call(tmux().args(["set-option", "-w", "-t", window.trim(), SEAT_OPTION, &seat.name]));
        named.map_err(|_| TmuxFailed::EndedAtOnce(seat.name.clone()))?;
        Ok(SeatChange::Started)
    }

    /// Ends a seat by closing its tmux window. tmux sends SIGHUP, at which the client ends.
    pub fn stop(&self, seat: &SeatEntry) -> Result<SeatChange, TmuxFailed> {
        let Some(window) = self.window(&seat.name)? else { return Ok(SeatChange::NotRunning) };
        call(tmux().args(["kill-window", "-t", &window]))?;
        Ok(SeatChange::Stopped)
    }

    /// Shows the tmux session in this terminal. Outside tmux it replaces this process, so it returns only if that fails. Inside tmux
    /// it switches the client and returns.
    pub fn attach(&self, inside_tmux: bool) -> Result<(), TmuxFailed> {
        let target = self.target();
        if inside_tmux {
            return call(tmux().args(["switch-client", "-t", &target])).map(drop);
        }
        Err(failed_to_run(tmux().args(["attach-session", "-t", &target]).exec()))
    }

    pub fn is_running(&self) -> Result<bool, TmuxFailed> {
        Ok(output(tmux().args(["has-session", "-t", &self.target()]))?.status.success())
    }

    /// The tmux target of the session. With `=`, tmux matches the whole name and not its beginning.
    fn target(&self) -> String {
        format!("={}", self.fleet.session)
    }

    /// The tmux window of a seat.
    fn window(&self, seat: &str) -> Result<Option<String>, TmuxFailed> {
        if !self.is_running()? {
            return Ok(None);
        }
        let format = format!("#{{window_id}} #{{{SEAT_OPTION}}}");
        let windows = call(tmux().args(["list-windows", "-t", &self.target(), "-F", &format]))?;
        let of_seat =
            |line: &str| line.split_once(' ').filter(|(_, name)| *name == seat).map(|(id, _)| id.to_owned());
        Ok(windows.lines().find_map(of_seat))
    }

    /// The command that starts a seat in a new tmux window, and prints the id of the window.
    fn new_window(&self, seat: &SeatEntry) -> Result<Command, TmuxFailed> {
        let mut command = tmux();
        if self.is_running()? {
            // With `:` the window goes to the first free place of the session.
            command.args(["new-window", "-d", "-t", &format!("{}:", self.target())]);
        } else {
            command.args(["new-session", "-d", "-s", &self.fleet.session]).args(SIZE);
        }
        command.args(["-n", &seat.name, "-P", "-F", "#{window_id}", "-c"]).arg(&seat.dir);
        // Several arguments: tmux runs them without a shell. The server may have another PATH than this terminal.
        command.arg("env").arg(path_variable()).args(&self.program);
        command.args(["run", "--seat", &seat.name, "--"]).args(&seat.command);
        Ok(command)
    }
}

fn path_variable() -> OsString {
    let mut path = OsString::from("PATH=");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    path
}

fn tmux() -> Command {
    let mut tmux = Command::new("tmux");
    tmux.arg("-u");
    tmux
}

fn output(command: &mut Command) -> Result<Output, TmuxFailed> {
    command.stdin(Stdio::null()).output().map_err(failed_to_run)
}

fn failed_to_run(error: io::Error) -> TmuxFailed {
    match error.kind() {
        io::ErrorKind::NotFound => TmuxFailed::NotInstalled,
        _ => TmuxFailed::Io(error),
    }
}

fn call(command: &mut Command) -> Result<String, TmuxFailed> {
    let output = output(command)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    /// Longest part of tmux's message that is shown.
    const MESSAGE_CHARS_MAX: usize = 300;
    let name = command.get_args().nth(1).unwrap_or_default().to_string_lossy().into_owned();
    let said = flightdeck_core::text::one_line(&String::from_utf8_lossy(&output.stderr), MESSAGE_CHARS_MAX);
    Err(TmuxFailed::Refused { command: name, said })
}
