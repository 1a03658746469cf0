//! One interactive client in a terminal of a private tmux server.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use regex::Regex;

use super::{Lab, check_is_isolated, wait_for};
use crate::screen::{self, Screen};

const COLUMNS: &str = "160";
const ROWS: &str = "50";
/// Lines of a screen in an error message.
const SHOWN_LINES: usize = 16;
/// A typed prompt appears within this time, on a busy machine too.
const ECHO: Duration = Duration::from_secs(20);
/// From start to the prompt box.
const START: Duration = Duration::from_secs(40);

#[derive(Debug)]
pub struct Tui {
    /// The tmux server of its terminal.
    server: &'static str,
    name: String,
    pid: u32,
    lab_dir: std::path::PathBuf,
}

/// The tmux server of a lab's terminals.
pub(super) const SERVER: &str = "lab";
/// A server of its own beside it, for a client that runs elsewhere.
pub(super) const SECOND_SERVER: &str = "second";

/// A tmux command for one of the lab's own servers, with nothing of our environment in it.
fn server(dir: &std::path::Path, name: &str) -> Command {
    let mut command = Command::new("tmux");
    command.args(["-L", name, "-f", "/dev/null"]).env_clear().envs([
        ("PATH", "/usr/bin:/bin"),
        ("LANG", "C.UTF-8"),
        ("TERM", "xterm-256color"),
        ("SHELL", "/bin/sh"),
    ]);
    // The socket is in the lab too, so no other server can be reached by mistake.
    command.env("TMUX_TMPDIR", dir.join("tmux")).env("HOME", dir.join("home")).stdin(Stdio::null());
    command
}

/// The clients in this lab's terminals.
pub(super) fn pids(lab: &Lab) -> Vec<u32> {
    let listed = |name| server(&lab.dir, name).args(["list-panes", "-a", "-F", "#{pane_pid}"]).output();
    let outputs = [SERVER, SECOND_SERVER].into_iter().filter_map(|name| listed(name).ok());
    let texts = outputs.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    texts.flat_map(|text| text.lines().filter_map(|line| line.parse().ok()).collect::<Vec<_>>()).collect()
}

/// Ends the lab's terminals. If none was opened, there is no tmux server to end.
pub(super) fn kill_servers(lab: &Lab) {
    for name in [SERVER, SECOND_SERVER] {
        let _ = server(&lab.dir, name).arg("kill-server").stderr(Stdio::null()).status();
    }
}

pub(super) fn is_alive(pid: u32) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output();
    state.is_ok_and(|o| o.stdout.trim_ascii().first().is_some_and(|c| *c != b'Z'))
}

/// Sends a signal (`TERM`, `STOP`) to a process of the lab.
pub fn signal(pid: u32, signal: &str) -> Result<()> {
    let status = Command::new("kill").args(["-s", signal, &pid.to_string()]).status()?;
    if !status.success() {
        bail!("cannot send {signal} to {pid}");
    }
    Ok(())
}

