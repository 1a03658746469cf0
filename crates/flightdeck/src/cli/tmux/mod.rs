//! `flightdeck tmux`: installs key bindings, a status bar and colours into the person's tmux, and removes them.

mod block;
mod config_keys;
mod included;
mod server;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use flightdeck_core::view::card::Card;
use flightdeck_protocol::sessions::MarkSeen;

use self::included::Keys;
use self::server::Server;
use super::lookup::board_cards;
use super::out::Out;
use crate::client::BlockingClient;
use crate::pane_colours::included_file;
use crate::paths::Paths;
use crate::program;

/// Characters that cannot be quoted for tmux, a shell inside it, and formats at once.
const UNQUOTABLE: [char; 8] = ['\'', '"', '#', '$', '\\', '`', '\n', '{'];

#[derive(Debug, clap::Args)]
pub(super) struct TmuxArgs {
    #[command(subcommand)]
    command: TmuxCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TmuxCommand {
    /// Add key bindings, the status bar and colours to tmux's configuration
    Install(InstallArgs),
    /// Remove exactly what `install` added
    Uninstall(PlaceArgs),
    /// Show what is installed
    Status(PlaceArgs),
    /// Mark the session in a pane as seen; tmux runs this
    #[command(hide = true)]
    Checked(CheckedArgs),
}

#[derive(Debug, clap::Args)]
struct PlaceArgs {
    /// tmux's configuration [default: ~/.tmux.conf, or tmux/tmux.conf in the XDG configuration folder if only that exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The socket of a running tmux server to change as well [default: the server of this terminal]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct InstallArgs {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    keys: Keys,
}

#[derive(Debug, clap::Args)]
struct CheckedArgs {
    #[arg(long)]
    socket: PathBuf,
    #[arg(long)]
    pane: String,
}

pub(super) fn run(args: &TmuxArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    match &args.command {
        TmuxCommand::Install(args) => install(args, paths, out),
        TmuxCommand::Uninstall(place) => uninstall(place, paths, out),
        TmuxCommand::Status(place) => status(place, paths, out),
        TmuxCommand::Checked(args) => Ok(check_tmux(args, paths)),
    }
}

impl PlaceArgs {
    fn server(&self) -> Option<Server> {
        let tmux = std::env::var("TMUX").ok();
        Server::chosen(self.socket.as_deref(), tmux.as_deref())
    }

    /// The configuration file, with links resolved: a person may keep the file in a repository and link to it.
    fn config(&self) -> anyhow::Result<PathBuf> {
        let config = match &self.config {
            Some(config) => config.clone(),
            None => usual_config().context("HOME is not set: name the file with --config")?,
        };
        Ok(config.canonicalize().unwrap_or(config))
    }
}

fn usual_config() -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = var("HOME")?;
    let plain = home.join(".tmux.conf");
    let xdg = var("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("tmux/tmux.conf");
    Some(if !plain.exists() && xdg.exists() { xdg } else { plain })
}

fn install(args: &InstallArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    server::check_version()?;
    let (config, server) = (args.place.config()?, args.place.server());
    let binary = std::env::current_exe()?.display().to_string();
    let home = paths.home.display().to_string();
    if let Some(path) = [&binary, &home].into_iter().find(|path| path.contains(UNQUOTABLE)) {
        bail!("tmux cannot run a program with this path: {path}");
    }
    let before = read(&config)?;
    check_keys(&args.keys, server.as_ref(), &config, before.as_deref().unwrap_or_default())?;
    let included = included_file(&paths.home);
    let command = format!("{} --home {}", program::shell_word(&binary), program::shell_word(&home));
    fs::create_dir_all(&paths.home).with_context(|| format!("could not create {home}"))?;
    replace(&included, Some(included::config_text(&args.keys, &command, &home).as_bytes()))?;
    replace(&config, Some(&block::with_block(before.as_deref(), &include_line(&included))))?;
    if let Some(server) = &server {
        server.load(&included, &home)?;
    }
    if args.place.json {
        return TmuxInstallation::read(&args.place, paths)?.print(out);
    }
    writeln!(out, "{} includes {}", config.display(), included.display())?;
    match server {
        Some(server) => {
            writeln!(out, "The tmux server at {} has loaded it.", server.socket.display())?;
        }
        None => writeln!(out, "A running tmux loads it with: tmux source-file {}", included.display())?,
    }
    let Keys { popup_key, sidebar_key, next_key } = &args.keys;
    writeln!(
        out,
        "prefix {popup_key}: the board · prefix {sidebar_key}: a sidebar · prefix {next_key}: the session that needs you most"
    )?;
    Ok(0)
}

/// Refuses a key that the running server or the person's configuration binds to something else.
fn check_keys(keys: &Keys, server: Option<&Server>, config: &Path, text: &[u8]) -> anyhow::Result<()> {
    let other = "choose another key (see `flightdeck tmux install --help`)";
    if let Some(key) = server.map(|server| server.taken_key(keys)).transpose()?.flatten() {
        bail!("prefix {key} is bound to something else: {other}");
    }
    for key in keys.all() {
        if let Some(line) = config_keys::line_that_binds(&String::from_utf8_lossy(text), key) {
            bail!("prefix {key} is bound to something else in {}, line {line}: {other}", config.display());
        }
    }
    Ok(())
}

/// The line of the block that loads the file of this home.
fn include_line(included: &Path) -> String {
    format!("source-file -q '{}'\n", included.display())
}

fn uninstall(place: &PlaceArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let (config, included) = (place.config()?, included_file(&paths.home));
    let found = read(&config)?;
    let ours = |text: &&[u8]| block::has_block_with(text, &include_line(&included));
    let without = found.as_deref().filter(ours).and_then(block::without_block);
    let of_another_home = without.is_none() && found.as_deref().and_then(block::without_block).is_some();
    let was_there = without.is_some() || included.exists();
    if let Some(before) = without {
        replace(&config, before.as_deref())?;
    }
    replace(&included, None)?;
    if let Some(server) = place.server() {
        server.unload(&paths.home.display().to_string())?;
    }
    if place.json {
        return TmuxInstallation::read(place, paths)?.print(out);
    }
    match was_there {
        _ if of_another_home => {
            writeln!(out, "{} includes the file of another home. That install stays.", config.display())?;
        }
        true => writeln!(out, "{} is as it was before the install.", config.display())?,
        false => writeln!(out, "Nothing is installed in {}.", config.display())?,
    }
    Ok(0)
}

fn status(place: &PlaceArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let found = TmuxInstallation::read(place, paths)?;
    let code = u8::from(!found.installed);
    if place.json {
        found.print(out)?;
        return Ok(code);
    }
    let not = |is: bool| if is { "" } else { "not " };
    writeln!(out, "config  {}: {}installed", found.config.display(), not(found.installed))?;
    if let Some(server) = found.server {
        writeln!(out, "server  {}: {}loaded", server.display(), not(found.loaded))?;
    }
    Ok(code)
}

/// What is installed, as `--json` prints it after each command.
#[derive(Debug, serde::Serialize)]
struct TmuxInstallation {
    installed: bool,
    config: PathBuf,
    included: PathBuf,
    /// The socket of the running server that was looked at.
    server: Option<PathBuf>,
    /// Whether that server has loaded the file of this home.
    loaded: bool,
}

impl TmuxInstallation {
    fn read(place: &PlaceArgs, paths: &Paths) -> anyhow::Result<Self> {
        let (config, included, server) = (place.config()?, included_file(&paths.home), place.server());
        let line = include_line(&included);
        let in_config = read(&config)?.is_some_and(|text| block::has_block_with(&text, &line));
        let home = server.as_ref().map(Server::loaded_home).transpose()?.flatten();
        Ok(Self {
            installed: in_config && included.exists(),
            loaded: home.is_some_and(|home| Path::new(&home) == paths.home),
            server: server.map(|server| server.socket),
            config,
            included,
        })
    }

