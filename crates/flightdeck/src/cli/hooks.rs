//! `flightdeck hooks`: installs, checks, repairs and removes our hooks in Claude Code's settings. Needs no daemon.

use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use serde::Serialize;

use super::doctor::read_error;
use crate::config::{Config, ConfigError, HOLD_SECONDS_MAX};
use crate::paths::Paths;
use crate::settings::{
    self, BaseUrl, ClientVersion, FoundTool, Installed, Lifetime, Predecessor, Registration, Scope,
    SettingsChange, SettingsFile, TakenOut, Via,
};

#[derive(Clone, Debug, clap::Args)]
pub struct HooksArgs {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Clone, Debug, clap::Subcommand)]
pub enum Action {
    /// Install our hooks permanently
    Install(InstallOptions),
    /// Remove all our hooks
    Uninstall(Options),
    /// Show which hooks are registered, missing or out of date; exits 1 if any is not in order
    Status(Options),
    /// Print the JSON to merge into a settings file by hand
    Print(Options),
    /// Restore missing and outdated hooks, with the options they were registered with
    Repair(Options),
}

#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
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
    pub options: Options,
    /// Take out the hooks of earlier tools, all or those named after `=`; hooks of other tools stay
    #[arg(long, value_enum, value_name = "TOOL", num_args = 0.., require_equals = true, value_delimiter = ',')]
    pub replace: Option<Vec<Predecessor>>,
}

/// Asks the person whether the handlers of an earlier tool are taken out.
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
    let file = SettingsFile::new(&settings::settings_path(options.scope, env, cwd)?, &paths.backups());
    // `claude --version` takes a while, so it runs only if the version is needed.
    let registration = |installed| register(options, installed, paths, env, cwd, binary);
    let writable = |installed| registration(installed).and_then(refuse_undeliverable);
    match &args.action {
        Action::Install(install) => {
            show(&replace_and_install(&file, install, &writable(None)?, ask)?, options.json, out)?;
        }
        Action::Uninstall(_) => show(&file.uninstall()?, options.json, out)?,
        Action::Repair(_) => show(&file.repair(&writable(file.installed()?)?)?, options.json, out)?,
        Action::Print(_) => show(&settings::print(&writable(None)?)?, options.json, out)?,
        Action::Status(_) => {
            let read = || anyhow::Ok(file.status(&registration(file.installed()?)?)?);
            let status = read().map_err(|error| anyhow::anyhow!(read_error(&error)))?;
            show(&status, options.json, out)?;
            return Ok(i32::from(!status.in_order()));
        }
    }
    Ok(0)
}

impl Action {
    fn options(&self) -> &Options {
        match self {
            Action::Install(install) => &install.options,
            Action::Uninstall(options)
            | Action::Status(options)
            | Action::Print(options)
            | Action::Repair(options) => options,
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
    options: &Options,
    installed: Option<Installed>,
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
        status_line: options.statusline,
        version: ClientVersion::find(&|| settings::ask_claude(env), &cwd.join(config)),
    })
}

