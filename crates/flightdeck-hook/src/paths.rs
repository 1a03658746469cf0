//! Where Flightdeck keeps its files. A hook handler has to carry only one of these paths.
//!
//! `FLIGHTDECK_HOME=DIR` (or `--home DIR`) moves everything below DIR. Without it the XDG folders are used, and the data
//! folder is the *home* that handlers carry: its `run` is a link to the runtime folder. So a hook finds the socket in every
//! environment that the client may have been started in.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Longest socket path we bind: the kernel takes 108 bytes, macOS 104.
pub const SOCKET_PATH_BYTES_MAX: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The data folder, which `--home` carries.
    pub home: PathBuf,
    pub config: PathBuf,
    pub logs: PathBuf,
    /// The folder that holds the socket, mode 0700. `home/run` is this folder or a link to it.
    pub runtime: PathBuf,
}

#[derive(Debug)]
pub struct NoHome;

impl fmt::Display for NoHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "neither FLIGHTDECK_HOME nor HOME is set: pass --home DIR to say where Flightdeck keeps its files",
        )
    }
}

impl std::error::Error for NoHome {}

impl Paths {
    /// `home` is the `--home` flag; `env` looks up a variable.
    pub fn resolve(home: Option<&Path>, env: impl Fn(&str) -> Option<OsString>) -> Result<Self, NoHome> {
        let var = |name: &str| env(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        if let Some(dir) = home.map(Path::to_owned).or_else(|| var("FLIGHTDECK_HOME")) {
            return Ok(Self::in_home(&std::path::absolute(&dir).unwrap_or(dir)));
        }
        let user = var("HOME");
        let xdg = |name: &str, below: &str| {
            var(name)
                .filter(|p| p.is_absolute())
                .or_else(|| user.as_ref().map(|h| h.join(below)))
                .map(|p| p.join("flightdeck"))
                .ok_or(NoHome)
        };
        let home = xdg("XDG_DATA_HOME", ".local/share")?;
        let runtime = var("XDG_RUNTIME_DIR").filter(|p| p.is_absolute()).map(|p| p.join("flightdeck"));
        Ok(Self {
            config: xdg("XDG_CONFIG_HOME", ".config")?.join("config.toml"),
            logs: xdg("XDG_STATE_HOME", ".local/state")?,
            runtime: runtime.unwrap_or_else(|| home.join("run")),
            home,
        })
    }

    /// Everything below one folder.
    pub fn in_home(dir: &Path) -> Self {
        Self {
            home: dir.to_owned(),
            config: dir.join("config.toml"),
            logs: dir.join("state"),
            runtime: dir.join("run"),
        }
    }

    pub fn database(&self) -> PathBuf {
        self.home.join("flightdeck.db")
    }
    pub fn spool(&self) -> PathBuf {
        self.home.join("spool")
    }
    pub fn backups(&self) -> PathBuf {
        self.home.join("backups")
    }
    /// Where the daemon binds, and where a hook that knows only `--home` finds the socket.
    pub fn socket(&self) -> PathBuf {
        socket_of(&self.home)
    }
    /// Pid, port and version of the running daemon.
    pub fn daemon_file(&self) -> PathBuf {
        self.home.join("run").join("daemon.json")
    }
}

/// The socket of a home: `run/daemon.sock`, or a private folder in /tmp where that is too long for the kernel.
pub fn socket_of(home: &Path) -> PathBuf {
    let plain = home.join("run").join("daemon.sock");
    if plain.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        plain
    } else {
        short_folder(home).join("daemon.sock")
    }
}

/// `/tmp/flightdeck-<uid>-<hash of home>`: the same for the daemon and every hook, with any TMPDIR.
fn short_folder(home: &Path) -> PathBuf {
    let hash = fnv1a(home.as_os_str().as_bytes());
    PathBuf::from(format!("/tmp/flightdeck-{}-{hash:016x}", rustix::process::getuid().as_raw()))
}

/// FNV-1a. The standard library's hash may change between two versions of the binary.
fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env<'a>(vars: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(*v))
    }

    #[test]
    fn a_home_moves_everything_below_it() {
        let paths = Paths::resolve(None, env(&[("FLIGHTDECK_HOME", "/f"), ("HOME", "/h")])).unwrap();
        assert_eq!(paths, Paths::in_home(Path::new("/f")));
        assert_eq!(paths.socket(), Path::new("/f/run/daemon.sock"));
    }

    #[test]
    fn the_flag_wins_over_the_environment() {
        let paths = Paths::resolve(Some(Path::new("/g")), env(&[("FLIGHTDECK_HOME", "/f")])).unwrap();
        assert_eq!(paths.home, Path::new("/g"));
    }

    #[test]
    fn a_hook_finds_the_socket_by_the_data_folder_alone() {
        let paths = Paths::resolve(None, env(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/run/user/1")])).unwrap();
        assert_eq!(paths.runtime, Path::new("/run/user/1/flightdeck"));
        assert_eq!(paths.socket(), socket_of(Path::new("/h/.local/share/flightdeck")));
    }

    #[test]
    fn a_long_home_gets_a_short_socket() {
        let long = PathBuf::from(format!("/{}", "x".repeat(120)));
        assert!(socket_of(&long).as_os_str().len() <= SOCKET_PATH_BYTES_MAX);
        assert_ne!(socket_of(&long), socket_of(&long.join("y")));
    }

    #[test]
    fn the_hash_of_a_home_equals_the_hash_of_the_core() {
        for text in ["", "foobar", "/home/dev/ü"] {
            assert_eq!(fnv1a(text.as_bytes()), flightdeck_core::fnv::Fnv::hash_bytes(text.as_bytes()));
        }
    }

    #[test]
    fn without_any_home_the_error_says_what_to_do() {
        assert!(Paths::resolve(None, |_| None).unwrap_err().to_string().contains("--home DIR"));
    }
}
