//! `flightdeck rpc`: one command of the socket, for scripts.

use std::io::{Read, Write};
use std::time::Duration;

use anyhow::{Context, bail};
use flightdeck_hook::{ACK_WITHIN, CLIENT_VARIABLES, exchange_lines};
use flightdeck_protocol::daemon::Ping;
use flightdeck_protocol::engine_hooks::HookPreCompact;
use flightdeck_protocol::schema::{self, CommandSchema};
use flightdeck_protocol::supervise::RESTART_HOLD_MAX;
use flightdeck_protocol::{ErrorCode, SocketCommand, fail_open_reply, frame};
use serde_json::{Map, Value};

use super::out::Out;
use crate::client::BlockingClient;
use crate::frame::FRAME_BYTES_MAX;
use crate::paths::Paths;

/// Longest wait for the reply if the client may be restarted instead of compacting. The daemon ends the hold earlier. Before this wait, the
/// daemon must have answered one call, so a daemon that is stuck is not waited for this long.
const RESTART_WITHIN: Duration = RESTART_HOLD_MAX.saturating_add(Duration::from_millis(500));

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exits 1 and prints the daemon's reason if the command is refused. A command of hooks.* waits 50 ms at most: without a \
    daemon that answers in time it prints the reply of a session without an effort."
)]
pub(super) struct RpcArgs {
    /// Print every command with its arguments as a JSON Schema and an example
    #[arg(long, conflicts_with_all = ["command", "arguments"])]
    list: bool,
    /// With --list: print JSON
    #[arg(long, requires = "list")]
    json: bool,
    /// The command, for example effort.list
    #[arg(required_unless_present = "list")]
    command: Option<String>,
    /// Its arguments as a JSON object; `-` reads them from standard input
    #[arg(value_name = "JSON")]
    arguments: Option<String>,
}

pub(super) fn run(args: &RpcArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let Some(command) = &args.command else { return list(args.json, out) };
    if command == "subscribe" {
        bail!("`subscribe` never ends: use `flightdeck watch --json`");
    }
    let arguments = arguments(args.arguments.as_deref())?;
    let env = CLIENT_VARIABLES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?.into())));
    let env = env.collect();
    let data = match fail_open_reply(command) {
        Some(fail_open) => hook(command, &arguments, &env, paths)?.unwrap_or(fail_open),
        None => BlockingClient::connect(paths)?.call_named(command, &arguments, &env)?,
    };
    out.json_line(&data)?;
    Ok(0)
}

/// The reply to a command of `hooks.*`. `None` if no reply arrives in time: Claude Code waits for this command, so the agent must go on. The
/// only error is arguments that the daemon does not understand.
fn hook(
    command: &str,
    arguments: &Value,
    env: &Map<String, Value>,
    paths: &Paths,
) -> anyhow::Result<Option<Value>> {
    let call = frame::named_call_line(command, arguments, env)?;
    let socket = paths.socket();
    let line = if may_restart(command, arguments) {
        let both = [frame::call_line(&Ping {})?, call].concat();
        exchange_lines(&socket, &both, &[ACK_WITHIN, RESTART_WITHIN])
    } else {
        exchange_lines(&socket, &call, &[ACK_WITHIN])
    };
    match line.map(|line| frame::read_reply::<Value>(&line)) {
        Some(Ok(Ok(data))) => Ok(Some(data)),
        Some(Ok(Err(refused))) if refused.error == ErrorCode::ValidationError => bail!(refused.message),
        _ => Ok(None),
    }
}

/// Whether `flightdeck run` may end the client because of this event. The hook is then held until the client is gone.
fn may_restart(command: &str, arguments: &Value) -> bool {
    command == HookPreCompact::COMMAND && arguments["trigger"] == "auto"
}

fn arguments(given: Option<&str>) -> anyhow::Result<Value> {
    let text = match given {
        None => return Ok(Value::Object(Map::new())),
        Some("-") => {
            let mut text = String::new();
            let input = std::io::stdin().take(FRAME_BYTES_MAX as u64);
            let mut input = std::io::BufReader::new(input);
            input.read_to_string(&mut text).context("cannot read the arguments from standard input")?;
            text
        }
        Some(text) => text.to_owned(),
    };
    let arguments: Value = serde_json::from_str(&text).context("the arguments are not JSON")?;
    if !arguments.is_object() {
        bail!("the arguments must be a JSON object, for example {{\"id\": \"e-…\"}}");
    }
    Ok(arguments)
}

fn list(json: bool, out: &mut Out) -> anyhow::Result<u8> {
    let commands = schema::command_schemas();
    if json {
        out.json(&commands)?;
        return Ok(0);
    }
    for CommandSchema { command, alias_of, summary, arguments, example } in &commands {
        let alias = alias_of.map(|meant| format!(" (the same as {meant})")).unwrap_or_default();
        writeln!(out, "{command}{alias}\n  {summary}\n  arguments {arguments}\n  example   {example}\n")?;
    }
    Ok(0)
}
