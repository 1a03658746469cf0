//! What is compared with the screen: our daemon's board, or a recorder that only writes hooks down.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use flightdeck_sim::client::{Lab, check};
use serde_json::{Value, json};

/// From start to the line with the address.
const DAEMON_START: Duration = Duration::from_secs(20);
/// The daemon types and waits for the client's word before it answers.
const ANSWER: Duration = Duration::from_secs(15);
/// Events of one session; a scenario has fewer.
const EVENTS_READ_MAX: usize = 500;

/// One session as the board shows it.
#[derive(Clone, Debug)]
pub(super) struct SessionView {
    pub(super) id: String,
    pub(super) group: String,
    pub(super) state: String,
    pub(super) label: String,
    /// All of it.
    pub(super) card: Value,
}

pub(super) trait Board {
    /// Registers its hooks in the lab's settings, keeping what is there.
    fn install_hooks(&self, lab: &Lab) -> Result<()>;

    /// Runs `flightdeck` with these words: what it printed. One that does not judge has no such command.
    fn run(&self, lab: &Lab, words: &[&str]) -> Result<String>;

    /// How many hooks of this name have come from a session.
    fn heard(&self, lab: &Lab, session: &str, hook: &str) -> Result<usize>;

    /// The board now; `None` if this one does not judge.
    fn sessions(&self) -> Result<Option<Vec<SessionView>>>;

    /// One session as the API has it.
    fn card(&self, id: &str) -> Result<Value>;

    /// Kills it without a word.
    fn kill(&mut self) -> Result<()>;

    /// Another one in its place, if it is gone.
    fn restart(&mut self, lab: &Lab) -> Result<()>;

    /// Anything else of the API.
    fn get(&self, path: &str) -> Result<Value>;

    /// Asks for something: the status and the answer.
    fn post(&self, path: &str, body: &Value) -> Result<(u16, Value)>;
}

/// Our daemon, over HTTP.
pub(super) struct Daemon {
    binary: std::path::PathBuf,
    child: Child,
    http: Http,
}

/// `host:port` of a board.
struct Http(String);

impl Http {
    fn get(&self, path: &str) -> Result<Value> {
        let (status, answer) = self.ask("GET", path, "")?;
        if status != 200 {
            bail!("GET {path}: {status} {answer}");
        }
        Ok(answer)
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Result<(u16, Value)> {
        let mut stream = TcpStream::connect(&self.0)?;
        stream.set_read_timeout(Some(ANSWER))?;
        let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{kind}Content-Length: {length}\r\n\r\n{body}",
            self.0
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.with_context(|| format!("{method} {path}: {head}"))?;
        let json = if body.is_empty() { Ok(Value::Null) } else { serde_json::from_str(body) };
        Ok((status, json.with_context(|| format!("{method} {path}: {status}, and no JSON: {body}"))?))
    }

    fn sessions(&self) -> Result<Vec<SessionView>> {
        let answer = self.get("/api/sessions")?;
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let view = |s: &Value| SessionView {
            id: text(&s["id"]),
            group: text(&s["agent_state"]["group"]),
            state: text(&s["agent_state"]["state"]),
            label: text(&s["agent_state"]["label"]),
            card: s.clone(),
        };
        Ok(answer["sessions"].as_array().context("no sessions in the answer")?.iter().map(view).collect())
    }
}

impl Daemon {
    pub(super) fn start(lab: &Lab, binary: &Path) -> Result<Self> {
        let env = lab.env(&[]);
        check(&env, lab.dir())?;
        let log = fs::OpenOptions::new().create(true).append(true).open(lab.dir().join("daemon.log"))?;
        let mut child = Command::new(binary)
            .args(["up", "--no-hooks", "--port", "0"])
            .current_dir(lab.cwd())
            .env_clear()
            .envs(env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .context("cannot start the daemon")?;
        let address = match address(&mut child) {
            Ok(address) => address,
            Err(e) => {
                // It may have ended by itself.
                let _ = child.kill();
                let _ = child.wait();
                let log = fs::read_to_string(lab.dir().join("daemon.log")).unwrap_or_default();
                return Err(e.context(format!("the daemon did not come up: {log}")));
            }
        };
        Ok(Self { binary: binary.to_owned(), child, http: Http(address) })
    }
}

/// The first line on stdout says where the board is.
fn address(child: &mut Child) -> Result<String> {
    let stdout = child.stdout.take().context("no stdout")?;
    let (send, lines) = mpsc::channel();
    // Reads on after the first line, so that the daemon never blocks on a full pipe.
    std::thread::spawn(move || {
        BufReader::new(stdout).lines().map_while(Result::ok).for_each(|l| drop(send.send(l)))
    });
    let line = lines.recv_timeout(DAEMON_START).context("it printed no address")?;
    address_in(&line).with_context(|| format!("no address in {line:?}"))
}

fn address_in(line: &str) -> Option<String> {
    let after = line.split("http://").nth(1)?;
    Some(after.chars().take_while(|c| !c.is_whitespace() && *c != '/').collect())
}

impl Board for Daemon {
    fn install_hooks(&self, lab: &Lab) -> Result<()> {
        self.run(lab, &["hooks", "install"]).map(drop)
    }

