//! A NATS server of the system, on loopback, with its files in a throw-away folder.

use std::fs;
use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{DEADLINE, must, until};
use crate::workspace::is_ci;

/// It is killed when it is dropped, and its files are removed.
#[derive(Debug)]
pub struct NatsServer {
    folder: tempfile::TempDir,
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
        let installed =
            Command::new("nats-server").arg("--version").output().is_ok_and(|o| o.status.success());
        assert!(installed || !is_ci(), "nats-server is not installed (apt-get install nats-server)");
        installed.then(|| must(Self::try_start(more)))
    }

    fn try_start(more: &str) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("fd-nats-").tempdir()?;
        // The port is free again before the server takes it; no other test takes it meanwhile, because the kernel hands out others.
        let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let store = folder.path().join("store");
        let config = format!(
            "host: 127.0.0.1\nport: {}\njetstream {{ store_dir: {:?}, max_file_store: 512MB }}\n{more}\n",
            addr.port(),
            store.display().to_string(),
        );
        fs::write(folder.path().join("nats.conf"), config)?;
        let mut server = Self { folder, addr, child: None };
        server.try_run()?;
        Ok(server)
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

    /// Starts it again after [`NatsServer::kill`], with the same files and port.
    #[track_caller]
    pub fn run(&mut self) {
        must(self.try_run());
    }

    fn try_run(&mut self) -> Result<()> {
        let log = fs::File::create(self.folder().join("log"))?;
        let config = self.folder().join("nats.conf");
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
