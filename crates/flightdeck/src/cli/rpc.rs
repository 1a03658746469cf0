//! `flightdeck rpc`: one command of the socket, for scripts.

use std::io::{Read, Write};

use anyhow::{Context, bail};
use flightdeck_hook::CLIENT_VARIABLES;
use flightdeck_protocol::schema::{self, CommandSchema};
use serde_json::{Map, Value};

use super::out::Out;
use crate::client::BlockingClient;
use crate::frame::FRAME_BYTES_MAX;
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
#[command(after_help = "Exits 1 and prints the daemon's reason if the command is refused.")]
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
    let data = BlockingClient::connect(paths)?.call_named(command, &arguments, &env.collect())?;
    out.json_line(&data)?;
    Ok(0)
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
    let commands = schema::commands();
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