    fn run(&self, lab: &Lab, words: &[&str]) -> Result<String> {
        let env = lab.env(&[]);
        check(&env, lab.dir())?;
        let output = Command::new(&self.binary).args(words).env_clear().envs(env).output()?;
        if !output.status.success() {
            bail!("flightdeck {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn heard(&self, _: &Lab, session: &str, hook: &str) -> Result<usize> {
        let page = self.http.get(&format!("/api/sessions/{session}/events?limit={EVENTS_READ_MAX}"))?;
        let events = page["events"].as_array().context("no events in the answer")?;
        Ok(events.iter().filter(|event| event["source"] == "hook" && event["name"] == hook).count())
    }

    fn sessions(&self) -> Result<Option<Vec<SessionView>>> {
        self.http.sessions().map(Some)
    }

    fn card(&self, id: &str) -> Result<Value> {
        self.http.get(&format!("/api/sessions/{id}"))
    }

    fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    fn restart(&mut self, lab: &Lab) -> Result<()> {
        if self.child.try_wait()?.is_none() {
            self.kill()?;
        }
        *self = Self::start(lab, &self.binary)?;
        Ok(())
    }

    fn get(&self, path: &str) -> Result<Value> {
        self.http.get(path)
    }

    fn post(&self, path: &str, body: &Value) -> Result<(u16, Value)> {
        self.http.ask("POST", path, &body.to_string())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Both fail only if it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes every hook down, one file an event, and judges nothing else.
pub(super) struct Recorder {
    /// The names to register: one that the client does not know would stop it at its start.
    pub(super) hooks: Vec<String>,
}

impl Recorder {
    fn folder(lab: &Lab) -> std::path::PathBuf {
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
            // Beside the person's own.
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

    fn get(&self, _: &str) -> Result<Value> {
        bail!("a recorder has no API")
    }

    fn post(&self, _: &str, _: &Value) -> Result<(u16, Value)> {
        bail!("a recorder does nothing")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_in_whatever_the_daemon_prints() {
        assert_eq!(
            address_in("Flightdeck on http://127.0.0.1:47892/ (54 sessions)").as_deref(),
            Some("127.0.0.1:47892")
        );
        assert_eq!(address_in("http://127.0.0.1:1").as_deref(), Some("127.0.0.1:1"));
        assert_eq!(address_in("starting"), None);
    }

    #[test]
    fn a_board_is_read_from_the_api() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let http = Http(listener.local_addr().unwrap().to_string());
        let body = json!({"boot": "b", "n": 1, "sessions": [
            {"id": "s1", "agent_state": {"group": "needs_you", "state": "needs_permission", "label": "Permission for Bash"}},
        ]})
        .to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            assert_eq!(head[0], "GET /api/sessions HTTP/1.1");
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        });
        let sessions = http.sessions().unwrap();
        server.join().unwrap();
        assert_eq!((sessions[0].id.as_str(), sessions[0].state.as_str()), ("s1", "needs_permission"));
    }
}
