//! `flightdeck hooks`: installs, checks, repairs and removes our hooks in Claude Code's settings. Needs no daemon.

use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::doctor::read_error;
use crate::config::{Config, ConfigError, HOLD_SECONDS_MAX};
use crate::daemon;
use crate::paths::Paths;
use crate::settings::{
    self, BaseUrl, ClientVersion, FoundTool, InstalledHooks, Lifetime, Predecessor, Registration, Scope,
    SettingsChange, SettingsFile, TakenOut, Via,
};

#[derive(Clone, Debug, clap::Args)]
pub struct HooksArgs {
    #[command(subcommand)]
    pub action: HooksAction,
}

#[derive(Clone, Debug, clap::Subcommand)]
pub enum HooksAction {
    /// Install our hooks permanently
    Install(InstallOptions),
    /// Remove all our hooks
    Uninstall(HooksOptions),
    /// Show which hooks are registered, missing or out of date; exits 1 if any is not in order
    Status(HooksOptions),
    /// Print the JSON to merge into a settings file by hand
    Print(HooksOptions),
    /// Restore missing and outdated hooks, with the options they were registered with
    Repair(HooksOptions),
}

#[derive(Clone, Debug, Default, clap::Args)]
pub struct HooksOptions {
    /// How events reach the daemon [default: shim; for status and repair: as registered]
    #[arg(long, value_enum)]
    pub via: Option<Via>,
    /// Which settings.json to use
    #[arg(long, value_enum, default_value_t)]
    pub scope: Scope,
    /// The daemon's port, for http and curl [default: as registered (status, repair), FLIGHTDECK_PORT, `port` of
    /// config.toml, 47892]
    #[arg(long)]
    pub port: Option<u16>,
    /// Send to another daemon (http://HOST:PORT), for http and curl: in a container or on another machine
    #[arg(long, conflicts_with = "port")]
    pub url: Option<BaseUrl>,
    /// Send the token in FLIGHTDECK_TOKEN with each event [default: if a token is set here]
    #[arg(long)]
    pub token: bool,
    /// Seconds that a permission request waits for an answer on the board [default: as registered (status, repair),
    /// `hold_seconds` of config.toml, 600]
    #[arg(long, value_parser = clap::value_parser!(u32).range(..=i64::from(HOLD_SECONDS_MAX)))]
    pub hold_seconds: Option<u32>,
    /// Also wrap the status line, to get context, cost and rate limits from Claude Code
    #[arg(long)]
    pub statusline: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Default, clap::Args)]
pub struct InstallOptions {
    #[command(flatten)]
    pub options: HooksOptions,
    /// Remove the hooks of earlier tools, all or those named after `=`; hooks of other tools stay
    #[arg(long, value_enum, value_name = "TOOL", num_args = 0.., require_equals = true, value_delimiter = ',')]
    pub replace: Option<Vec<Predecessor>>,
}

/// Asks the person whether to remove the handlers of an earlier tool.
pub type AskPerson<'a> = dyn FnMut(&FoundTool) -> anyhow::Result<bool> + 'a;

/// Asks on standard error; "no" without a terminal.
pub fn ask_on_terminal(found: &FoundTool) -> anyhow::Result<bool> {
    let (input, mut stderr) = (std::io::stdin(), std::io::stderr());
    if !input.is_terminal() || !stderr.is_terminal() {
        return Ok(false);
    }
    write!(stderr, "{}.\nTake them out? A backup of the file is kept. [y/N] ", found.sentence())?;
    stderr.flush()?;
    let mut line = String::new();
    input.lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Returns the exit code. A refusal is an error that says what to do.
pub fn run(
    args: &HooksArgs,
    paths: &Paths,
    env: &dyn Fn(&str) -> Option<OsString>,
    cwd: &Path,
    binary: &Path,
    ask: &mut AskPerson<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<i32> {
    let options = args.action.options();
    if daemon::is_simulated(paths)
        && let Some(code) = in_a_demo(&args.action, paths, out)?
    {
        return Ok(code);
    }
    let file = SettingsFile::new(&settings::settings_path(options.scope, env, cwd)?, &paths.backups());
    // `claude --version` takes a while, so it runs only if the version is needed.
    let registration = |installed| register(options, installed, paths, env, cwd, binary);
    let writable = |installed| registration(installed).and_then(refuse_undeliverable);
    match &args.action {
        HooksAction::Install(install) => {
            show(&replace_and_install(&file, install, &writable(None)?, ask)?, options.json, out)?;
        }
        HooksAction::Uninstall(_) => show(&file.uninstall()?, options.json, out)?,
        HooksAction::Repair(_) => show(&file.repair(&writable(file.installed()?)?)?, options.json, out)?,
        HooksAction::Print(_) => show(&settings::print(&writable(None)?)?, options.json, out)?,
        HooksAction::Status(_) => {
            let read = || anyhow::Ok(file.status(&registration(file.installed()?)?)?);
            let status = read().map_err(|error| anyhow::anyhow!(read_error(&error)))?;
            show(&status, options.json, out)?;
            return Ok(i32::from(!status.in_order()));
        }
    }
    Ok(0)
}

/// What `hooks status` prints for the home of a demo.
#[derive(Debug, Serialize)]
struct DemoHooks {
    simulated: bool,
    home: PathBuf,
}

impl fmt::Display for DemoHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "hooks for {}: {}", self.home.display(), daemon::NO_HOOKS_IN_A_DEMO)
    }
}