/// Refuses a status line in a project file if it would hide the person's own in the user file.
fn refuse_to_hide_own_status_line(
    options: &Options,
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
mod tests {
    use super::*;
    use clap::Parser;
    use expect_test::{Expect, expect};
    use std::fs;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        hooks: HooksArgs,
    }

    /// A home with a `claude` of this version on its PATH.
    struct Home(tempfile::TempDir);

    impl Home {
        fn with_claude(version: &str) -> Self {
            let home = Self(tempfile::tempdir().unwrap());
            let claude = home.0.path().join("claude");
            flightdeck_sim::programs::script(&claude, &format!("echo '{version} (Claude Code)'")).unwrap();
            fs::create_dir(home.0.path().join("work")).unwrap();
            home
        }

        fn run(&self, line: &str) -> String {
            self.run_with(line, &mut |_| Ok(false))
        }

        fn run_with(&self, line: &str, ask: &mut AskPerson<'_>) -> String {
            let dir = self.0.path().to_owned();
            let vars = |name: &str| match name {
                "HOME" | "PATH" => Some(dir.clone().into_os_string()),
                _ => None,
            };
            let args = match Cli::try_parse_from(std::iter::once("hooks").chain(line.split(' '))) {
                Ok(args) => args.hooks,
                Err(error) => return format!("{error}\n"),
            };
            let paths = Paths::below(&dir.join("fd"));
            let mut out = Vec::new();
            let binary = Path::new("/opt/flightdeck");
            let code = run(&args, &paths, &vars, &dir.join("work"), binary, ask, &mut out);
            let said = match code {
                Ok(code) => format!("{}exit {code}\n", String::from_utf8(out).unwrap()),
                Err(refusal) => format!("error: {refusal:#}\n"),
            };
            said.replace(dir.to_str().unwrap(), "~")
        }

        fn tell(&self, lines: &[&str], expect: Expect) {
            let told: String =
                lines.iter().map(|line| format!("$ hooks {line}\n{}", self.run(line))).collect();
            expect.assert_eq(&backup_names_out(&told));
        }
    }

    fn settings_of(home: &Home) -> String {
        fs::read_to_string(home.0.path().join(".claude/settings.json")).unwrap()
    }

    const EARLIER: &str = r#"{"hooks": {"Stop": [
        {"hooks": [{"type": "command", "command": "curl http://localhost:47892/api/live/hook # claude-view-hook"}]},
        {"hooks": [{"type": "command", "command": "~/.claude/engine/hooks/stop.sh"}]}]}}"#;

    #[test]
    fn hooks_of_earlier_tools_are_named_and_taken_out_on_request() {
        let home = Home::with_claude("2.0.40");
        fs::create_dir(home.0.path().join(".claude")).unwrap();
        fs::write(home.0.path().join(".claude/settings.json"), EARLIER).unwrap();
        home.tell(
            &[
                "install",
                "install --replace=claude-view",
                "status",
                "install --replace",
                "install --replace=frob",
            ],
            expect![[r#"
                $ hooks install
                Registered 9 hooks in ~/.claude/settings.json
                  via shim, for Claude Code 2.0.40 (claude --version)
                  backup of the earlier file: ~/fd/backups/…
                  note: 1 handler of claude-view beside ours: every such event is sent to this daemon too and stored twice; `flightdeck hooks install --replace=claude-view` takes them out
                  note: 1 handler of engine beside ours: each event starts one process more; this is how its guards and restarts work, which Flightdeck does not have yet; `flightdeck hooks install --replace=engine` takes them out
                exit 0
                $ hooks install --replace=claude-view
                All 9 hooks were already registered in ~/.claude/settings.json
                  via shim, for Claude Code 2.0.40 (claude --version)
                  took out 1 handler of claude-view
                  backup of the earlier file: ~/fd/backups/…
                  note: 1 handler of engine beside ours: each event starts one process more; this is how its guards and restarts work, which Flightdeck does not have yet; `flightdeck hooks install --replace=engine` takes them out
                exit 0
                $ hooks status
                9 of 9 hooks registered in ~/.claude/settings.json, via shim
                  1 handler of other tools; Claude Code 2.0.40 (claude --version)
                  note: 1 handler of engine beside ours: each event starts one process more; this is how its guards and restarts work, which Flightdeck does not have yet; `flightdeck hooks install --replace=engine` takes them out
                exit 0
                $ hooks install --replace
                Registered 9 hooks in ~/.claude/settings.json
                  via shim, for Claude Code 2.0.40 (claude --version)
                  took out 1 handler of engine
                  backup of the earlier file: ~/fd/backups/…
                exit 0
                $ hooks install --replace=frob
                error: invalid value 'frob' for '--replace[=<TOOL>...]'
                  [possible values: claude-view, agent-tmux-monitor, headspace, engine]

                For more information, try '--help'.

            "#]],
        );
        assert!(!settings_of(&home).contains("claude-view") && !settings_of(&home).contains("engine"));
    }

    #[test]
    fn the_person_is_asked_about_each_earlier_tool() {
        let home = Home::with_claude("2.0.40");
        fs::create_dir(home.0.path().join(".claude")).unwrap();
        fs::write(home.0.path().join(".claude/settings.json"), EARLIER).unwrap();
        let mut asked = Vec::new();
        let mut ask = |found: &FoundTool| {
            asked.push(found.tool);
            Ok(found.tool == Predecessor::ClaudeView)
        };
        home.run_with("install --json", &mut ask);
        assert!(settings_of(&home).contains("claude-view"), "a script is not asked");
        home.run_with("install", &mut ask);
        assert_eq!(asked, [Predecessor::ClaudeView, Predecessor::Engine]);
        assert!(!settings_of(&home).contains("claude-view") && settings_of(&home).contains("engine"));
    }

    #[test]
    fn hooks_send_the_configured_token_and_the_file_does_not_contain_it() {
        let home = Home::with_claude("2.1.325");
        fs::create_dir(home.0.path().join("fd")).unwrap();
        fs::write(home.0.path().join("fd/config.toml"), "token = \"s3cret\"").unwrap();
        for via in ["http", "curl"] {
            let said = home.run(&format!("install --via {via}"));
            assert!(said.contains("note: the token is not in this file: set FLIGHTDECK_TOKEN in"), "{said}");
            let written = settings_of(&home);
            assert!(written.contains("$FLIGHTDECK_TOKEN") && !written.contains("s3cret"));
            assert!(home.run("status").ends_with("exit 0\n"));
        }
        assert!(home.run("install").ends_with("exit 0\n"));
        assert!(!settings_of(&home).contains("FLIGHTDECK_TOKEN"));
    }

    #[test]
    fn hooks_send_to_the_port_of_config_toml() {
        let home = Home::with_claude("2.1.325");
        fs::create_dir(home.0.path().join("fd")).unwrap();
        fs::write(home.0.path().join("fd/config.toml"), "port = 4000").unwrap();
        home.run("install --via curl");
        assert_eq!(settings_of(&home).matches("'http://127.0.0.1:4000/api/live/hook'").count(), 30);
        home.run("install --via curl --port 5000");
        assert!(home.run("status").ends_with("exit 0\n"), "what is registered wins");
    }

    #[test]
    fn hooks_with_a_url_send_to_that_daemon() {
        let home = Home::with_claude("2.1.325");
        home.tell(
            &["install --via curl --url http://box:4000/ --token", "status", "repair"],
            expect![[r#"
                $ hooks install --via curl --url http://box:4000/ --token
                Registered 30 hooks in ~/.claude/settings.json
                  via curl, for Claude Code 2.1.325 (claude --version)
                  note: the token is not in this file: set FLIGHTDECK_TOKEN in the environment that claude is started in
                  note: the daemon at http://box:4000 must listen on that address (bind in its config.toml) and accept that host name (hosts)
                exit 0
                $ hooks status
                30 of 30 hooks registered in ~/.claude/settings.json, via curl
                  0 handlers of other tools; Claude Code 2.1.325 (claude --version)
                  note: the token is not in this file: set FLIGHTDECK_TOKEN in the environment that claude is started in
                  note: the daemon at http://box:4000 must listen on that address (bind in its config.toml) and accept that host name (hosts)
                exit 0
                $ hooks repair
                All 30 hooks were already registered in ~/.claude/settings.json
                  via curl, for Claude Code 2.1.325 (claude --version)
                  note: the token is not in this file: set FLIGHTDECK_TOKEN in the environment that claude is started in
                  note: the daemon at http://box:4000 must listen on that address (bind in its config.toml) and accept that host name (hosts)
                exit 0
            "#]],
        );
        let written = settings_of(&home);
        assert_eq!(written.matches("'http://box:4000/api/live/hook'").count(), 30);
        assert!(written.contains("$FLIGHTDECK_TOKEN") && !written.contains("127.0.0.1"));
        home.run("install --via http --url https://deck.example");
        let written = settings_of(&home);
        assert_eq!(written.matches("https://deck.example/api/live/hook?via=flightdeck-hook").count(), 26);
        assert!(!written.contains("/opt/flightdeck"), "the shim would tell the daemon of this machine");
        home.tell(
            &["install --url http://box:1", "install --via http --url http://10.0.0.2:1", "repair --port 5"],
            expect![[r#"
                $ hooks install --url http://box:1
                error: the shim sends to the daemon of this machine only: add --via curl (or http) to send to another
                $ hooks install --via http --url http://10.0.0.2:1
                error: Claude Code sends no http hooks to http://10.0.0.2:1, a private address: use --via curl
                $ hooks repair --port 5
                Repaired: 30 hooks are registered in ~/.claude/settings.json
                  via http, for Claude Code 2.1.325 (claude --version)
                  backup of the earlier file: ~/fd/backups/…
                exit 0
            "#]],
        );
    }

    /// Replaces the names of backups, which contain the time.
    fn backup_names_out(told: &str) -> String {
        let line = |line: &str| match line.split_once("/backups/") {
            Some((before, _)) => format!("{before}/backups/…\n"),
            None => format!("{line}\n"),
        };
        told.lines().map(line).collect()
    }

    #[test]
    fn install_status_and_uninstall_print_what_they_did() {
        let home = Home::with_claude("2.0.40");
        home.tell(
            &["status", "install", "install", "status", "uninstall", "uninstall"],
            expect![[r#"
            $ hooks status
            No hooks of ours in ~/.claude/settings.json: run `flightdeck hooks install`
              0 handlers of other tools; Claude Code 2.0.40 (claude --version)
            exit 1
            $ hooks install
            Registered 9 hooks in ~/.claude/settings.json
              via shim, for Claude Code 2.0.40 (claude --version)
            exit 0
            $ hooks install
            All 9 hooks were already registered in ~/.claude/settings.json
              via shim, for Claude Code 2.0.40 (claude --version)
            exit 0
            $ hooks status
            9 of 9 hooks registered in ~/.claude/settings.json, via shim
              0 handlers of other tools; Claude Code 2.0.40 (claude --version)
            exit 0
            $ hooks uninstall
            Removed our hooks from ~/.claude/settings.json
              backup of the earlier file: ~/fd/backups/…
            exit 0
            $ hooks uninstall
            There are no hooks of ours in ~/.claude/settings.json
            exit 0
        "#]],
        );
        assert!(!home.0.path().join(".claude").exists());
    }

    #[test]
    fn status_and_repair_use_the_registered_transport_and_port() {
        let home = Home::with_claude("2.1.325");
        home.run("install --via http --port 4000 --hold-seconds 900");
        let settings = home.0.path().join(".claude/settings.json");
        let edited = fs::read_to_string(&settings).unwrap().replace("\"timeout\": 5", "\"timeout\": 6");
        fs::write(&settings, edited).unwrap();
        home.tell(&["status", "repair", "status", "install --via curl", "status --port 5000"], expect![[r#"
            $ hooks status
            1 of 30 hooks registered in ~/.claude/settings.json, via http
              out of date: SessionStart, Setup, InstructionsLoaded, UserPromptSubmit, UserPromptExpansion, PreToolUse and 23 more
              they differ from what Flightdeck wrote: run `flightdeck hooks repair`
              0 handlers of other tools; Claude Code 2.1.325 (claude --version)
            exit 1
            $ hooks repair
            Repaired: 30 hooks are registered in ~/.claude/settings.json
              via http, for Claude Code 2.1.325 (claude --version)
              backup of the earlier file: ~/fd/backups/…
            exit 0
            $ hooks status
            30 of 30 hooks registered in ~/.claude/settings.json, via http
              0 handlers of other tools; Claude Code 2.1.325 (claude --version)
            exit 0
            $ hooks install --via curl
            Registered 30 hooks in ~/.claude/settings.json
              via curl, for Claude Code 2.1.325 (claude --version)
              backup of the earlier file: ~/fd/backups/…
            exit 0
            $ hooks status --port 5000
            0 of 30 hooks registered in ~/.claude/settings.json, via curl
              out of date: SessionStart, Setup, InstructionsLoaded, UserPromptSubmit, UserPromptExpansion, PreToolUse and 24 more
              they differ from what Flightdeck wrote: run `flightdeck hooks repair`
              0 handlers of other tools; Claude Code 2.1.325 (claude --version)
            exit 1
        "#]]);
    }

    #[test]
    fn scripts_get_json_and_a_project_has_a_file_of_its_own() {
        let home = Home::with_claude("1.0.48");
        home.tell(
            &["install --scope project --json", "status --scope project --json", "status"],
            expect![[r#"
                $ hooks install --scope project --json
                {
                  "outcome": "installed",
                  "path": "~/work/.claude/settings.json",
                  "registered": [
                    "PreToolUse",
                    "PostToolUse",
                    "Notification",
                    "Stop",
                    "SubagentStop",
                    "PreCompact"
                  ],
                  "via": "shim",
                  "status_line": "none",
                  "version": {
                    "number": "1.0.48",
                    "source": {
                      "from": "claude_on_path"
                    }
                  },
                  "backup": null,
                  "notes": []
                }
                exit 0
                $ hooks status --scope project --json
                {
                  "path": "~/work/.claude/settings.json",
                  "registered": [
                    "PreToolUse",
                    "PostToolUse",
                    "Notification",
                    "Stop",
                    "SubagentStop",
                    "PreCompact"
                  ],
                  "missing": [],
                  "stale": [],
                  "via": "shim",
                  "status_line": "none",
                  "drift": false,
                  "disabled": false,
                  "foreign": 0,
                  "version": {
                    "number": "1.0.48",
                    "source": {
                      "from": "claude_on_path"
                    }
                  },
                  "notes": []
                }
                exit 0
                $ hooks status
                No hooks of ours in ~/.claude/settings.json: run `flightdeck hooks install`
                  0 handlers of other tools; Claude Code 1.0.48 (claude --version)
                exit 1
            "#]],
        );
        assert!(home.0.path().join("work/.claude/settings.json").exists());
    }

    #[test]
    fn a_refusal_is_one_sentence_that_says_what_to_do() {
        let home = Home::with_claude("2.0.40");
        fs::create_dir(home.0.path().join(".claude")).unwrap();
        fs::write(home.0.path().join(".claude/settings.json"), "{\n  // no\n}").unwrap();
        home.tell(&["install", "status", "install --via http"], expect![[r#"
            $ hooks install
            error: ~/.claude/settings.json, line 2, column 3: this looks like a comment. Claude Code reads strict JSON only and ignores the whole file; remove it, then run this again. Nothing was changed
            $ hooks status
            error: ~/.claude/settings.json, line 2, column 3: this looks like a comment. Claude Code reads strict JSON only and ignores the whole file; remove it, then run this again
            $ hooks install --via http
            error: ~/.claude/settings.json, line 2, column 3: this looks like a comment. Claude Code reads strict JSON only and ignores the whole file; remove it, then run this again. Nothing was changed
        "#]]);
    }
}
