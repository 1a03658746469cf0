//! Binds the port of the board: the default port or the next free one, or exactly the port that was asked for.

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpListener;

/// Ports tried after the default one before giving up.
const TRIES_MAX: u16 = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortChoice {
    /// This port or the next free one.
    Near(u16),
    /// This port; zero lets the system choose.
    Exactly(u16),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum PortError {
    #[error("port {port} is taken{holder}: stop that, or choose another with --port")]
    Taken { port: u16, holder: String },
    #[error("no free port from {from} to {to}: choose one with --port")]
    NoneFree { from: u16, to: u16 },
    #[error("cannot listen on {addr}: {source}")]
    Io { addr: SocketAddr, source: io::Error },
}

pub(crate) async fn listen(bind: IpAddr, choice: PortChoice) -> Result<TcpListener, PortError> {
    let (first, tries) = match choice {
        PortChoice::Exactly(port) => (port, 0),
        PortChoice::Near(port) => (port, TRIES_MAX),
    };
    for port in first..=first.saturating_add(tries) {
        let addr = SocketAddr::new(bind, port);
        match TcpListener::bind(addr).await {
            Ok(listener) => return Ok(listener),
            Err(e) if e.kind() == io::ErrorKind::AddrInUse && tries > 0 => {}
            Err(e) if e.kind() == io::ErrorKind::AddrInUse => {
                return Err(PortError::Taken {
                    port,
                    holder: holder(port).map_or(String::new(), |h| format!(" by {h}")),
                });
            }
            Err(source) => return Err(PortError::Io { addr, source }),
        }
    }
    Err(PortError::NoneFree { from: first, to: first.saturating_add(tries) })
}

/// `name (pid 42)` of the process that listens on `port`, if the kernel lets us see it.
fn holder(port: u16) -> Option<String> {
    let inode = listening_inode(port)?;
    let link = format!("socket:[{inode}]");
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).find_map(|pid| {
        let holds = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
        let mut targets = holds.filter_map(|fd| std::fs::read_link(fd.path()).ok());
        targets.any(|target| target.as_os_str() == link.as_str()).then(|| {
            let name = crate::process::comm(pid).unwrap_or_else(|| "a process".to_owned());
            format!("{name} (pid {pid})")
        })
    })
}

/// From `/proc/net/tcp`: local address, state 0A (listening), inode in the tenth column.
fn listening_inode(port: u16) -> Option<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].iter().filter_map(|t| std::fs::read_to_string(t).ok());
    let wanted = format!(":{port:04X}");
    tables.collect::<Vec<_>>().iter().flat_map(|t| t.lines()).find_map(|line| {
        let columns: Vec<_> = line.split_whitespace().collect();
        let listens = columns.get(1)?.ends_with(&wanted) && *columns.get(3)? == "0A";
        listens.then(|| columns.get(9).map(|inode| (*inode).to_owned()))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[tokio::test]
    async fn an_explicit_port_that_is_taken_names_the_process_that_has_it() {
        let taken = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = listen(LOOPBACK, PortChoice::Exactly(port)).await.unwrap_err().to_string();
        assert!(error.contains(&format!("port {port} is taken")), "{error}");
        assert!(
            !cfg!(target_os = "linux") || error.contains(&format!("pid {}", std::process::id())),
            "{error}"
        );
    }

    #[tokio::test]
    async fn the_default_port_moves_on_to_the_next_free_one() {
        let taken = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let port = taken.local_addr().unwrap().port();
        let near = listen(LOOPBACK, PortChoice::Near(port)).await.unwrap().local_addr().unwrap().port();
        assert!(near > port);
    }
}
