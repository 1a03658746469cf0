//! `cargo xtask web`: the page with hot reload, against a running daemon.

use anyhow::{Context, Result};
use clap::Parser;
use flightdeck_e2e::npm::{npm, with_modules};

#[derive(Parser, Debug)]
pub(crate) struct WebArgs {
    /// The daemon's address, as it printed it
    #[arg(long, default_value = "http://127.0.0.1:47892")]
    url: String,
}

pub(crate) fn run(args: &WebArgs) -> Result<bool> {
    let web = with_modules()?;
    let status = npm(&web).args(["run", "dev"]).env("FLIGHTDECK_URL", &args.url).status();
    Ok(status.context("cannot run npm run dev")?.success())
}
