//! Recognises the hooks of the four earlier tools that Flightdeck replaces, and says what doubles while both run.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::document::{Document, EventHandlers, HandlerText};
use super::handler::DEFAULT_PORT;

/// The end of each command of claude-view.
const CLAUDE_VIEW_SENTINEL: &str = "# claude-view-hook";
/// The scripts that agent-tmux-monitor registers.
const MONITOR_PROGRAMS: [&str; 2] = ["atm-hook", "atm-hooks.sh"];
/// The script that Headspace registers, and where it sends to unless it is told otherwise.
const HEADSPACE_PROGRAM: &str = "notify-headspace.sh";
const HEADSPACE_PORT: u16 = 5055;
/// Port and path of the addresses that its handlers post to. `HEADSPACE_URL` may name another machine.
const HEADSPACE_HOOKS: &str = "5055/hook/";
/// The engine's folder below Claude Code's own, and the program that calls its socket.
const ENGINE_FOLDER: &str = "/.claude/engine/";
const ENGINE_PROGRAM: &str = "rpc-cli";
/// Where the engine links its scripts, and what they are called; other tools have scripts in that folder too.
const SCRIPTS_FOLDER: &str = "/.claude/hooks/";
const ENGINE_SCRIPTS: [&str; 18] = [
    "pre-tool-use-overflow.sh",
    "pre-tool-use-overflow-v2.sh",
    "pre-tool-use-heartbeat.sh",
    "pre-tool-use-session-gate.sh",
    "pre-tool-use-directive-gate.sh",
    "post-tool-use-injections.sh",
    "post-tool-use-phase-commands.sh",
    "post-tool-use-templates.sh",
    "post-tool-use-details-log.sh",
    "post-tool-use-discovery.sh",
    "post-tool-failure-notify.sh",
    "user-prompt-submit-session-gate.sh",
    "user-prompt-working.sh",
    "notification-attention.sh",
    "notification-idle.sh",
    "session-start-restore.sh",
    "session-end-notify.sh",
    "stop-notify.sh",
];

/// An earlier tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Predecessor {
    ClaudeView,
    AgentTmuxMonitor,
    Headspace,
    Engine,
}

impl Predecessor {
    pub const ALL: [Self; 4] = [Self::ClaudeView, Self::AgentTmuxMonitor, Self::Headspace, Self::Engine];

    /// The tool that a handler belongs to.
    pub(super) fn that_wrote(handler: &Value) -> Option<Self> {
        let text = |key: &str| handler.get(key).and_then(Value::as_str);
        let command = text("command").or_else(|| text("url"))?;
        Self::ALL.into_iter().find(|tool| tool.wrote(command))
    }

    fn wrote(self, command: &str) -> bool {
        let runs = |program: &str| command_words(command).any(|word| file_name(word) == program);
        match self {
            Self::ClaudeView => command.trim_end().ends_with(CLAUDE_VIEW_SENTINEL),
            Self::AgentTmuxMonitor => MONITOR_PROGRAMS.into_iter().any(runs),
            Self::Headspace => runs(HEADSPACE_PROGRAM) || posts_to_headspace(command),
            Self::Engine => {
                runs(ENGINE_PROGRAM)
                    || command_words(command)
                        .any(|word| word.contains(ENGINE_FOLDER) || is_engine_script(word))
            }
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeView => "claude-view",
            Self::AgentTmuxMonitor => "agent-tmux-monitor",
            Self::Headspace => "headspace",
            Self::Engine => "engine",
        }
    }

    /// The port that its handler sends to on this machine. The other two tools have sockets of their own.
    fn port(self, handler: &Value) -> Option<u16> {
        let text = |key: &str| handler.get(key).and_then(Value::as_str);
        let written = text("command").or_else(|| text("url"));
        let named = written.and_then(local_port);
        // An address of another machine is not the default.
        let default =
            |port| Some(port).filter(|_| written.is_none_or(|text| addresses(text).next().is_none()));
        match self {
            Self::ClaudeView => named.or_else(|| default(DEFAULT_PORT)),
            Self::Headspace => named.or_else(|| default(HEADSPACE_PORT)),
            Self::AgentTmuxMonitor | Self::Engine => None,
        }
    }
}

/// The words of a command line, without the quotes around them.
fn command_words(command: &str) -> impl Iterator<Item = &str> {
    command.split(|c: char| c.is_whitespace() || "'\";|&()".contains(c)).filter(|word| !word.is_empty())
}

fn file_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_engine_script(word: &str) -> bool {
    word.contains(SCRIPTS_FOLDER) && ENGINE_SCRIPTS.contains(&file_name(word))
}

fn posts_to_headspace(command: &str) -> bool {
    addresses(command).any(|address| {
        let path = address.split_once(':').and_then(|(_, rest)| rest.strip_prefix(HEADSPACE_HOOKS));
        path.is_some_and(|event| event.starts_with(|c: char| c.is_ascii_alphanumeric()))
    })
}

/// What follows `://` in each address of the text: host, port and path.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("://").filter_map(|(at, mark)| text.get(at + mark.len()..))
}

/// The port of the first address on this machine in the text.
fn local_port(text: &str) -> Option<u16> {
    ["://localhost:", "://127.0.0.1:", "://[::1]:"].into_iter().find_map(|host| {
        let (_, after) = text.split_once(host)?;
        let digits = after.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    })
}

