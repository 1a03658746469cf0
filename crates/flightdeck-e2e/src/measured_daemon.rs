//! A daemon in a throw-away home, and how much memory and disk it uses.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use crate::testkit::{SocketClient, TestDaemon, TestHome};

/// Longer than any disk stalls: after this silence the daemon has failed.
const SILENCE_MAX: Duration = Duration::from_secs(60);

pub(crate) struct MeasuredDaemon {
    // Dropped first: it writes into the home.
    daemon: TestDaemon,
    home: TestHome,
}

impl MeasuredDaemon {
    pub(crate) fn start(binary: &Path, keep_megabytes: u64) -> Result<Self> {
        let home = TestHome::try_new(binary, "fd")?;
        fs::create_dir_all(home.flightdeck_home())?;
        // Ended cards leave the board during the run, so that the fleet reaches its final size.
        let config = format!("keep.megabytes = {keep_megabytes}\ndone_minutes = 2\n");
        fs::write(home.flightdeck_home().join("config.toml"), config)?;
        let daemon = home.try_up(&["--no-hooks"])?.with_timeout(SILENCE_MAX);
        Ok(Self { daemon, home })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.daemon.addr
    }

    /// The folder with everything of this run.
    pub(crate) fn folder(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn flightdeck_home(&self) -> &Path {
        self.home.flightdeck_home()
    }

    pub(crate) fn socket(&self) -> Result<SocketClient> {
        self.home.try_socket(SILENCE_MAX)
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        self.daemon.api().get_json(path)
    }

    pub(crate) fn resident_mb(&self) -> Result<f64> {
        Ok(self.daemon.try_memory()?.0 as f64 / 1024.0 / 1024.0)
    }

    /// The database with its write-ahead log, and everything else that grew.
    pub(crate) fn disk_mb(&self) -> (f64, f64) {
        let mut database = 0;
        let mut all = 0;
        sizes(self.folder(), &mut |path, bytes| {
            all += bytes;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            database += if name.starts_with("flightdeck.db") { bytes } else { 0 };
        });
        (database as f64 / 1e6, (all - database) as f64 / 1e6)
    }

    pub(crate) fn log(&self) -> String {
        let mut log = String::new();
        sizes(self.folder(), &mut |path, _| {
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
            // The file was removed after it was listed.
            Err(_) => {}
        }
    }
}
