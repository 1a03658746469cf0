//! A NATS server of the system, on loopback, with its files in a throw-away folder.

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{DEADLINE, must, until};
use crate::workspace::is_ci;

/// Files of all streams: more than a test writes.
const STORE_MEGABYTES: u32 = 512;

/// A nats-server of a test. Dropping it kills the process and removes its files.
#[derive(Debug)]
pub struct NatsServer {
    folder: tempfile::TempDir,
    /// Where the files of streams are.
    store: PathBuf,
    store_megabytes: u32,
    /// Added to the configuration.
    more: String,
    addr: SocketAddr,
    child: Option<Child>,
}

impl NatsServer {
    /// `None` if the machine has no `nats-server`; in CI that is an error.
    #[track_caller]
    pub fn start() -> Option<Self> {
        Self::with_config("")
    }

    /// `more` is added to the server's configuration.
    #[track_caller]
    pub fn with_config(more: &str) -> Option<Self> {
        let mut server = Self::stopped(Ipv4Addr::LOCALHOST)?;
        server.more = more.to_owned();
        server.run();
        Some(server)
    }

    /// A server on this address of the machine that [`NatsServer::run`] starts.
    #[track_caller]
    pub fn stopped(on: Ipv4Addr) -> Option<Self> {
        let installed =
            Command::new("nats-server").arg("--version").output().is_ok_and(|o| o.status.success());
        assert!(installed || !is_ci(), "nats-server is not installed (apt-get install nats-server)");
        installed.then(|| must(Self::try_new(on)))
    }

    fn try_new(on: Ipv4Addr) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("fd-nats-").tempdir()?;
        // The port is free again before the server takes it; no other test takes it meanwhile, because the kernel hands out others.
        let addr = TcpListener::bind((on, 0))?.local_addr()?;
        let (store, more) = (folder.path().join("store"), String::new());
        Ok(Self { folder, store, store_megabytes: STORE_MEGABYTES, more, addr, child: None })
    }

    /// Where it keeps its files, and how much; it applies when the server is started.
    pub fn set_store(&mut self, folder: &Path, megabytes: u32) {
        (self.store, self.store_megabytes) = (folder.to_owned(), megabytes);
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn port(&self) -> u16 {
        self.addr.port()
    }

    pub fn url(&self) -> String {
        format!("nats://{}", self.addr)
    }

    /// Starts it, also again after [`NatsServer::kill`], with the same files and port.
    #[track_caller]
    pub fn run(&mut self) {
        must(self.try_run());
    }

    fn try_run(&mut self) -> Result<()> {
        let log = fs::File::create(self.folder().join("log"))?;
        let config = self.folder().join("nats.conf");
        fs::write(&config, self.config())?;
        let mut command = Command::new("nats-server");
        command.arg("-c").arg(config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.child = Some(command.spawn().context("cannot start nats-server")?);
        let greets = || {
            let mut stream = TcpStream::connect(self.addr).ok()?;
            stream.set_read_timeout(Some(DEADLINE)).ok()?;
            let mut greeting = [0; 4];
            stream.read_exact(&mut greeting).ok()?;
            (&greeting == b"INFO").then_some(())
        };
        until("nats-server answers", greets);
        if self.child.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None))) {
            bail!("nats-server ended: {}", fs::read_to_string(self.folder().join("log"))?);
        }
        Ok(())
    }

    fn config(&self) -> String {
        let (host, port, more) = (self.addr.ip(), self.port(), &self.more);
        let (store, megabytes) = (self.store.display().to_string(), self.store_megabytes);
        format!(
            "host: {host}\nport: {port}\njetstream {{ store_dir: {store:?}, max_file_store: {megabytes}MB }}\n{more}\n"
        )
    }

    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// `kill -9`.
    #[track_caller]
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            must(child.kill().and_then(|()| child.wait()).context("cannot kill nats-server"));
        }
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Both fail only if it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
