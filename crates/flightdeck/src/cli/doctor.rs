//! `flightdeck doctor`: checks the installation and says how to fix problems. Works without a daemon.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use flightdeck_protocol::daemon::{DaemonStatus, GetStatus, HealthStatus, Ping, Pong};
use serde::Serialize;

use super::{draw, out::Out};
use crate::client::{BlockingClient, ClientError};
use crate::config::{CORRECTION_ADVICE, Config};
use crate::daemon;
use crate::ingest::spool;
use crate::paths::Paths;
use crate::settings::{self, ClientVersion, Registration, Scope, SettingsFile, StatusLineState};

#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    ok: bool,
    /// Neither passed nor failed: a fact that the person may want to know.
    #[serde(skip)]
    neutral: bool,
    says: String,
    fix: Option<String>,
}

impl Finding {
    fn passed(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, ok: true, neutral: false, says: says.into(), fix: None }
    }
    fn neutral(what: &'static str, says: impl Into<String>) -> Self {
        Self { neutral: true, ..Self::passed(what, says) }
    }
    fn failed(what: &'static str, says: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what, ok: false, neutral: false, says: says.into(), fix: Some(fix.into()) }
    }
}

/// A daemon of another version may send a status that this version cannot read.
type DaemonReplies = Result<(Pong, Result<DaemonStatus, ClientError>), ClientError>;

fn ask_daemon(paths: &Paths) -> DaemonReplies {
    let mut client = BlockingClient::connect(paths)?;
    Ok((client.call(&Ping {})?, client.call(&GetStatus {})))
}

/// Exits 1 if there is a problem.
pub(super) fn run(args: &DoctorArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let asked = ask_daemon(paths);
    let status = asked.as_ref().ok().and_then(|(_, status)| status.as_ref().ok());
    let mut findings = vec![check_version(), check_home(paths), check_config(paths)];
    findings.extend([check_daemon(&asked, paths), check_socket(paths), check_store(status)]);
    let simulated = daemon::is_simulated(paths);
    findings.extend(if simulated { vec![hooks_of_a_demo()] } else { check_hooks(paths, status) });
    findings.extend([check_spool(paths), check_log(paths)]);
    let bad = findings.iter().any(|finding| !finding.ok);
    if args.json {
        out.json(&findings)?;
    } else {
        for finding in &findings {
            print(finding, out)?;
        }
    }
    Ok(u8::from(bad))
}

fn print(finding: &Finding, out: &mut Out) -> anyhow::Result<()> {
    let sign = match (finding.ok, finding.neutral) {
        (false, _) => draw::paint(out, "31;1", "✗"),
        (true, false) => draw::paint(out, "2", "✓"),
        (true, true) => draw::paint(out, "2", "–"),
    };
    let below = " ".repeat(12);
    let says = finding.says.replace('\n', &format!("\n{below}"));
    writeln!(out, "{sign} {:<9} {says}", finding.what)?;
    if let Some(fix) = &finding.fix {
        writeln!(out, "{below}to mend: {fix}")?;
    }
    Ok(())
}

fn check_version() -> Finding {
    Finding::passed("version", format!("flightdeck {}", env!("CARGO_PKG_VERSION")))
}

fn check_home(paths: &Paths) -> Finding {
    let home = paths.home.display();
    match std::fs::metadata(&paths.home) {
        Ok(_) => Finding::passed("home", format!("{home}")),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Finding::passed("home", format!("{home} (made at the first start)"))
        }
        Err(e) => {
            let fix = format!("give yourself access to {home}, or choose another folder with --home");
            Finding::failed("home", format!("the folder {home} cannot be read: {e}"), fix)
        }
    }
}

fn check_config(paths: &Paths) -> Finding {
    match Config::read(&paths.config) {
        Ok(_) if paths.config.exists() => Finding::passed("config", paths.config.display().to_string()),
        Ok(_) => {
            Finding::passed("config", format!("all defaults ({} does not exist)", paths.config.display()))
        }
        Err(error) => {
            let says = error.to_string();
            match says.strip_suffix(CORRECTION_ADVICE) {
                Some(says) => Finding::failed("config", says.trim_end(), CORRECTION_ADVICE),
                None => {
                    let fix = format!("make the file readable for you: chmod u+r {}", paths.config.display());
                    Finding::failed("config", says, fix)
                }
            }
        }
    }
}

