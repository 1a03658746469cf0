//! A tmux server in a test home: a real terminal.

use flightdeck_e2e::testkit::TestHome;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) struct Tmux {
    folder: PathBuf,
    /// The socket of the server.
    pub(crate) socket: PathBuf,
    env: Vec<(OsString, OsString)>,
}

/// A home whose tests need a terminal.
pub(crate) trait WithTmux {
    /// `None` where there is no tmux. In CI that is a failure.
    fn tmux(&self) -> Option<Tmux> {
        self.tmux_named("tmux")
    }
    /// A server with a socket of this name.
    fn tmux_named(&self, name: &str) -> Option<Tmux>;
}

impl WithTmux for TestHome {
    fn tmux_named(&self, name: &str) -> Option<Tmux> {
        if Command::new("tmux").arg("-V").output().is_err() {
            assert!(std::env::var("CI").is_err(), "tmux is not installed");
            eprintln!("SKIPPED: tmux is not installed");
            return None;
        }
        let bare = self.bare(Path::new("tmux"));
        let mut env: Vec<_> =
            bare.get_envs().filter_map(|(name, value)| Some((name.into(), value?.into()))).collect();
        for (name, value) in [("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TERM", "xterm-256color")] {
            env.push((name.into(), value.into()));
        }
        // Programs in a pane find the daemon by this variable.
        env.push(("FLIGHTDECK_HOME".into(), self.paths().home.into()));
        Some(Tmux { folder: self.path().to_owned(), socket: self.path().join(name), env })
    }
}

impl Tmux {
    fn command(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.env_clear().envs(self.env.iter().cloned()).current_dir(&self.folder).stdin(Stdio::null());
        tmux.args(["-f", "/dev/null", "-S"]).arg(&self.socket);
        tmux
    }

    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> String {
        let output = self.command().args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Attaches a terminal of another tmux server, which ends when the returned value is dropped.
    pub(crate) fn attach(&self, session: &str) -> Self {
        let folder = self.folder.join("outer");
        std::fs::create_dir_all(&folder).unwrap();
        let outer = Self { socket: folder.join("tmux"), folder, env: self.env.clone() };
        let inner = format!("unset TMUX; exec tmux -u -S {} attach -t {session}", self.socket.display());
        outer.run(&["new-session", "-d", "-s", "outer", "-x", "200", "-y", "50", "sh", "-c", &inner]);
        outer
    }

    /// The text in the first session's pane.
    pub(crate) fn screen(&self) -> String {
        self.screen_of("a")
    }

    /// The text in the pane of this tmux session.
    pub(crate) fn screen_of(&self, session: &str) -> String {
        self.run(&["capture-pane", "-p", "-t", &format!("={session}:")])
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // The server may have ended with its last pane.
        let _ = self.command().arg("kill-server").stderr(Stdio::null()).status();
    }
}
