//! `flightdeck doctor`: looks for what is wrong and says how to mend it. Works without a daemon.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use serde::Serialize;
use serde_json::{Value, json};

use super::ask::Daemon;
use super::{draw, out::Out};
use crate::claude_settings::{self as settings, ClientVersion, LineState, Registration, Scope, SettingsFile};
use crate::config::{CORRECT_IT, Config};
use crate::inlet::spool;
use crate::paths::Paths;

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
    /// Nothing to mend, and nothing to be glad of.
    #[serde(skip)]
    aside: bool,
    says: String,
    fix: Option<String>,
}

impl Finding {
    fn well(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, ok: true, aside: false, says: says.into(), fix: None }
    }
    fn aside(what: &'static str, says: impl Into<String>) -> Self {
        Self { aside: true, ..Self::well(what, says) }
    }
    fn ill(what: &'static str, says: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what, ok: false, aside: false, says: says.into(), fix: Some(fix.into()) }
    }
}

/// Exits 1 if anything is to be mended.
pub(super) fn run(args: &DoctorArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let status = Daemon::connect(paths).and_then(|mut d| d.ask("status", json!({})));
    let mut findings = vec![version(), home(paths), config(paths)];
    findings.extend([daemon(&status, paths), socket(paths), store(&status)]);
    let simulated = status.as_ref().is_ok_and(|status| status["hooks"]["simulated"] == json!(true));
    findings.extend(if simulated { vec![no_hooks()] } else { hooks(paths) });
    findings.extend([waiting(paths), log(paths)]);
    let ill = findings.iter().any(|f| !f.ok);
    if args.json {
        out.json(&findings)?;
    } else {
        for finding in &findings {
            print(finding, out)?;
        }
    }
    Ok(u8::from(ill))
}

