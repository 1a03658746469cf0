//! The terminal and the tmux pane of a session that no hook has reported: from the process table and `tmux list-panes`.
//!
//! The environment of another process is never read: it may hold secrets. A pane is found by its process: an ancestor of the
//! client is the first process of the pane, and its parent is the tmux server, whose socket the kernel names.

use std::path::{Path, PathBuf};

use crate::process;
use crate::terminal::pane::check_own_socket;
use crate::terminal::tmux::Tmux;

/// Processes between a client and its tmux server: `sh -c`, `env`, a wrapper, a debugger.
const ANCESTORS_MAX: usize = 64;
/// The kernel's name for a tmux server.
const SERVER_COMM: &str = "tmux: server";

/// Where a process runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DiscoveredPlace {
    pub(super) tty: Option<String>,
    pub(super) tmux_socket: Option<String>,
    pub(super) pane: Option<String>,
}

pub(super) async fn discover(tmux: &impl Tmux, pid: u32) -> DiscoveredPlace {
    let tty = process::tty(pid);
    let Some(ancestors) = ancestors_in_tmux(pid) else {
        return DiscoveredPlace { tty, ..DiscoveredPlace::default() };
    };
    for socket in sockets_of(ancestors.server) {
        if let Some(pane) = pane_of(tmux, &socket, &ancestors).await {
            let tmux_socket = Some(socket.display().to_string());
            return DiscoveredPlace { tty, tmux_socket, pane: Some(pane) };
        }
    }
    DiscoveredPlace { tty, ..DiscoveredPlace::default() }
}

/// A process, its ancestors, and the tmux server that they run in.
struct AncestorsInTmux {
    /// From the process itself up to the child of the server.
    below: Vec<u32>,
    server: u32,
}

fn ancestors_in_tmux(pid: u32) -> Option<AncestorsInTmux> {
    let mut below = vec![pid];
    for _ in 0..ANCESTORS_MAX {
        let parent = process::parent(*below.last()?).filter(|parent| *parent > 1)?;
        if process::comm(parent).as_deref() == Some(SERVER_COMM) {
            return Some(AncestorsInTmux { below, server: parent });
        }
        below.push(parent);
    }
    None
}

/// The pane whose first process is one of the ancestors. Its server must be the server of the ancestors: a socket path may
/// belong to another server by now.
async fn pane_of(tmux: &impl Tmux, socket: &Path, ancestors: &AncestorsInTmux) -> Option<String> {
    check_own_socket(socket).ok()?;
    let listed =
        tmux.call(socket, &["list-panes", "-a", "-F", "#{pid} #{pane_pid} #{pane_id}"], None).await.ok()?;
    find_pane(&listed, ancestors)
}

fn find_pane(listed: &str, ancestors: &AncestorsInTmux) -> Option<String> {
    listed.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let mut pid = || fields.next()?.parse::<u32>().ok();
        let (server, first) = (pid()?, pid()?);
        let pane = fields.next()?;
        (ancestors.server == server && ancestors.below.contains(&first)).then(|| pane.to_owned())
    })
}

/// The paths of the Unix sockets that a process has open: its descriptors name inodes, and the kernel's list of sockets names their
/// paths.
#[cfg(target_os = "linux")]
fn sockets_of(pid: u32) -> Vec<PathBuf> {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let inodes: Vec<String> = descriptors
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let mut paths: Vec<PathBuf> = sockets.lines().filter_map(|line| socket_path(line, &inodes)).collect();
    paths.dedup();
    paths
}

/// `0000: 00000002 00000000 00010000 0001 01 12345 /tmp/tmux-1000/default`, if the inode is one of these.
#[cfg(any(target_os = "linux", test))]
fn socket_path(line: &str, inodes: &[String]) -> Option<PathBuf> {
    let mut fields = line.split_whitespace();
    let inode = fields.nth(6)?;
    let (_, path) = line.split_once(&format!(" {inode} "))?;
    (path.starts_with('/') && inodes.iter().any(|known| known == inode)).then(|| PathBuf::from(path))
}

/// On other systems the kernel does not list sockets, so the server with tmux's default socket is asked.
#[cfg(not(target_os = "linux"))]
fn sockets_of(_pid: u32) -> Vec<PathBuf> {
    let folder = std::env::var_os("TMUX_TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    vec![folder.join(format!("tmux-{}", rustix::process::geteuid().as_raw())).join("default")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_is_found_by_its_first_process_and_its_server() {
        let ancestors = AncestorsInTmux { below: vec![900, 800, 70], server: 7 };
        assert_eq!(find_pane("7 7 %1\n7 80 %8\n7 70 %50\n", &ancestors).as_deref(), Some("%50"));
        assert_eq!(find_pane("8 70 %50\n", &ancestors), None, "another server");
        assert_eq!(find_pane("7 700 %50\n7\n\nnonsense\n", &ancestors), None);
    }

    #[test]
    fn the_path_of_a_socket_may_have_spaces() {
        let line = "ffff: 00000002 00000000 00010000 0001 01 4321 /tmp/a b/sock";
        assert_eq!(socket_path(line, &["4321".into()]), Some("/tmp/a b/sock".into()));
        assert_eq!(socket_path(line, &["432".into()]), None);
        assert_eq!(socket_path("ffff: 00000003 00000000 00000000 0001 03 4321", &["4321".into()]), None);
        assert_eq!(socket_path("ffff: 0 0 0 1 01 4321 @abstract", &["4321".into()]), None);
    }
}
