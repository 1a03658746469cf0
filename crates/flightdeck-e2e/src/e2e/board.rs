//! What the client's screen is compared with: the board of our daemon, or a recorder that only stores hooks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use flightdeck_sim::client::{Lab, check_is_isolated};
use serde_json::{Value, json};

use crate::testkit::TestDaemon;
use crate::testkit::http::Api;

/// Longest reply time: the daemon types into the terminal and waits for the client before it replies.
const ANSWER: Duration = Duration::from_secs(15);
/// Events read of one session; a scenario has fewer.
const EVENTS_READ_MAX: usize = 500;

/// One session as the board shows it.
#[derive(Clone, Debug)]
pub(super) struct SessionView {
    pub(super) id: String,
    pub(super) group: String,
    pub(super) state: String,
    pub(super) label: String,
    /// The whole card as JSON.
    pub(super) card: Value,
}

pub(super) trait Board {
    /// Registers its hooks in the lab's settings, beside existing ones.
    fn install_hooks(&self, lab: &Lab) -> Result<()>;

    /// Runs `flightdeck` with these arguments; returns its output. A recorder has no such command.
    fn run(&self, lab: &Lab, words: &[&str]) -> Result<String>;

    /// The program that `run` runs. A recorder has none.
    fn binary(&self) -> Option<&Path>;

    /// How many hooks of this name a session has sent.
    fn heard(&self, lab: &Lab, session: &str, hook: &str) -> Result<usize>;

    /// The board now; `None` for a recorder.
    fn sessions(&self) -> Result<Option<Vec<SessionView>>>;

    /// The card of one session from the API.
    fn card(&self, id: &str) -> Result<Value>;

    /// Kills the daemon with SIGKILL.
    fn kill(&mut self) -> Result<()>;

    /// Starts the daemon again; kills it first if it still runs.
    fn restart(&mut self, lab: &Lab) -> Result<()>;

    /// Sends a signal (`STOP`, `CONT`) to the daemon.
    fn signal(&self, signal: &str) -> Result<()>;

    /// The daemon's port.
    fn port(&self) -> Result<u16>;

    /// Any other GET route.
    fn get(&self, path: &str) -> Result<Value>;

    /// A POST request; returns the status and the reply.
    fn post(&self, path: &str, body: &Value) -> Result<(u16, Value)>;
}

/// Our daemon, used over HTTP.
pub(super) struct DaemonBoard {
    binary: PathBuf,
    daemon: TestDaemon,
    /// How often it was started before: each start has a log of its own.
    restarts: usize,
}

impl DaemonBoard {
    pub(super) fn start(lab: &Lab, binary: &Path) -> Result<Self> {
        Self::start_again(lab, binary, 0)
    }

    fn start_again(lab: &Lab, binary: &Path, restarts: usize) -> Result<Self> {
        let env = lab.env(&[]);
        check_is_isolated(&env, lab.dir())?;
        let mut command = Command::new(binary);
        command.args(["up", "--no-hooks", "--port", "0"]);
        command.current_dir(lab.cwd()).env_clear().envs(env).stdin(Stdio::null());
        let log = match restarts {
            0 => "daemon.log".to_owned(),
            n => format!("daemon-{n}.log"),
        };
        let daemon = TestDaemon::try_start(command, &lab.dir().join(log))?.with_timeout(ANSWER);
        Ok(Self { binary: binary.to_owned(), daemon, restarts })
    }
}

fn sessions(api: &Api) -> Result<Vec<SessionView>> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let view = |card: Value| SessionView {
        id: text(&card["id"]),
        group: text(&card["agent_state"]["group"]),
        state: text(&card["agent_state"]["state"]),
        label: text(&card["agent_state"]["label"]),
        card,
    };
    Ok(api.board()?.into_iter().map(view).collect())
}

impl Board for DaemonBoard {
    fn install_hooks(&self, lab: &Lab) -> Result<()> {
        self.run(lab, &["hooks", "install"]).map(drop)
    }

