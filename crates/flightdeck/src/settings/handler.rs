//! Makes the handlers that we write, one per event.

use std::path::{Path, PathBuf};

use flightdeck_core::wire::hook_name::{HookForm, HookInfo, HookName};
use serde_json::{Map, Value, json};

use super::base_url::{BaseUrl, HOOK_PATH};
use super::error::SettingsError;
pub use super::recognise::Via;
use super::recognise::{COMMAND_SENTINEL, InstalledHooks, MESSAGE_KEY, TOKEN_VARIABLE, URL_SENTINEL};
use super::version::{ClientVersion, Version};
use crate::program::quoted;

/// The daemon's port if none is configured.
pub const DEFAULT_PORT: u16 = 47892;
/// How long the board can answer a permission request; after that only the terminal can.
pub const DEFAULT_HOLD_SECONDS: u32 = 600;
/// The timeout of every handler that is not held. The work takes a few milliseconds. If something is wrong, a person waits at most
/// five seconds.
const TIMEOUT_SECONDS: u32 = 5;
/// How long a held hook waits for the acknowledgement. It waits for a person anyway, and the terminal shows its dialog
/// meanwhile. Shorter than the shortest timeout that we write.
const HELD_ACK_MS: u32 = 3000;
/// Tells the hook that the client waits for a verdict, so that it says so to the daemon.
const VERDICT_OPTION: &str = " --verdict";
/// curl must end before Claude Code kills it, because that prints an error line.
const CURL_SECONDS_MAX: u32 = 4;
/// What the client's spinner shows while it runs a handler that waits for a person.
const HELD_MESSAGE: &str = "Flightdeck";
/// What the client's spinner shows for all other handlers, which end within milliseconds. The client shows every handler for an
/// instant; without a message it shows the name of the event (decision 0019).
const BRIEF_MESSAGE: &str = " ";
/// The first Claude Code with `"type": "http"` (public changelog); an older one ignores the whole file.
const HTTP_HOOKS_SINCE: Version = Version(2, 1, 63);

/// Everything that determines the handlers we write.
#[derive(Clone, Debug)]
pub struct Registration {
    /// Absolute path of this program.
    pub binary: PathBuf,
    /// Absolute path of Flightdeck's home.
    pub home: PathBuf,
    pub via: Via,
    /// The port of this machine's daemon, for http and curl handlers.
    pub port: u16,
    /// Another daemon that http and curl handlers send to instead.
    pub url: Option<BaseUrl>,
    /// Handlers send the token from [`TOKEN_VARIABLE`]; the file never contains the token.
    pub token: bool,
    pub hold_seconds: u32,
    /// Elicitations are held for an answer too.
    pub hold_elicitation: bool,
    /// Whether an effort is active on this home, so that the client waits for our reply to tool calls.
    pub tool_verdicts: bool,
    /// Wrap the status line too. A wrapped status line stays wrapped.
    pub status_line: bool,
    pub version: ClientVersion,
}

impl Registration {
    pub fn new(binary: &Path, home: &Path, version: ClientVersion) -> Self {
        Self {
            binary: binary.to_owned(),
            home: home.to_owned(),
            via: Via::Shim,
            port: DEFAULT_PORT,
            url: None,
            token: false,
            hold_seconds: DEFAULT_HOLD_SECONDS,
            hold_elicitation: false,
            tool_verdicts: false,
            status_line: false,
            version,
        }
    }

    /// The same registration, with the transport and options of the handlers that are already in the file.
    pub fn as_installed(self, installed: Option<InstalledHooks>) -> Self {
        let Some(installed) = installed else { return self };
        Self {
            via: installed.via,
            port: installed.port().unwrap_or(self.port),
            url: installed.url.filter(|url| url.local_port().is_none()),
            token: installed.token,
            hold_seconds: installed.hold_seconds.unwrap_or(self.hold_seconds),
            ..self
        }
    }

    /// The events that we want and this Claude Code knows, each with its handler, in the order of the table.
    pub fn handlers(&self) -> Result<Vec<(HookName, Value)>, SettingsError> {
        if self.via == Via::Http && self.version.number < HTTP_HOOKS_SINCE {
            return Err(SettingsError::NoHttpHooks { version: self.version.number, needs: HTTP_HOOKS_SINCE });
        }
        let known: Vec<&HookInfo> = HookName::ALL.iter().filter(|info| self.wants(info)).collect();
        if known.is_empty() {
            return Err(SettingsError::NoHooks { version: self.version.number });
        }
        known.into_iter().map(|info| Ok((info.name, self.handler(info)?))).collect()
    }

