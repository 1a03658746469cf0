//! `flightdeck peek`: the screen of a session's pane.

use std::io::Write;

use flightdeck_protocol::terminal::Peek;

use super::lookup::find_session;
use super::out::Out;
use crate::client::BlockingClient;
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct PeekArgs {
    /// The session: the start of its id, its seat or its pid, or `next` for the session that needs you most
    session: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &PeekArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut client = BlockingClient::connect(paths)?;
    let session_id = find_session(&mut client, &args.session)?;
    let reply = client.call_raw(&Peek { session_id })?;
    match args.json {
        true => out.json(&reply.json()?)?,
        false => reply.decode()?.rows.iter().try_for_each(|row| writeln!(out, "{row}"))?,
    }
    Ok(0)
}