    fn run(&self, lab: &Lab, words: &[&str]) -> Result<String> {
        let env = lab.env(&[]);
        check_is_isolated(&env, lab.dir())?;
        let output = Command::new(&self.binary).args(words).env_clear().envs(env).output()?;
        if !output.status.success() {
            bail!("flightdeck {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn binary(&self) -> Option<&Path> {
        Some(&self.binary)
    }

    fn heard(&self, _: &Lab, session: &str, hook: &str) -> Result<usize> {
        let page =
            self.daemon.api().get_json(&format!("/api/sessions/{session}/events?limit={EVENTS_READ_MAX}"))?;
        let events = page["events"].as_array().context("no events in the answer")?;
        Ok(events.iter().filter(|event| event["source"] == "hook" && event["name"] == hook).count())
    }

    fn sessions(&self) -> Result<Option<Vec<SessionView>>> {
        sessions(&self.daemon.api()).map(Some)
    }

    fn card(&self, id: &str) -> Result<Value> {
        self.daemon.api().get_json(&format!("/api/sessions/{id}"))
    }

    fn kill(&mut self) -> Result<()> {
        self.daemon.try_kill()
    }

    fn restart(&mut self, lab: &Lab) -> Result<()> {
        if self.daemon.is_running()? {
            self.kill()?;
        }
        *self = Self::start_again(lab, &self.binary, self.restarts + 1)?;
        Ok(())
    }

    fn signal(&self, signal: &str) -> Result<()> {
        flightdeck_sim::client::signal(self.daemon.pid(), signal)
    }

    fn port(&self) -> Result<u16> {
        Ok(self.daemon.addr.port())
    }

    fn get(&self, path: &str) -> Result<Value> {
        self.daemon.api().get_json(path)
    }

    fn post(&self, path: &str, body: &Value) -> Result<(u16, Value)> {
        let response = self.daemon.api().post(path, &body.to_string())?;
        let json = if response.body.is_empty() { Value::Null } else { response.try_json()? };
        Ok((response.status, json))
    }
}

/// Stores every hook payload, one file per event. It has no board.
pub(super) struct Recorder {
    /// The names to register. The client refuses to start with a name it does not know.
    pub(super) hooks: Vec<String>,
}

impl Recorder {
    fn folder(lab: &Lab) -> PathBuf {
        lab.dir().join("hooks")
    }
}

impl Board for Recorder {
    fn install_hooks(&self, lab: &Lab) -> Result<()> {
        let folder = Self::folder(lab);
        fs::create_dir_all(&folder)?;
        // A temporary name first: a reader never sees half an event.
        let command = format!(
            "cd '{}' && f=$(date +%s%N)-$$ && cat > \".$f\" && mv \".$f\" \"$f.json\"",
            folder.display()
        );
        let mut settings = lab.settings()?;
        for event in self.hooks.iter().map(String::as_str) {
            let ours = json!({"hooks": [{"type": "command", "command": command, "timeout": 10}]});
            // Beside the person's own handlers.
            match settings["hooks"][event].as_array_mut() {
                Some(groups) => groups.push(ours),
                None => settings["hooks"][event] = json!([ours]),
            }
        }
        lab.write_settings(&settings)
    }

    fn run(&self, _: &Lab, _: &[&str]) -> Result<String> {
        Ok(String::new())
    }

    fn binary(&self) -> Option<&Path> {
        None
    }

    fn heard(&self, lab: &Lab, session: &str, hook: &str) -> Result<usize> {
        let written = fs::read_dir(Self::folder(lab))?.flatten().map(|file| file.path());
        let written = written.filter(|path| path.extension().is_some_and(|e| e == "json"));
        let payloads = written.filter_map(|path| serde_json::from_slice::<Value>(&fs::read(path).ok()?).ok());
        Ok(payloads.filter(|p| p["session_id"] == session && p["hook_event_name"] == hook).count())
    }

    fn sessions(&self) -> Result<Option<Vec<SessionView>>> {
        Ok(None)
    }

    fn card(&self, _: &str) -> Result<Value> {
        bail!("a recorder has no cards")
    }

    fn kill(&mut self) -> Result<()> {
        bail!("a recorder does not run")
    }

    fn restart(&mut self, _: &Lab) -> Result<()> {
        bail!("a recorder does not run")
    }

    fn signal(&self, _: &str) -> Result<()> {
        bail!("a recorder does not run")
    }

    fn port(&self) -> Result<u16> {
        bail!("a recorder does not listen")
    }

    fn get(&self, _: &str) -> Result<Value> {
        bail!("a recorder has no API")
    }

    fn post(&self, _: &str, _: &Value) -> Result<(u16, Value)> {
        bail!("a recorder does nothing")
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};

    use super::*;

    #[test]
    fn a_board_is_read_from_the_api() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let api = Api { addr: listener.local_addr().unwrap(), timeout: ANSWER };
        let body = json!({"boot": "b", "n": 1, "sessions": [
            {"id": "s1", "agent_state": {"group": "needs_you", "state": "needs_permission", "label": "Permission for Bash"}},
        ]})
        .to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            assert_eq!(head[0], "GET /api/sessions HTTP/1.0");
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        });
        let sessions = sessions(&api).unwrap();
        server.join().unwrap();
        assert_eq!((sessions[0].id.as_str(), sessions[0].state.as_str()), ("s1", "needs_permission"));
    }
}