fn print(finding: &Finding, out: &mut Out) -> anyhow::Result<()> {
    let sign = match (finding.ok, finding.aside) {
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

fn version() -> Finding {
    Finding::well("version", format!("flightdeck {}", env!("CARGO_PKG_VERSION")))
}

fn home(paths: &Paths) -> Finding {
    let home = paths.home.display();
    match std::fs::metadata(&paths.home) {
        Ok(_) => Finding::well("home", format!("{home}")),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Finding::well("home", format!("{home} (made at the first start)"))
        }
        Err(e) => {
            Finding::ill("home", format!("{home}: {e}"), "make it readable for you, or choose another --home")
        }
    }
}

fn config(paths: &Paths) -> Finding {
    match Config::read(&paths.config) {
        Ok(_) if paths.config.exists() => Finding::well("config", paths.config.display().to_string()),
        Ok(_) => Finding::well("config", format!("all defaults ({} does not exist)", paths.config.display())),
        Err(error) => {
            let says = error.to_string();
            match says.strip_suffix(CORRECT_IT) {
                Some(says) => Finding::ill("config", says.trim_end(), CORRECT_IT),
                None => Finding::ill("config", says, "make it readable for you"),
            }
        }
    }
}

fn daemon(status: &anyhow::Result<Value>, paths: &Paths) -> Finding {
    let status = match status {
        Ok(status) => status,
        Err(error) => return Finding::ill("daemon", error.to_string(), "flightdeck"),
    };
    let version = status["version"].as_str().unwrap_or("?");
    if version != env!("CARGO_PKG_VERSION") {
        let says = format!("version {version} runs, this is {}", env!("CARGO_PKG_VERSION"));
        return Finding::ill("daemon", says, "stop the daemon and start it again");
    }
    if status["status"] != "ok" {
        let log = paths.logs.join("flightdeck.log");
        return Finding::ill("daemon", status["reasons"].to_string(), format!("read {}", log.display()));
    }
    let url = status["url"].as_str().unwrap_or_default();
    let sessions = draw::count(status["sessions"].as_u64().unwrap_or(0), "session");
    Finding::well("daemon", format!("{url} (pid {}), {sessions}", status["pid"]))
}

fn socket(paths: &Paths) -> Finding {
    let socket = paths.socket();
    let mode = |path: &std::path::Path| std::fs::metadata(path).map(|m| m.permissions().mode() & 0o777);
    match (mode(&socket), socket.parent().map(mode)) {
        (Ok(0o600), Some(Ok(0o700))) => Finding::well("socket", format!("{} is private", socket.display())),
        (Err(_), _) => Finding::well("socket", format!("{} (made by the daemon)", socket.display())),
        _ => Finding::ill(
            "socket",
            format!("{} can be used by others", socket.display()),
            "restart the daemon",
        ),
    }
}

fn store(status: &anyhow::Result<Value>) -> Finding {
    match status {
        Ok(status) => {
            let megabytes = status["store_bytes"].as_u64().unwrap_or(0) as f64 / 1_048_576.0;
            let events = draw::count(status["hooks"]["events_total"].as_u64().unwrap_or(0), "event");
            Finding::well("store", format!("{events}, {megabytes:.1} MB"))
        }
        Err(_) => Finding::aside("store", "is the daemon's; nothing to say without one"),
    }
}

/// A demo: what stands in the person's own settings is none of its business.
fn no_hooks() -> Finding {
    Finding::aside("hooks", "none, on purpose: the sessions are simulated")
}

fn hooks(paths: &Paths) -> Vec<Finding> {
    match look_at_hooks(paths) {
        Ok(findings) => findings,
        Err(error) => {
            vec![Finding::ill("hooks", looked(&error), "correct the file named above")]
        }
    }
}

/// A refusal to write also says that nothing was changed; whoever only looked knows.
pub(super) fn looked(error: &anyhow::Error) -> String {
    let said = format!("{error:#}");
    said.strip_suffix(". Nothing was changed").map_or(said.clone(), str::to_owned)
}

fn look_at_hooks(paths: &Paths) -> anyhow::Result<Vec<Finding>> {
    let env = |name: &str| std::env::var_os(name);
    let path = settings::settings_path(Scope::User, &env, &std::env::current_dir()?)?;
    let file = SettingsFile::new(&path, &paths.backups());
    let version = ClientVersion::find(&|| settings::ask_claude(&env), &settings::config_dir(&env)?);
    let mut findings = vec![match version.note() {
        None => Finding::well("client", format!("Claude Code {}", version.number)),
        Some(note) => Finding::aside("client", note),
    }];
    let installed = file.installed()?;
    let registration =
        Registration::new(&std::env::current_exe()?, &paths.home, version).as_installed(installed);
    let status = file.status(&registration)?;
    let (here, path) = (status.registered.len(), path.display());
    findings.push(if status.disabled {
        Finding::ill("hooks", format!("disableAllHooks is true in {path}"), "take that line out")
    } else if let Some(other) = file.other_home(&paths.home)? {
        let says = format!("{path} is registered for another Flightdeck home, {}", other.display());
        Finding::ill("hooks", says, "flightdeck hooks install, to have the events here instead")
    } else if status.in_order() {
        Finding::well("hooks", format!("{} in {path}", draw::count(here as u64, "event")))
    } else if here == 0 {
        Finding::ill("hooks", format!("none in {path}"), "flightdeck hooks install")
    } else {
        let says = format!("{} missing, {} out of date in {path}", status.missing.len(), status.stale.len());
        Finding::ill("hooks", says, "flightdeck hooks repair")
    });
    findings.push(match status.status_line {
        LineState::Ours => Finding::well("line", "the status line tells us context, cost and rate limits"),
        LineState::None | LineState::Theirs => {
            Finding::aside("line", "the status line does not tell us (flightdeck hooks install --statusline)")
        }
        LineState::Stale => {
            Finding::ill("line", "the status line is ours, but out of date", "flightdeck hooks repair")
        }
        LineState::Replaced => {
            Finding::ill("line", "our status line was replaced by another", "flightdeck hooks repair")
        }
    });
    Ok(findings)
}

fn waiting(paths: &Paths) -> Finding {
    match spool::stats(&paths.spool()) {
        Ok(stats) if stats.rejected > 0 => {
            let folder = paths.spool().join(spool::REJECTED);
            let says =
                format!("{} could not be read as an event", draw::count(stats.rejected as u64, "file"));
            Finding::ill("spool", says, format!("report what is in {}, then delete it", folder.display()))
        }
        Ok(stats) if stats.files == 0 && stats.dropped == 0 => Finding::well("spool", "empty"),
        Ok(stats) if stats.files == 0 => Finding::well(
            "spool",
            format!("empty; {} dropped over time", draw::count(stats.dropped, "event")),
        ),
        Ok(stats) => Finding::ill(
            "spool",
            format!("{} waiting ({} bytes)", draw::count(stats.files as u64, "event"), stats.bytes),
            "start the daemon: it takes them in",
        ),
        Err(error) => {
            Finding::ill("spool", error.to_string(), "make the spool folder yours alone (mode 0700)")
        }
    }
}

fn log(paths: &Paths) -> Finding {
    let path = paths.logs.join("flightdeck.log");
    let errors = crate::log::tail(&path, 200).into_iter().filter(|l| l.contains(" ERROR ")).count();
    match errors {
        0 => Finding::well("log", path.display().to_string()),
        n => {
            let errors = draw::count(n as u64, "error");
            Finding::ill("log", format!("{errors} among the last lines of {}", path.display()), "read them")
        }
    }
}
