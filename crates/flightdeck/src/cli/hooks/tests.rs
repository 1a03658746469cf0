//! What `flightdeck hooks` prints.

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
        flightdeck_sim::programs::write_script(&claude, &format!("echo '{version} (Claude Code)'")).unwrap();
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
        let paths = Paths::in_home(&dir.join("fd"));
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
        let told: String = lines.iter().map(|line| format!("$ hooks {line}\n{}", self.run(line))).collect();
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
              note: 1 handler of engine beside ours: each event starts one process more; its guards and restarts work beside those of Flightdeck's own efforts; `flightdeck hooks install --replace=engine` takes them out
            exit 0
            $ hooks install --replace=claude-view
            All 9 hooks were already registered in ~/.claude/settings.json
              via shim, for Claude Code 2.0.40 (claude --version)
              took out 1 handler of claude-view
              backup of the earlier file: ~/fd/backups/…
              note: 1 handler of engine beside ours: each event starts one process more; its guards and restarts work beside those of Flightdeck's own efforts; `flightdeck hooks install --replace=engine` takes them out
            exit 0
            $ hooks status
            9 of 9 hooks registered in ~/.claude/settings.json, via shim
              1 handler of other tools; Claude Code 2.0.40 (claude --version)
              note: 1 handler of engine beside ours: each event starts one process more; its guards and restarts work beside those of Flightdeck's own efforts; `flightdeck hooks install --replace=engine` takes them out
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

#[test]
fn while_an_effort_is_active_the_commands_expect_the_waiting_form() {
    let home = Home::with_claude("2.0.40");
    home.run("install");
    fs::create_dir_all(home.0.path().join("fd")).unwrap();
    settings::tool_verdicts::set_wanted(&home.0.path().join("fd"), true).unwrap();
    assert!(home.run("print").contains(" hook --verdict "));
    home.tell(
        &["status", "repair", "status", "uninstall"],
        expect![[r#"
            $ hooks status
            7 of 9 hooks registered in ~/.claude/settings.json, via shim
              out of date: PreToolUse, PostToolUse
              they differ from what Flightdeck wrote: run `flightdeck hooks repair`
              0 handlers of other tools; Claude Code 2.0.40 (claude --version)
            exit 1
            $ hooks repair
            Repaired: 9 hooks are registered in ~/.claude/settings.json
              via shim, for Claude Code 2.0.40 (claude --version)
              backup of the earlier file: ~/fd/backups/…
            exit 0
            $ hooks status
            9 of 9 hooks registered in ~/.claude/settings.json, via shim
              0 handlers of other tools; Claude Code 2.0.40 (claude --version)
            exit 0
            $ hooks uninstall
            Removed our hooks from ~/.claude/settings.json
              backup of the earlier file: ~/fd/backups/…
            exit 0
        "#]],
    );
}
