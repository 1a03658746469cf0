//! `flightdeck man`: the manual pages, made from the command line's own help.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap_mangen::Man;

use super::out::Out;

#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Write a page for each command into this folder instead of printing the first page
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn run(args: &ManArgs, command: clap::Command, out: &mut Out) -> anyhow::Result<u8> {
    match &args.dir {
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page)?;
            out.write_all(&page)?;
        }
        // `flightdeck.1`, `flightdeck-hooks.1`, `flightdeck-hooks-install.1` and so on. Hidden commands have no page.
        Some(dir) => {
            fs::create_dir_all(dir)
                .and_then(|()| clap_mangen::generate_to(command.disable_help_subcommand(true), dir))
                .with_context(|| format!("could not write the pages into {}", dir.display()))?;
        }
    }
    Ok(0)
}