fn check_daemon(asked: &DaemonReplies, paths: &Paths) -> Finding {
    let log = paths.logs.join("flightdeck.log");
    let failed = |error: &ClientError| match error {
        ClientError::NotRunning { home } => {
            let says = format!("no daemon is running for {}", home.display());
            Finding::failed("daemon", says, "start it with `flightdeck`")
        }
        _ => {
            let fix = format!("stop the daemon and start it with `flightdeck`; its log is {}", log.display());
            Finding::failed("daemon", error.to_string(), fix)
        }
    };
    let (pong, status) = match asked {
        Ok(replies) => replies,
        Err(error) => return failed(error),
    };
    if pong.version != env!("CARGO_PKG_VERSION") {
        let ours = env!("CARGO_PKG_VERSION");
        let says = format!("the daemon (pid {}) has version {}, this program {ours}", pong.pid, pong.version);
        return Finding::failed("daemon", says, "stop the daemon and start it with `flightdeck`");
    }
    let status = match status {
        Ok(status) => status,
        Err(error) => return failed(error),
    };
    if status.health.status != HealthStatus::Ok {
        let says =
            format!("the daemon (pid {}) is degraded: {}", status.pid, status.health.reasons.join("; "));
        return Finding::failed("daemon", says, format!("read its log for the cause: {}", log.display()));
    }
    let sessions = draw::count(status.sessions, "session");
    Finding::passed("daemon", format!("{} (pid {}), {sessions}", status.url, status.pid))
}

fn check_socket(paths: &Paths) -> Finding {
    let socket = paths.socket();
    let mode = |path: &std::path::Path| std::fs::metadata(path).map(|m| m.permissions().mode() & 0o777);
    match (mode(&socket), socket.parent().map(mode)) {
        (Ok(0o600), Some(Ok(0o700))) => Finding::passed("socket", format!("{} is private", socket.display())),
        (Err(_), _) => Finding::passed("socket", format!("{} (made by the daemon)", socket.display())),
        _ => Finding::failed(
            "socket",
            format!("other users may open {}: it or its folder is not private", socket.display()),
            "stop the daemon and start it with `flightdeck`: it makes both private",
        ),
    }
}

fn check_store(status: Option<&DaemonStatus>) -> Finding {
    match status {
        Some(status) => {
            let megabytes = status.store_bytes as f64 / 1_048_576.0;
            let events = draw::count(status.hooks.events_total, "event");
            Finding::passed("store", format!("{events}, {megabytes:.1} MB"))
        }
        None => Finding::neutral("store", "unknown: only the daemon can read it"),
    }
}

/// A demo has no hooks, so the person's own settings are not checked.
fn hooks_of_a_demo() -> Finding {
    Finding::neutral("hooks", daemon::NO_HOOKS_IN_A_DEMO)
}

fn check_hooks(paths: &Paths, daemon: Option<&DaemonStatus>) -> Vec<Finding> {
    match compare_hooks(paths, daemon) {
        Ok(findings) => findings,
        Err(error) => {
            vec![Finding::failed("hooks", read_error(&error), "correct the file that is named here")]
        }
    }
}

/// The error without "Nothing was changed", which is clear for a command that only reads.
pub(super) fn read_error(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    text.strip_suffix(". Nothing was changed").map_or(text.clone(), str::to_owned)
}

fn compare_hooks(paths: &Paths, daemon: Option<&DaemonStatus>) -> anyhow::Result<Vec<Finding>> {
    let env = |name: &str| std::env::var_os(name);
    let path = settings::settings_path(Scope::User, &env, &std::env::current_dir()?)?;
    let file = SettingsFile::new(&path, &paths.backups());
    let version = ClientVersion::find(&|| settings::ask_claude(&env), &settings::config_dir(&env)?);
    let mut findings = vec![match version.note() {
        None => Finding::passed("client", format!("Claude Code {}", version.number)),
        Some(note) => Finding::neutral("client", note),
    }];
    let installed = file.installed()?;
    let registration =
        Registration::new(&std::env::current_exe()?, &paths.home, version).as_installed(installed);
    let status = file.status(&registration)?;
    findings.push(check_registration(&status, file.other_home(&paths.home)?));
    // A running daemon may listen at another port than the configured one.
    let port = daemon.and_then(|daemon| daemon.url.rsplit(':').next()?.trim_end_matches('/').parse().ok());
    let earlier = file.predecessors(port.unwrap_or(registration.port))?;
    findings.extend(earlier.iter().map(|found| match found.doubles {
        true => Finding::failed("earlier", found.sentence(), found.fix()),
        false => Finding::neutral("earlier", found.to_string()),
    }));
    findings.push(check_status_line(status.status_line, &path.display()));
    Ok(findings)
}