impl Tui {
    /// The client; `before` is the command of a program that starts it, empty for none.
    pub(super) fn start(
        lab: &Lab,
        (server, name): (&'static str, &str),
        before: &[&str],
        args: &[&str],
        extra: &[(&str, &str)],
    ) -> Result<Self> {
        let client = lab.client.to_string_lossy();
        let words: Vec<&str> = before.iter().copied().chain([&*client]).chain(args.iter().copied()).collect();
        let (program, args) = words.split_first().context("there is no program to start")?;
        Self::start_program(lab, (server, name), Path::new(program), args, extra)
    }

    /// Another program than the client, in a terminal beside it.
    pub(super) fn start_program(
        lab: &Lab,
        (on, name): (&'static str, &str),
        program: &Path,
        args: &[&str],
        extra: &[(&str, &str)],
    ) -> Result<Self> {
        let env = lab.env(extra);
        check_is_isolated(&env, &lab.dir)?;
        let assignments = env.iter().map(|(k, v)| format!("{k}={v}"));
        // tmux puts TMUX and TMUX_PANE into the pane; the rest of its environment must not reach the client.
        let wrapper = r#"exec env -i "TMUX=$TMUX" "TMUX_PANE=$TMUX_PANE" "$@""#;
        let started = server(&lab.dir, on)
            .args(["new-session", "-d", "-s", name, "-x", COLUMNS, "-y", ROWS, "-P", "-F", "#{pane_pid}"])
            .arg("-c")
            .arg(lab.cwd())
            .args(["sh", "-c", wrapper, "sh"])
            .args(assignments)
            .arg(program)
            .args(args)
            // The last screen stays readable after the client has gone.
            .args([";", "set-option", "-g", "remain-on-exit", "on", ";", "set-option", "-g", "status", "off"])
            .output()
            .context("cannot run tmux")?;
        let pid = String::from_utf8_lossy(&started.stdout).trim().parse();
        let pid = pid.with_context(|| format!("tmux: {}", String::from_utf8_lossy(&started.stderr)))?;
        Ok(Self { server: on, name: name.to_owned(), pid, lab_dir: lab.dir.clone() })
    }

    /// The client's process: the shell and `env` in front of it have become it.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The screen as text.
    pub fn capture(&self) -> Result<String> {
        let output = self.server().args(["capture-pane", "-p", "-t", &self.name]).output()?;
        if !output.status.success() {
            bail!("cannot read terminal {}: {}", self.name, String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The screen as a person reads it. A closed terminal is empty too.
    pub fn screen(&self) -> Result<Screen> {
        let format = ["display-message", "-p", "-t", &self.name, "#{pane_dead}"];
        let dead = self.server().args(format).output()?;
        if !dead.status.success() || dead.stdout.trim_ascii() != b"0" {
            return Ok(Screen::Exited);
        }
        Ok(screen::read(&self.capture()?))
    }

    /// Presses keys by their tmux names (`Enter`, `Escape`, `C-c`, `2`).
    pub fn press(&self, keys: &[&str]) -> Result<()> {
        self.tmux(&[&["send-keys", "-t", &self.name], keys].concat())
    }

    /// Puts text into the prompt box.
    pub fn type_text(&self, text: &str) -> Result<()> {
        let start: String = text.chars().take(40).collect();
        // An earlier prompt may have been the same text, and may scroll away meanwhile.
        let before = self.capture()?.matches(&start).count();
        self.tmux(&["send-keys", "-t", &self.name, "-l", text])?;
        wait_for(&format!("{text:?} in the prompt box"), ECHO, || {
            let now = self.capture()?;
            let is_in_box = || screen::draft(&now).is_some_and(|draft| draft.contains(&start));
            Ok((now.matches(&start).count() > before || is_in_box()).then_some(()))
        })
        .with_context(|| self.screen_excerpt())
    }

    pub fn submit(&self, text: &str) -> Result<()> {
        self.type_text(text)?;
        self.press(&["Enter"])
    }

    pub fn wait_ready(&self) -> Result<()> {
        let on_screen = |s: &Screen| *s == Screen::Idle;
        self.wait_screen("the prompt box", START, on_screen).map(drop)
    }

    /// Waits until the screen shows what is wanted.
    pub fn wait_screen(
        &self,
        what: &str,
        deadline: Duration,
        wanted: impl Fn(&Screen) -> bool,
    ) -> Result<Screen> {
        let waited = wait_for(what, deadline, || Ok(Some(self.screen()?).filter(&wanted)));
        waited.with_context(|| self.screen_excerpt())
    }

    /// The part of the screen that a key would change.
    pub fn below_output(&self) -> Result<String> {
        Ok(screen::below_output(&self.capture()?))
    }

    /// Waits until a text is no longer on the screen.
    pub fn wait_no_text(&self, text: &str, deadline: Duration) -> Result<()> {
        let gone = || Ok((!self.capture()?.contains(text)).then_some(()));
        wait_for(&format!("{text:?} to go"), deadline, gone).with_context(|| self.screen_excerpt())
    }

    /// Waits until the screen holds a pattern.
    pub fn wait_text(&self, pattern: &str, deadline: Duration) -> Result<String> {
        let regex = Regex::new(pattern)?;
        let waited =
            wait_for(pattern, deadline, || Ok(Some(self.capture()?).filter(|text| regex.is_match(text))));
        waited.with_context(|| self.screen_excerpt())
    }

    /// Attaches a viewer to this terminal: a tmux client inside another tmux server. It ends with the lab's server. Returns
    /// the name of its terminal.
    pub fn attach(&self) -> Result<String> {
        let before = self.viewers()?;
        let attach = format!("unset TMUX; exec tmux -L {} attach -t ={}", self.server, self.name);
        let started = server(&self.lab_dir, "viewers")
            .args(["new-session", "-d", "-x", COLUMNS, "-y", ROWS, "sh", "-c", &attach])
            .output()?;
        if !started.status.success() {
            bail!("cannot attach: {}", String::from_utf8_lossy(&started.stderr));
        }
        wait_for("the viewer", ECHO, || Ok(self.viewers()?.into_keys().find(|tty| !before.contains_key(tty))))
    }

    /// The attached viewers, with the session and pane each one shows.
    pub fn viewers(&self) -> Result<BTreeMap<String, String>> {
        let format = "#{client_tty} #{session_name} #{pane_id}";
        let listed = self.server().args(["list-clients", "-F", format]).output()?;
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        Ok(text
            .lines()
            .filter_map(|l| l.split_once(' '))
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .collect())
    }

    /// The socket of its tmux server.
    pub fn socket(&self) -> Result<String> {
        self.display("#{socket_path}")
    }

    /// A tmux format, as it reads for the pane of this terminal.
    pub fn display(&self, format: &str) -> Result<String> {
        let output = self.server().args(["display-message", "-p", "-t", &self.pane()?, format]).output()?;
        if !output.status.success() {
            bail!("tmux says nothing for {format}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// A second window in this terminal's session, in front of the client.
    pub fn open_window(&self) -> Result<()> {
        self.tmux(&["new-window", "-t", &self.name, "sh"])
    }

    /// The id of the client's pane.
    pub fn pane(&self) -> Result<String> {
        let listed = self.server().args(["list-panes", "-a", "-F", "#{pane_pid} #{pane_id}"]).output()?;
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        let pid = self.pid.to_string();
        let found = text.lines().filter_map(|l| l.split_once(' ')).find(|(p, _)| *p == pid);
        Ok(found.with_context(|| format!("terminal {} has no pane", self.name))?.1.to_owned())
    }

    /// The screen for an error message, without its empty lines.
    fn screen_excerpt(&self) -> String {
        let text = self.capture().unwrap_or_default();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let tail = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
        format!("terminal {} shows:\n    {}\n", self.name, tail.join("\n    "))
    }

    /// Sends a signal (`TERM`, `KILL`, `HUP`, `INT`) to the client itself.
    pub fn signal(&self, signal: &str) -> Result<()> {
        self::signal(self.pid, signal)
    }

    /// Closes the terminal.
    pub fn close_terminal(&self) -> Result<()> {
        self.tmux(&["kill-session", "-t", &self.name])
    }

    pub fn is_alive(&self) -> bool {
        is_alive(self.pid)
    }

    pub fn wait_gone(&self, deadline: Duration) -> Result<()> {
        wait_for("the client to be gone", deadline, || Ok((!self.is_alive()).then_some(())))
    }

    fn server(&self) -> Command {
        server(&self.lab_dir, self.server)
    }

    fn tmux(&self, args: &[&str]) -> Result<()> {
        let output = self.server().args(args).output()?;
        if !output.status.success() {
            bail!("tmux {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }
}