/// Answers a demo's home: hooks for it would send the person's own sessions to a home that is removed at the end of the demo. `None` if
/// the home is not a demo's, or if the action needs no hooks of this home.
fn in_a_demo(action: &HooksAction, paths: &Paths, out: &mut dyn Write) -> anyhow::Result<Option<i32>> {
    match action {
        HooksAction::Uninstall(_) => Ok(None),
        HooksAction::Status(options) => {
            let hooks = DemoHooks { simulated: true, home: paths.home.clone() };
            show(&hooks, options.json, out)?;
            Ok(Some(0))
        }
        HooksAction::Install(_) | HooksAction::Repair(_) | HooksAction::Print(_) => anyhow::bail!(
            "{} is the home of a demo: its sessions are simulated, and it is removed when the demo ends, so no hooks are \
             registered for it. To register them for your own board, run this without --home and without \
             FLIGHTDECK_HOME. Nothing was changed",
            paths.home.display()
        ),
    }
}

impl HooksAction {
    fn options(&self) -> &HooksOptions {
        match self {
            HooksAction::Install(install) => &install.options,
            HooksAction::Uninstall(options)
            | HooksAction::Status(options)
            | HooksAction::Print(options)
            | HooksAction::Repair(options) => options,
        }
    }
}

fn replace_and_install(
    file: &SettingsFile,
    install: &InstallOptions,
    registration: &Registration,
    ask: &mut AskPerson<'_>,
) -> anyhow::Result<SettingsChange> {
    let mut taken_out = Vec::new();
    for found in file.predecessors(registration.port)? {
        let goes = match &install.replace {
            Some(named) => named.is_empty() || named.contains(&found.tool),
            None => !install.options.json && ask(&found)?,
        };
        taken_out.extend(goes.then_some(found.tool));
    }
    let TakenOut { tools, backup } = file.take_out(&taken_out)?;
    let change = file.install(registration, Lifetime::Permanent)?;
    Ok(SettingsChange { replaced: tools, backup: backup.or(change.backup), ..change })
}

/// Refuses a registration whose events could not reach the daemon.
fn refuse_undeliverable(wanted: Registration) -> anyhow::Result<Registration> {
    match &wanted.url {
        Some(_) if wanted.via == Via::Shim => anyhow::bail!(
            "the shim sends to the daemon of this machine only: add --via curl (or http) to send to another"
        ),
        Some(url) if wanted.via == Via::Http && url.is_private() => {
            anyhow::bail!("Claude Code sends no http hooks to {url}, a private address: use --via curl")
        }
        _ => Ok(wanted),
    }
}

/// The registration: from the flags, else as registered, else from the environment, config.toml and the defaults.
fn register(
    options: &HooksOptions,
    installed: Option<InstalledHooks>,
    paths: &Paths,
    env: &dyn Fn(&str) -> Option<OsString>,
    cwd: &Path,
    binary: &Path,
) -> anyhow::Result<Registration> {
    if options.statusline {
        refuse_to_hide_own_status_line(options, paths, env, cwd)?;
    }
    // A project file needs no config folder. Without one there is no registry to read the version from.
    let config = settings::config_dir(env).unwrap_or_default();
    let ours = Config::read(&paths.config)?;
    let from_env = || env("FLIGHTDECK_PORT").and_then(|port| port.to_str()?.parse::<u16>().ok());
    let port = || from_env().unwrap_or(ours.default_port());
    let installed = installed.as_ref();
    // --port means a port of this machine.
    let url = options.url.clone().or_else(|| installed?.url.clone().filter(|_| options.port.is_none()));
    let has_token = || Ok::<_, ConfigError>(ours.token(env)?.is_some());
    Ok(Registration {
        binary: std::path::absolute(cwd.join(binary))?,
        home: std::path::absolute(cwd.join(&paths.home))?,
        via: options.via.or_else(|| Some(installed?.via)).unwrap_or_default(),
        port: options.port.or_else(|| url.as_ref()?.local_port()).unwrap_or_else(port),
        url: url.filter(|url| url.local_port().is_none()),
        token: options.token || installed.is_some_and(|i| i.token) || has_token()?,
        hold_seconds: options.hold_seconds.or_else(|| installed?.hold_seconds).unwrap_or(ours.hold_seconds()),
        hold_elicitation: ours.hold_elicitation,
        tool_verdicts: settings::tool_verdicts::are_wanted(&paths.home),
        status_line: options.statusline,
        version: ClientVersion::find(&|| settings::ask_claude(env), &cwd.join(config)),
    })
}

/// Refuses a status line in a project file if it would hide the person's own in the user file.
fn refuse_to_hide_own_status_line(
    options: &HooksOptions,
    paths: &Paths,
    env: &dyn Fn(&str) -> Option<OsString>,
    cwd: &Path,
) -> anyhow::Result<()> {
    let has = |scope| {
        let path = settings::settings_path(scope, env, cwd)?;
        SettingsFile::new(&path, &paths.backups()).has_status_line()
    };
    // Claude Code ignores a user file that cannot be read, so nothing would be hidden.
    if options.scope == Scope::Project && !has(Scope::Project)? && has(Scope::User).unwrap_or(false) {
        anyhow::bail!(
            "this project would no longer show your own status line: run `flightdeck hooks install \
             --statusline` without --scope project instead. Nothing was changed"
        );
    }
    Ok(())
}

fn show(report: &(impl fmt::Display + Serialize), json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    if json {
        serde_json::to_writer_pretty(&mut *out, report)?;
        writeln!(out)?;
    } else {
        write!(out, "{report}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