/// Whether all our hooks are in the settings file. `other_home` is another Flightdeck home that is registered there.
fn check_registration(status: &settings::Status, other_home: Option<PathBuf>) -> Finding {
    let (here, path) = (status.registered.len(), status.path.display());
    if status.disabled {
        let says = format!("disableAllHooks is true in {path}, so Claude Code runs no hook");
        Finding::failed("hooks", says, format!("take that line out of {path}"))
    } else if let Some(other) = other_home {
        let says = format!("{path} is registered for another Flightdeck home, {}", other.display());
        let fix = "run `flightdeck hooks install` to have the events here instead, or use that home";
        Finding::failed("hooks", says, fix)
    } else if status.in_order() {
        Finding::passed("hooks", format!("{} in {path}", draw::count(here as u64, "event")))
    } else if here == 0 {
        let says = format!("no hook of Flightdeck is in {path}, so no session is heard");
        Finding::failed(
            "hooks",
            says,
            "start the daemon with `flightdeck`, or run `flightdeck hooks install` to keep them",
        )
    } else {
        let missing = draw::count(status.missing.len() as u64, "hook");
        let says = format!("{path} lacks {missing}, and {} are out of date", status.stale.len());
        Finding::failed("hooks", says, "run `flightdeck hooks repair`")
    }
}

fn check_status_line(state: StatusLineState, path: &impl std::fmt::Display) -> Finding {
    const REPAIR: &str = "run `flightdeck hooks repair`";
    match state {
        StatusLineState::Ours => {
            Finding::passed("line", "the status line tells us context, cost and rate limits")
        }
        StatusLineState::None | StatusLineState::Theirs => Finding::neutral(
            "line",
            "the status line does not tell us (flightdeck hooks install --statusline)",
        ),
        StatusLineState::Stale => {
            Finding::failed("line", format!("our status line in {path} is out of date"), REPAIR)
        }
        StatusLineState::Replaced => {
            Finding::failed("line", format!("another program replaced our status line in {path}"), REPAIR)
        }
    }
}

fn check_spool(paths: &Paths) -> Finding {
    let folder = paths.spool();
    match spool::stats(&folder) {
        Ok(stats) if stats.rejected > 0 => {
            let rejected = folder.join(spool::REJECTED);
            let files = draw::count(stats.rejected as u64, "file");
            let says = format!("{files} in {} could not be read as an event", rejected.display());
            Finding::failed("spool", says, "report what is in there, then delete it")
        }
        Ok(stats) if stats.files == 0 && stats.dropped == 0 => Finding::passed("spool", "empty"),
        Ok(stats) if stats.files == 0 => Finding::passed(
            "spool",
            format!("empty; {} dropped over time", draw::count(stats.dropped, "event")),
        ),
        Ok(stats) => {
            let events = draw::count(stats.files as u64, "event");
            let says = format!("{events} waiting in {} ({} bytes)", folder.display(), stats.bytes);
            Finding::failed("spool", says, "start the daemon with `flightdeck`: it takes them in")
        }
        Err(error) => {
            let says = format!("the folder {} cannot be read: {error}", folder.display());
            Finding::failed("spool", says, format!("make it yours alone: chmod 700 {}", folder.display()))
        }
    }
}

fn check_log(paths: &Paths) -> Finding {
    let path = paths.logs.join("flightdeck.log");
    let errors = crate::log::tail(&path, 200).into_iter().filter(|l| l.contains(" ERROR ")).count();
    match errors {
        0 => Finding::passed("log", path.display().to_string()),
        n => {
            let errors = draw::count(n as u64, "error");
            let fix = format!("read them: grep ERROR {}", path.display());
            Finding::failed("log", format!("{errors} among the last lines of {}", path.display()), fix)
        }
    }
}