    fn print(&self, out: &mut Out) -> anyhow::Result<u8> {
        out.json(&serde_json::to_value(self)?)?;
        Ok(0)
    }
}

/// Prints nothing and always succeeds: tmux would show any output or error to the person at every change of the pane.
fn check_tmux(args: &CheckedArgs, paths: &Paths) -> u8 {
    // If no daemon runs, there is no session to mark.
    let _ = mark_seen(args, paths);
    0
}

fn mark_seen(args: &CheckedArgs, paths: &Paths) -> anyhow::Result<()> {
    let mut client = BlockingClient::connect(paths)?;
    let cards = board_cards(&mut client)?;
    for card in cards.iter().filter(|card| !card.seen && is_in_pane(card, args)) {
        client.call(&MarkSeen { session_id: card.id.clone() })?;
    }
    Ok(())
}

/// Whether the session runs in this pane. Another machine may have a pane and a socket of the same name.
fn is_in_pane(card: &Card, place: &CheckedArgs) -> bool {
    let is_socket = |path: &String| same_file(Path::new(path), &place.socket);
    card.owner.is_none()
        && card.ended_at.is_none()
        && card.seat.pane.as_deref() == Some(place.pane.as_str())
        && card.seat.tmux_socket.as_ref().is_some_and(is_socket)
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// `None` if there is no such file.
fn read(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("could not read {}", path.display())),
    }
}

/// Replaces the file in one step and keeps its mode; `None` removes it.
fn replace(path: &Path, text: Option<&[u8]>) -> anyhow::Result<()> {
    let failed = || format!("could not write {}", path.display());
    let Some(text) = text else {
        return match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).with_context(failed),
            _ => Ok(()),
        };
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(failed)?;
    file.write_all(text).with_context(failed)?;
    if let Ok(meta) = fs::metadata(path) {
        file.as_file().set_permissions(meta.permissions()).with_context(failed)?;
    }
    file.as_file().sync_all().with_context(failed)?;
    file.persist(path).with_context(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use flightdeck_core::session::state_name::StateName;

    use super::*;
    use crate::cli::tui::tests::fleet::{card, on_host};

    #[test]
    fn a_pane_of_another_machine_is_not_looked_at() {
        let place = CheckedArgs { pane: "%5".to_owned(), socket: "/tmp/tmux-1000/default".into() };
        let mut own = card("a", StateName::Idle, "Waiting for your next prompt", 5);
        own.seat.pane = Some("%5".to_owned());
        own.seat.tmux_socket = Some("/tmp/tmux-1000/default".to_owned());
        assert!(is_in_pane(&own, &place));
        assert!(!is_in_pane(&on_host("build-2", &["focus"], own.clone()), &place));
        own.seat.pane = Some("%6".to_owned());
        assert!(!is_in_pane(&own, &place));
    }
}