/// The handlers of one earlier tool in a settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundTool {
    pub tool: Predecessor,
    pub handlers: usize,
    pub events: Vec<String>,
    /// The handlers of the tool send to our daemon too, so each event is stored twice.
    pub doubles: bool,
}

impl FoundTool {
    /// What its handlers do while ours are there too.
    pub fn sentence(&self) -> String {
        let s = if self.handlers == 1 { "" } else { "s" };
        let what = match (self.doubles, self.tool) {
            (true, _) => "every such event is sent to this daemon too and stored twice",
            (false, Predecessor::Engine) => {
                "each event starts one process more; its guards and restarts work beside those of Flightdeck's own efforts"
            }
            (false, _) => "each event starts one process more",
        };
        format!("{} handler{s} of {} beside ours: {what}", self.handlers, self.tool.name())
    }

    /// The command that takes them out.
    pub fn fix(&self) -> String {
        format!("flightdeck hooks install --replace={}", self.tool.name())
    }
}

impl fmt::Display for FoundTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; `{}` takes them out", self.sentence(), self.fix())
    }
}

/// The earlier tools in the file. `port` is where our daemon listens.
pub(super) fn found(document: &Document<'_>, port: u16) -> Vec<FoundTool> {
    Predecessor::ALL.into_iter().filter_map(|tool| found_tool(document, tool, port)).collect()
}

fn found_tool(document: &Document<'_>, tool: Predecessor, port: u16) -> Option<FoundTool> {
    let of_tool =
        |event: &EventHandlers| event.handlers().filter(|handler| belongs_to(handler, &[tool])).count();
    let with: Vec<&EventHandlers> = document.events.iter().filter(|event| of_tool(event) > 0).collect();
    let theirs = || with.iter().flat_map(|event| event.handlers()).filter(|h| belongs_to(h, &[tool]));
    (!with.is_empty()).then(|| FoundTool {
        tool,
        handlers: theirs().count(),
        events: with.iter().map(|event| event.member.key.clone()).collect(),
        doubles: theirs().any(|handler| tool.port(&handler.value) == Some(port)),
    })
}

/// Whether the handler belongs to one of these tools.
pub(super) fn belongs_to(handler: &HandlerText, tools: &[Predecessor]) -> bool {
    !handler.ours && Predecessor::that_wrote(&handler.value).is_some_and(|tool| tools.contains(&tool))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use serde_json::json;

    #[test]
    fn each_tool_is_known_by_its_own_commands() {
        let of = |command: &str| Predecessor::that_wrote(&json!({"type": "command", "command": command}));
        let curl = "curl -s -X POST http://localhost:47892/api/live/hook -H 'Content-Type: application/json' \
                    --data-binary @- 2>/dev/null || true # claude-view-hook";
        assert_eq!(of(curl), Some(Predecessor::ClaudeView));
        assert_eq!(of("/home/dev/.local/bin/atm-hook"), Some(Predecessor::AgentTmuxMonitor));
        assert_eq!(of("bash '/home/dev/a b/scripts/atm-hooks.sh'"), Some(Predecessor::AgentTmuxMonitor));
        assert_eq!(of("/home/dev/.claude/hooks/notify-headspace.sh stop"), Some(Predecessor::Headspace));
        let post = "curl -X POST http://localhost:5055/hook/stop -d @-";
        assert_eq!(of(post), Some(Predecessor::Headspace));
        let elsewhere = "curl -s -X POST http://192.168.1.20:5055/hook/session-start -d @-";
        assert_eq!(of(elsewhere), Some(Predecessor::Headspace));
        assert_eq!(of("curl https://deck.example:5055/hook/stop"), Some(Predecessor::Headspace));
        assert_eq!(of("~/.claude/hooks/pre-tool-use-overflow-v2.sh"), Some(Predecessor::Engine));
        assert_eq!(of("bash ~/.claude/engine/hooks/anything.sh"), Some(Predecessor::Engine));
        assert_eq!(of("rpc-cli hooks.stop"), Some(Predecessor::Engine));
    }

    #[test]
    fn only_a_handler_that_sends_to_this_machine_doubles_our_events() {
        let doubles = |url: &str, port: u16| {
            let command = format!("curl -X POST {url}/hook/stop -d @-");
            let hooks = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}});
            found(&Document::read(&hooks.to_string(), Path::new("s")).unwrap(), port)[0].doubles
        };
        assert!(doubles("http://localhost:5055", 5055));
        assert!(!doubles("http://localhost:5055", 47892) && !doubles("http://box:5055", 5055));
    }

    #[test]
    fn other_tools_and_our_own_handlers_are_none_of_them() {
        for command in [
            "grep '# claude-view-hook' log",
            "true # claude-view-hook-2",
            "~/.claude/hooks/stop.sh",
            "/opt/tools/stop-notify.sh",
            "cat notify-headspace.sh.bak",
            "curl http://localhost:5055/metrics",
            "curl http://box:5055/hooks/stop",
            "grep ':5055/hook/' log",
            "my-atm-hook",
            "'/opt/fd' hook --home '/h/fd' 2>/dev/null || true # flightdeck-hook",
        ] {
            assert_eq!(
                Predecessor::that_wrote(&json!({"type": "command", "command": command})),
                None,
                "{command}"
            );
        }
        assert_eq!(Predecessor::that_wrote(&json!({"type": "prompt", "prompt": "atm-hook"})), None);
        assert_eq!(Predecessor::that_wrote(&json!("atm-hook")), None);
    }
}