    fn wants(&self, info: &HookInfo) -> bool {
        let (major, minor, patch) = info.since;
        !matches!(info.form, HookForm::Never { .. }) && Version(major, minor, patch) <= self.version.number
    }

    fn handler(&self, info: &HookInfo) -> Result<Value, SettingsError> {
        Ok(match self.via {
            Via::Http if !http_needs_shim(info) => self.http_handler(),
            Via::Curl => self.curl_handler(info),
            // Not the shim, because it sends to the daemon of this machine.
            Via::Http if self.url.is_some() => self.curl_handler(info),
            Via::Http | Via::Shim => self.shim_handler(info)?,
        })
    }

    fn shim_handler(&self, info: &HookInfo) -> Result<Value, SettingsError> {
        let held =
            info.form == HookForm::Held || (info.name == HookName::Elicitation && self.hold_elicitation);
        // Claude Code ignores the whole file if a timeout is 0.
        let timeout = if held { self.hold_seconds.max(TIMEOUT_SECONDS) } else { TIMEOUT_SECONDS };
        let decides = self.tool_verdicts && info.name.takes_verdict();
        // A held hook waits anyway, so a late acknowledgement must not lose the person's answer. It also carries its own
        // timeout, because a daemon that was started before this file was written does not know it.
        let options = match (held, decides) {
            (true, _) => format!(" --ack-ms {HELD_ACK_MS} --hold-s {timeout}"),
            (false, true) => VERDICT_OPTION.to_owned(),
            (false, false) => String::new(),
        };
        let message = if held { HELD_MESSAGE } else { BRIEF_MESSAGE };
        let is_async = info.form == HookForm::Async && !held && !decides;
        Ok(command(self.shim_command(&options)?, is_async, timeout, message))
    }

    /// Prints nothing even if the binary is gone. Of all synchronous forms, only this one shows nothing in the terminal.
    fn shim_command(&self, options: &str) -> Result<String, SettingsError> {
        let (binary, home) = (shell_quoted(&self.binary)?, shell_quoted(&self.home)?);
        Ok(format!("{binary} hook{options} --home {home} 2>/dev/null || true {COMMAND_SENTINEL}"))
    }

    fn curl_handler(&self, info: &HookInfo) -> Value {
        command(self.curl_command(), info.name != HookName::SessionStart, TIMEOUT_SECONDS, BRIEF_MESSAGE)
    }

