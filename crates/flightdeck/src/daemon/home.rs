//! The daemon's folders and files: made private, locked, and `daemon.json` in them.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::Path;

use anyhow::{Context, bail};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tokio::net::UnixListener;

use crate::paths::Paths;
use crate::private_folder;

/// `daemon.json`: how other programs find a running daemon.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct DaemonFile {
    pub pid: u32,
    pub port: u16,
    pub url: String,
    pub version: String,
}

/// The name of this machine.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Each watched process and each viewer needs a file descriptor: the limit is raised to what the system allows.
pub(super) fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

pub(super) fn make_private(dir: &Path) -> anyhow::Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.with_context(|| format!("cannot make the folder {}", dir.display()))
}

/// Removes an old link, or a folder of a start without a runtime folder if it holds nothing but a daemon's own files.
fn clear_old_run(run: &Path) {
    // Most of these do not exist. If one cannot be removed, making the new link fails and says so.
    if run.is_symlink() {
        let _ = fs::remove_file(run);
        return;
    }
    let _ = fs::remove_file(run.join("daemon.sock"));
    let _ = fs::remove_file(run.join("daemon.json"));
    let _ = fs::remove_dir(run);
}

pub(super) fn make_folders(paths: &Paths) -> anyhow::Result<()> {
    make_private(&paths.logs)?;
    make_private(&paths.spool())?;
    let run = paths.home.join("run");
    if run == paths.runtime && run.is_symlink() && !run.exists() {
        // A link of a start with a runtime folder, which the system removed when the person logged out.
        fs::remove_file(&run).with_context(|| format!("cannot remove the link {}", run.display()))?;
    }
    make_private(&paths.runtime)?;
    if run != paths.runtime && fs::read_link(&run).ok().as_ref() != Some(&paths.runtime) {
        clear_old_run(&run);
        symlink(&paths.runtime, &run)
            .with_context(|| format!("cannot link {}: move what is there out of the way", run.display()))?;
    }
    let socket = paths.socket();
    let folder = socket.parent().unwrap_or(&paths.home);
    make_private(folder)?;
    private_folder::open(folder).with_context(|| format!("{} must belong to you alone", folder.display()))?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
        .with_context(|| format!("cannot make {} private", folder.display()))
}

/// The mark of a home whose sessions are simulated: commands that need no daemon know it by this file.
const SIMULATED: &str = "simulated";

pub(super) fn mark_simulated(paths: &Paths) -> anyhow::Result<()> {
    let path = paths.home.join(SIMULATED);
    fs::write(&path, "The sessions of this home are made up by `flightdeck demo`.\n")
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Why a demo has no hooks, as commands print it.
pub(crate) const NO_HOOKS_IN_A_DEMO: &str = "none, on purpose: the sessions are simulated";

/// Whether a demo uses this home, or used it and was killed.
pub(crate) fn is_simulated(paths: &Paths) -> bool {
    paths.home.join(SIMULATED).exists()
}

/// One daemon per home. The lock ends with the process.
pub(super) fn lock(paths: &Paths) -> anyhow::Result<fs::File> {
    let path = paths.home.join("daemon.lock");
    let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.with_context(|| format!("cannot open {}", path.display()))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {
            // The file of a killed daemon would name the wrong process. Usually there is none.
            let _ = fs::remove_file(paths.daemon_file());
            Ok(file)
        }
        Err(rustix::io::Errno::WOULDBLOCK) => match read_daemon_file(paths) {
            Some(other) => bail!(
                "Flightdeck already runs for this home: pid {}, {}. Stop it first, or use another --home",
                other.pid,
                other.url
            ),
            None => bail!("Flightdeck already runs for {}", paths.home.display()),
        },
        Err(error) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}

fn read_daemon_file(paths: &Paths) -> Option<DaemonFile> {
    serde_json::from_slice(&fs::read(paths.daemon_file()).ok()?).ok()
}

pub(super) fn write_daemon_file(paths: &Paths, url: &str, port: u16) -> anyhow::Result<()> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let file = DaemonFile { pid: std::process::id(), port, url: url.to_owned(), version };
    let path = paths.daemon_file();
    fs::write(&path, serde_json::to_vec(&file)?).with_context(|| format!("cannot write {}", path.display()))
}

pub(super) fn bind_socket(paths: &Paths) -> anyhow::Result<UnixListener> {
    let path = paths.socket();
    // We hold the lock, so a socket at this path is that of a dead daemon.
    let _ = fs::remove_file(&path);
    let listener =
        UnixListener::bind(&path).with_context(|| format!("cannot bind the socket {}", path.display()))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}
