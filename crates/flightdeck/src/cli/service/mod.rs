//! `flightdeck service`: runs the daemon from login on, with systemd or launchd.

mod environment;
mod unit;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use flightdeck_protocol::daemon::{DaemonStatus, GetStatus};

use super::out::Out;
use crate::client::BlockingClient;
use crate::paths::Paths;

/// Longest start of a daemon, with a large log on a slow disk.
const START_MAX: Duration = Duration::from_secs(30);
/// Time between two attempts to reach the daemon.
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug, clap::Args)]
pub(super) struct ServiceArgs {
    #[command(subcommand)]
    command: ServiceCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ServiceCommand {
    /// Start the daemon now and at every login
    Install(OutputArgs),
    /// Stop the daemon and do not start it at login any more
    Uninstall(OutputArgs),
    /// Say whether the service is installed and running; exits 1 if not
    Status(OutputArgs),
}

#[derive(Debug, clap::Args)]
struct OutputArgs {
    /// Print JSON: the manager, its file, and whether the service is installed and running
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ServiceArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let service = Service::here()?;
    match &args.command {
        ServiceCommand::Install(OutputArgs { json }) => {
            let daemon = install(&service, paths)?;
            let (file, DaemonStatus { pid, url, .. }) = (service.file.display(), daemon);
            let done = format!("{file} runs now (pid {pid}, {url}) and from every login on.");
            print(&service, *json, &done, out)
        }
        ServiceCommand::Uninstall(OutputArgs { json }) => {
            let done = uninstall(&service)?;
            print(&service, *json, &done, out)
        }
        ServiceCommand::Status(OutputArgs { json }) => status(&service, *json, out),
    }
}

/// What starts programs at login, and its file about the daemon.
#[derive(Debug)]
struct Service {
    manager: Manager,
    file: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    Systemd,
    Launchd,
}

impl Service {
    fn here() -> anyhow::Result<Self> {
        let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = var("HOME").context("HOME is not set")?;
        Ok(match cfg!(target_os = "macos") {
            true => Self {
                manager: Manager::Launchd,
                file: home.join("Library/LaunchAgents").join(format!("{}.plist", unit::LABEL)),
            },
            false => {
                let config = var("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
                Self { manager: Manager::Systemd, file: config.join("systemd/user").join(unit::UNIT) }
            }
        })
    }

    fn text(&self, binary: &Path, home: Option<&Path>) -> String {
        let env = |name: &str| std::env::var(name).ok();
        let environment = environment::carried(self.manager, env);
        match self.manager {
            Manager::Systemd => unit::systemd(binary, home, &environment),
            Manager::Launchd => unit::launchd(binary, home, &environment),
        }
    }

    fn start(&self) -> anyhow::Result<()> {
        match self.manager {
            Manager::Systemd => {
                succeeded(systemctl(["daemon-reload"])?)?;
                succeeded(systemctl(["enable", unit::UNIT])?)?;
                // An earlier version of the unit may run.
                succeeded(systemctl(["restart", unit::UNIT])?)
            }
            Manager::Launchd => {
                succeeded(call("launchctl", [OsStr::new("load"), OsStr::new("-w"), self.file.as_os_str()])?)
            }
        }
    }

    fn stop(&self) -> anyhow::Result<()> {
        match self.manager {
            Manager::Systemd => succeeded(systemctl(["disable", "--now", unit::UNIT])?),
            Manager::Launchd => {
                succeeded(call("launchctl", [OsStr::new("unload"), OsStr::new("-w"), self.file.as_os_str()])?)
            }
        }
    }

    /// The manager forgets the file after it was removed.
    fn forget(&self) -> anyhow::Result<()> {
        match self.manager {
            Manager::Systemd => succeeded(systemctl(["daemon-reload"])?),
            Manager::Launchd => Ok(()),
        }
    }

    fn json(&self) -> serde_json::Value {
        let manager = if self.manager == Manager::Systemd { "systemd" } else { "launchd" };
        serde_json::json!({
            "manager": manager, "file": self.file, "installed": self.file.exists(), "running": self.is_running(),
        })
    }

    fn is_running(&self) -> bool {
        let asked = match self.manager {
            Manager::Systemd => systemctl(["is-active", "--quiet", unit::UNIT]),
            Manager::Launchd => call("launchctl", ["list", unit::LABEL]),
        };
        asked.is_ok_and(|output| output.status.success())
    }
}

impl Service {
    /// The pid of the daemon that the manager runs. `None` if it runs none, or does not report it.
    fn pid(&self) -> Option<u32> {
        let said = match self.manager {
            Manager::Systemd => systemctl(["show", "--property=MainPID", "--value", unit::UNIT]),
            Manager::Launchd => call("launchctl", ["list", unit::LABEL]),
        };
        let said = said.ok().filter(|output| output.status.success())?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let number = match self.manager {
            Manager::Systemd => said.trim(),
            // `"PID" = 123;`
            Manager::Launchd => said.split("\"PID\" = ").nth(1)?.split(';').next()?,
        };
        number.parse().ok().filter(|pid| *pid > 0)
    }