    fn curl_command(&self) -> String {
        // Through a pipe, because every user of the machine can read command lines.
        let (before, body) = if self.token {
            let header = format!(r#"printf 'header = "Authorization: Bearer %s"' "${TOKEN_VARIABLE}""#);
            (format!("exec 3<&0; {header} | curl -K - "), "@/dev/fd/3")
        } else {
            ("curl ".to_owned(), "@-")
        };
        format!(
            "{before}-s -m {CURL_SECONDS_MAX} -o /dev/null --noproxy '*' -H 'Content-Type: application/json' \
             --data-binary {body} '{}' 2>/dev/null || true {COMMAND_SENTINEL}",
            self.hook_url()
        )
    }

    fn http_handler(&self) -> Value {
        let url = format!("{}?{URL_SENTINEL}", self.hook_url());
        let mut handler =
            json!({ "type": "http", "url": url, "timeout": TIMEOUT_SECONDS, MESSAGE_KEY: BRIEF_MESSAGE });
        if self.token {
            handler["headers"] = json!({ "Authorization": format!("Bearer ${TOKEN_VARIABLE}") });
            handler["allowedEnvVars"] = json!([TOKEN_VARIABLE]);
        }
        handler
    }

    fn hook_url(&self) -> String {
        match &self.url {
            Some(url) => format!("{url}{HOOK_PATH}"),
            None => format!("http://127.0.0.1:{}{HOOK_PATH}", self.port),
        }
    }
}

/// Claude Code never sends SessionStart and Setup over http, prints an error if SessionEnd finds no daemon, and only the shim
/// can hold a permission request.
fn http_needs_shim(info: &HookInfo) -> bool {
    !info.over_http || matches!(info.name, HookName::SessionEnd | HookName::PermissionRequest)
}

fn command(command: String, is_async: bool, timeout: u32, message: &str) -> Value {
    let mut handler = Map::new();
    handler.insert("type".into(), "command".into());
    handler.insert("command".into(), command.into());
    if is_async {
        handler.insert("async".into(), true.into());
    }
    handler.insert("timeout".into(), timeout.into());
    handler.insert(MESSAGE_KEY.into(), message.into());
    handler.into()
}

pub(super) fn shell_quoted(path: &Path) -> Result<String, SettingsError> {
    let text = path.to_str().ok_or_else(|| SettingsError::PathNotUtf8 { path: path.to_owned() })?;
    Ok(quoted(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::recognise::{home_of, is_ours};
    use crate::settings::version::VersionSource;
    use expect_test::{Expect, expect};

    fn registration(via: Via, version: Version) -> Registration {
        let version = ClientVersion { number: version, source: VersionSource::ClaudeOnPath };
        Registration { via, ..Registration::new(Path::new("/opt/fd"), Path::new("/h/fd"), version) }
    }

    fn row((name, handler): &(HookName, Value)) -> String {
        let kind = if handler["type"] == "http" { "http" } else { handler["command"].as_str().unwrap() };
        let kind = kind.split([' ', '\'']).find(|word| !word.is_empty()).unwrap();
        let wait = if handler["async"] == true { "async" } else { "sync" };
        format!("{:<20} {kind:<8} {wait:<5} {}\n", name.as_str(), handler["timeout"])
    }

    fn check(via: Via, expect: Expect) {
        let handlers = registration(via, Version::MEASURED).handlers().unwrap();
        expect.assert_eq(&handlers.iter().map(row).collect::<String>());
    }

    #[test]
    fn the_shim_waits_where_an_event_must_arrive_and_holds_a_permission() {
        check(
            Via::Shim,
            expect![[r#"
            SessionStart         /opt/fd  sync  5
            Setup                /opt/fd  async 5
            InstructionsLoaded   /opt/fd  async 5
            UserPromptSubmit     /opt/fd  sync  5
            UserPromptExpansion  /opt/fd  async 5
            PreToolUse           /opt/fd  async 5
            PermissionRequest    /opt/fd  sync  600
            PermissionDenied     /opt/fd  async 5
            PostToolUse          /opt/fd  async 5
            PostToolUseFailure   /opt/fd  async 5
            PostToolBatch        /opt/fd  async 5
            Notification         /opt/fd  async 5
            Stop                 /opt/fd  sync  5
            StopFailure          /opt/fd  sync  5
            SubagentStart        /opt/fd  async 5
            SubagentStop         /opt/fd  sync  5
            PreCompact           /opt/fd  sync  5
            PostCompact          /opt/fd  async 5
            PreModelSwitch       /opt/fd  async 5
            PostModelSwitch      /opt/fd  async 5
            TaskCreated          /opt/fd  async 5
            TaskCompleted        /opt/fd  async 5
            TeammateIdle         /opt/fd  async 5
            Elicitation          /opt/fd  async 5
            ElicitationResult    /opt/fd  async 5
            ConfigChange         /opt/fd  async 5
            CwdChanged           /opt/fd  async 5
            DirectoryAdded       /opt/fd  async 5
            WorktreeRemove       /opt/fd  async 5
            SessionEnd           /opt/fd  sync  5
        "#]],
        );
    }

    #[test]
    fn while_an_effort_is_active_the_shim_waits_for_verdicts_about_tools_and_new_subagents() {
        let handlers = |tool_verdicts| {
            let registration = Registration { tool_verdicts, ..registration(Via::Shim, Version::MEASURED) };
            registration
                .handlers()
                .unwrap()
                .into_iter()
                .map(|handler| row(&handler) + handler.1["command"].as_str().unwrap())
        };
        let changed = handlers(true).zip(handlers(false)).filter(|(with, without)| with != without);
        let changed: Vec<_> = changed.map(|(with, _)| with).collect();
        expect![[r#"
            PreToolUse           /opt/fd  sync  5
            '/opt/fd' hook --verdict --home '/h/fd' 2>/dev/null || true # flightdeck-hook
            PostToolUse          /opt/fd  sync  5
            '/opt/fd' hook --verdict --home '/h/fd' 2>/dev/null || true # flightdeck-hook
            SubagentStart        /opt/fd  sync  5
            '/opt/fd' hook --verdict --home '/h/fd' 2>/dev/null || true # flightdeck-hook
        "#]]
        .assert_eq(&(changed.join("\n") + "\n"));
    }

    #[test]
    fn http_leaves_four_events_to_the_shim() {
        check(
            Via::Http,
            expect![[r#"
            SessionStart         /opt/fd  sync  5
            Setup                /opt/fd  async 5
            InstructionsLoaded   http     sync  5
            UserPromptSubmit     http     sync  5
            UserPromptExpansion  http     sync  5
            PreToolUse           http     sync  5
            PermissionRequest    /opt/fd  sync  600
            PermissionDenied     http     sync  5
            PostToolUse          http     sync  5
            PostToolUseFailure   http     sync  5
            PostToolBatch        http     sync  5
            Notification         http     sync  5
            Stop                 http     sync  5
            StopFailure          http     sync  5
            SubagentStart        http     sync  5
            SubagentStop         http     sync  5
            PreCompact           http     sync  5
            PostCompact          http     sync  5
            PreModelSwitch       http     sync  5
            PostModelSwitch      http     sync  5
            TaskCreated          http     sync  5
            TaskCompleted        http     sync  5
            TeammateIdle         http     sync  5
            Elicitation          http     sync  5
            ElicitationResult    http     sync  5
            ConfigChange         http     sync  5
            CwdChanged           http     sync  5
            DirectoryAdded       http     sync  5
            WorktreeRemove       http     sync  5
            SessionEnd           /opt/fd  sync  5
        "#]],
        );
    }

    #[test]
    fn curl_waits_only_at_the_start_and_never_holds() {
        for (name, handler) in registration(Via::Curl, Version::MEASURED).handlers().unwrap() {
            assert!(handler["command"].as_str().unwrap().starts_with("curl "), "{name}");
            assert_eq!(
                (handler["async"] == true, &handler["timeout"]),
                (name != HookName::SessionStart, &json!(5))
            );
        }
    }

    #[test]
    fn each_transport_has_its_own_handler() {
        let one = |via: Via| {
            let all = registration(via, Version::MEASURED).handlers().unwrap();
            let stop = all.iter().find(|(name, _)| *name == HookName::Stop).unwrap();
            serde_json::to_string_pretty(&stop.1).unwrap() + "\n"
        };
        expect![[r#"
            {
              "type": "command",
              "command": "'/opt/fd' hook --home '/h/fd' 2>/dev/null || true # flightdeck-hook",
              "timeout": 5,
              "statusMessage": " "
            }
            {
              "type": "http",
              "url": "http://127.0.0.1:47892/api/live/hook?via=flightdeck-hook",
              "timeout": 5,
              "statusMessage": " "
            }
            {
              "type": "command",
              "command": "curl -s -m 4 -o /dev/null --noproxy '*' -H 'Content-Type: application/json' --data-binary @- 'http://127.0.0.1:47892/api/live/hook' 2>/dev/null || true # flightdeck-hook",
              "async": true,
              "timeout": 5,
              "statusMessage": " "
            }
        "#]].assert_eq(&[Via::Shim, Via::Http, Via::Curl].map(one).concat());
    }

    #[test]
    fn only_a_handler_that_waits_for_a_person_names_us_in_the_spinner() {
        let named = |hold_elicitation: bool, via: Via| {
            let registration = Registration { hold_elicitation, ..registration(via, Version::MEASURED) };
            let handlers = registration.handlers().unwrap();
            assert!(
                handlers.iter().all(|(_, handler)| !handler["statusMessage"].as_str().unwrap().is_empty())
            );
            let named = handlers.into_iter().filter(|(_, handler)| handler["statusMessage"] == "Flightdeck");
            named.map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(named(false, Via::Shim), [HookName::PermissionRequest]);
        assert_eq!(named(true, Via::Shim), [HookName::PermissionRequest, HookName::Elicitation]);
        assert_eq!(named(false, Via::Http), [HookName::PermissionRequest]);
        assert_eq!(named(false, Via::Curl), []);
    }

    #[test]
    fn only_event_names_that_the_client_knows_are_written() {
        let names = |version: Version| {
            let handlers = registration(Via::Shim, version).handlers().unwrap();
            let names: Vec<_> = handlers.iter().map(|(name, _)| name.as_str()).collect();
            format!("{version}: {} events\n{}\n", names.len(), names.join(" "))
        };
        let all = [Version(2, 0, 40), Version(2, 1, 50), Version::MEASURED].map(names);
        expect![[r#"
            2.0.40: 9 events
            SessionStart UserPromptSubmit PreToolUse PostToolUse Notification Stop SubagentStop PreCompact SessionEnd
            2.1.50: 17 events
            SessionStart Setup UserPromptSubmit PreToolUse PermissionRequest PostToolUse PostToolUseFailure Notification Stop SubagentStart SubagentStop PreCompact TaskCompleted TeammateIdle ConfigChange WorktreeRemove SessionEnd
            2.1.325: 30 events
            SessionStart Setup InstructionsLoaded UserPromptSubmit UserPromptExpansion PreToolUse PermissionRequest PermissionDenied PostToolUse PostToolUseFailure PostToolBatch Notification Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact PreModelSwitch PostModelSwitch TaskCreated TaskCompleted TeammateIdle Elicitation ElicitationResult ConfigChange CwdChanged DirectoryAdded WorktreeRemove SessionEnd
        "#]].assert_eq(&all.concat());
    }

    #[test]
    fn http_hooks_are_refused_for_a_client_that_would_drop_the_whole_file() {
        let refused = registration(Via::Http, Version(2, 1, 62)).handlers().unwrap_err().to_string();
        expect!["Claude Code 2.1.62 has no http hooks and would ignore the whole file: use --via shim, or update to 2.1.63"].assert_eq(&refused);
    }

    #[test]
    fn a_client_without_hooks_is_refused() {
        let refused = registration(Via::Shim, Version(1, 0, 37)).handlers().unwrap_err();
        assert!(matches!(refused, SettingsError::NoHooks { .. }), "{refused}");
    }

    #[test]
    fn a_hold_of_zero_seconds_never_reaches_the_file() {
        let zero = Registration { hold_seconds: 0, ..registration(Via::Shim, Version::MEASURED) };
        let handlers = zero.handlers().unwrap();
        assert!(handlers.iter().all(|(_, handler)| handler["timeout"] == 5));
    }

    #[test]
    fn our_handlers_are_recognised_by_the_sentinel_at_its_place() {
        for via in [Via::Shim, Via::Http, Via::Curl] {
            for (name, handler) in registration(via, Version::MEASURED).handlers().unwrap() {
                assert!(is_ours(&handler), "{name} {via:?}");
            }
        }
        let foreign = [
            json!({"type": "command", "command": "grep '# flightdeck-hook' log"}),
            json!({"type": "command", "command": "true # flightdeck-hook-watcher"}),
            json!({"type": "http", "url": "http://x/?via=flightdeck-hook2"}),
            json!({"type": "http", "url": "http://x/via=flightdeck-hook"}),
            json!({"type": "prompt", "prompt": "# flightdeck-hook"}),
            json!("# flightdeck-hook"),
        ];
        assert!(!foreign.iter().any(is_ours));
    }

    #[test]
    fn the_home_is_read_from_a_command_but_not_from_a_url() {
        let odd = Path::new("/it's a/home");
        let of = |via| Registration { via, home: odd.to_owned(), ..registration(via, Version::MEASURED) };
        let homes = |via| {
            let all = of(via).handlers().unwrap();
            all.iter().filter_map(|(_, handler)| home_of(handler)).collect::<Vec<_>>()
        };
        assert!(homes(Via::Shim).iter().all(|home| home == odd));
        assert_eq!([Via::Shim, Via::Http, Via::Curl].map(|via| homes(via).len()), [30, 4, 0]);
    }

    #[test]
    fn a_path_that_is_not_utf8_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let odd = Path::new(std::ffi::OsStr::from_bytes(b"/\xff"));
        let registration = Registration::new(odd, Path::new("/h"), ClientVersion::assumed());
        assert!(matches!(registration.handlers(), Err(SettingsError::PathNotUtf8 { .. })));
    }
}
