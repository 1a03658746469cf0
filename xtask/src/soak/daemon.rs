//! A daemon in a home of its own, under load or counted, and what it takes.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Longer than any disk stalls: a daemon that says nothing for this long says nothing more.
const SILENCE_MAX: Duration = Duration::from_secs(60);

pub(crate) struct Daemon {
    child: Child,
    folder: PathBuf,
    /// `127.0.0.1:47892`
    pub(super) address: String,
}

impl Daemon {
    pub(crate) fn start(binary: &Path, keep_megabytes: u64) -> Result<Self> {
        // Short, because a socket lives below it.
        let folder = std::env::temp_dir().join(format!("fd-soak-{}", std::process::id()));
        fs::create_dir_all(folder.join("fd"))?;
        fs::create_dir_all(folder.join("claude"))?;
        // Ended cards leave while it runs, and the fleet finds its size: with the default it would grow for half an hour.
        let config = format!("keep.megabytes = {keep_megabytes}\ndone_minutes = 2\n");
        fs::write(folder.join("fd/config.toml"), config)?;
        let mut child = Command::new(binary)
            .args(["up", "--no-hooks", "--port", "0"])
            .env_clear()
            .env("HOME", &folder)
            .env("CLAUDE_CONFIG_DIR", folder.join("claude"))
            .env("FLIGHTDECK_HOME", folder.join("fd"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .stdin(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("the daemon has no stdout")?).read_line(&mut line)?;
        let address = line.trim().split_once("http://").map(|(_, a)| a.to_owned()).unwrap_or_default();
        let daemon = Self { child, folder, address };
        if daemon.address.is_empty() {
            bail!("the daemon did not come up; it said {line:?}");
        }
        Ok(daemon)
    }

    pub(crate) fn home(&self) -> &Path {
        &self.folder
    }

    pub(super) fn socket(&self) -> Result<BufReader<UnixStream>> {
        let run = self.folder.join("fd/run");
        let path = if run.join("daemon.sock").exists() {
            run.join("daemon.sock")
        } else {
            find_socket(&self.folder)?
        };
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(SILENCE_MAX))?;
        Ok(BufReader::new(stream))
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(SILENCE_MAX))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
        serde_json::from_str(body).with_context(|| format!("{path} answered {answer:?}"))
    }

    pub(super) fn resident_mb(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.split_whitespace().next().unwrap_or_default().parse::<f64>()? / 1024.0)
    }

    /// The database with its write-ahead log, and everything else that grew.
    pub(super) fn disk_mb(&self) -> (f64, f64) {
        let mut database = 0;
        let mut all = 0;
        sizes(&self.folder, &mut |path, bytes| {
            all += bytes;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            database += if name.starts_with("flightdeck.db") { bytes } else { 0 };
        });
        (database as f64 / 1e6, (all - database) as f64 / 1e6)
    }

    pub(super) fn log(&self) -> String {
        let mut log = String::new();
        sizes(&self.folder, &mut |path, _| {
            if path.file_name().is_some_and(|name| name == "flightdeck.log") {
                log = fs::read_to_string(path).unwrap_or_default();
            }
        });
        log
    }
}

fn sizes(folder: &Path, each: &mut impl FnMut(&Path, u64)) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(data) if data.is_dir() => sizes(&entry.path(), each),
            Ok(data) => each(&entry.path(), data.len()),
            // Gone since it was listed.
            Err(_) => {}
        }
    }
}

fn find_socket(folder: &Path) -> Result<PathBuf> {
    let mut found = None;
    sizes(folder, &mut |path, _| {
        if path.extension().is_some_and(|e| e == "sock") {
            found = Some(path.to_owned());
        }
    });
    found.context("the daemon has no socket")
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Both fail only if it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // What stays lies in the system's folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