    /// Waits until the daemon that the manager started answers.
    fn await_daemon(&self, paths: &Paths) -> anyhow::Result<DaemonStatus> {
        let deadline = Instant::now() + START_MAX;
        while Instant::now() < deadline {
            let status = BlockingClient::connect(paths).and_then(|mut client| client.call(&GetStatus {}));
            match status {
                Ok(status) if self.pid().is_none_or(|pid| pid == status.pid) && self.is_running() => {
                    return Ok(status);
                }
                Ok(status) if !self.is_running() => bail!(
                    "another daemon uses this home already (pid {}, {}): stop it and install again",
                    status.pid,
                    status.url
                ),
                _ if !self.is_running() => {
                    bail!("its daemon ended after the start: {}", self.where_errors_are())
                }
                _ => std::thread::sleep(LOOK_EVERY),
            }
        }
        bail!("its daemon did not answer within {} s: {}", START_MAX.as_secs(), self.where_errors_are())
    }

    fn where_errors_are(&self) -> String {
        match self.manager {
            Manager::Systemd => format!("`journalctl --user --unit {}` says why", unit::UNIT),
            Manager::Launchd => format!("`launchctl list {}` has its exit status", unit::LABEL),
        }
    }
}

fn systemctl<const N: usize>(args: [&str; N]) -> anyhow::Result<Output> {
    call("systemctl", ["--user"].into_iter().chain(args))
}

fn call(program: &str, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> anyhow::Result<Output> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    command.output().with_context(|| format!("{program} could not be run"))
}

fn succeeded(output: Output) -> anyhow::Result<()> {
    match output.status.success() {
        true => Ok(()),
        false => bail!("{}", String::from_utf8_lossy(&output.stderr).trim()),
    }
}

/// Prints what was done, or with `--json` the present state of the service.
fn print(service: &Service, json: bool, done: &str, out: &mut Out) -> anyhow::Result<u8> {
    match json {
        true => out.json(&service.json())?,
        false => writeln!(out, "{done}")?,
    }
    Ok(0)
}

fn install(service: &Service, paths: &Paths) -> anyhow::Result<DaemonStatus> {
    let binary = std::env::current_exe()?;
    let usual =
        Paths::resolve(None, |name| (name != "FLIGHTDECK_HOME").then(|| std::env::var_os(name)).flatten());
    let home = Some(&*paths.home).filter(|home| usual.is_ok_and(|usual| usual.home != *home));
    let folder = service.file.parent().unwrap_or(Path::new("/"));
    let failed = || format!("could not write {}", service.file.display());
    fs::create_dir_all(folder).with_context(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(failed)?;
    file.write_all(service.text(&binary, home).as_bytes()).with_context(failed)?;
    file.persist(&service.file).with_context(failed)?;
    service.start().context("the service is written, but could not be started")?;
    // The manager reports success as soon as the process exists.
    service.await_daemon(paths).context("the service is written and was started, but does not run")
}

/// Returns what was done.
fn uninstall(service: &Service) -> anyhow::Result<String> {
    if !service.file.exists() {
        return Ok("The service is not installed.".to_owned());
    }
    // The service may be stopped already; the file is removed in any case.
    let stopped = service.stop();
    match fs::remove_file(&service.file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let forgotten = service.forget();
    stopped.and(forgotten).context("the service is removed, but the service manager reported an error")?;
    Ok(format!("{} is removed.", service.file.display()))
}

fn status(service: &Service, json: bool, out: &mut Out) -> anyhow::Result<u8> {
    let (installed, running) = (service.file.exists(), service.is_running());
    if json {
        out.json(&service.json())?;
    } else {
        let not = |is: bool| if is { "" } else { "not " };
        writeln!(out, "{}: {}installed, {}running", service.file.display(), not(installed), not(running))?;
    }
    Ok(u8::from(!(installed && running)))
}
