//! A tmux for tests: returns scripted answers and records the calls.

use std::collections::BTreeMap;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::pane::PaneAddress;
use super::tmux::{Tmux, TmuxError};
use crate::process;

pub(crate) struct FakeTmux {
    folder: tempfile::TempDir,
    _socket: UnixListener,
    /// The answers by command; the last one is repeated.
    answers: Mutex<BTreeMap<String, Vec<String>>>,
    calls: Mutex<Vec<String>>,
}

impl FakeTmux {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = UnixListener::bind(folder.path().join("sock")).unwrap();
        Self { folder, _socket: socket, answers: Mutex::default(), calls: Mutex::default() }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("sock")
    }

    /// Adds an answer to a command, after the earlier ones.
    pub(crate) fn answer(&self, command: &str, answer: &str) {
        self.answers.lock().unwrap().entry(command.to_owned()).or_default().push(answer.to_owned());
    }

    /// All calls except queries.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

impl Tmux for FakeTmux {
    async fn call(&self, server: &Path, args: &[&str], input: Option<&[u8]>) -> Result<String, TmuxError> {
        assert_eq!(server, self.socket());
        let queries = ["display-message", "capture-pane", "list-clients", "list-windows"];
        if !queries.contains(&args[0]) {
            let input = input.map(|i| format!(" <{}>", String::from_utf8_lossy(i))).unwrap_or_default();
            self.calls.lock().unwrap().push(args.join(" ") + &input);
        }
        let mut answers = self.answers.lock().unwrap();
        match answers.get_mut(args[0]) {
            Some(told) if told.len() > 1 => Ok(told.remove(0)),
            Some(told) => Ok(told[0].clone()),
            None => Ok(String::new()),
        }
    }
}

/// This test process in pane %5.
pub(crate) fn pane_of_this_process(tmux: &FakeTmux) -> PaneAddress {
    let pid = std::process::id();
    PaneAddress { server: tmux.socket(), pane: "%5".into(), pid, proc_start: process::start_time(pid) }
}
