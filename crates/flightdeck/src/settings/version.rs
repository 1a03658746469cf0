//! Finds the version of Claude Code; it determines which event names the file may contain.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use crate::program::on_path;

/// `claude --version` takes a fraction of a second; a wrapper that hangs must not block us.
const ASK_CLAUDE_MS_MAX: u64 = 5_000;
/// One line such as `2.1.325 (Claude Code)`.
const VERSION_LINE_BYTES_MAX: u64 = 4_096;
/// A registry file has about 500 bytes.
const REGISTRY_FILE_BYTES_MAX: u64 = 65_536;
/// More than the number of live sessions on any machine; further files are left over from crashes.
const REGISTRY_FILES_MAX: usize = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u16, pub u16, pub u16);

impl Version {
    /// The version that all events were measured with.
    pub const MEASURED: Version = Version(2, 1, 325);

    /// Reads the first three numbers of `2.1.325 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?.trim_start_matches('v');
        let mut numbers = word.splitn(3, '.').map(leading_number);
        Some(Self(numbers.next()??, numbers.next()??, numbers.next()??))
    }
}

fn leading_number(text: &str) -> Option<u16> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok()
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Where the version number comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "from", content = "path")]
pub enum VersionSource {
    /// From `claude --version`.
    ClaudeOnPath,
    /// From this registry file of a running session.
    Registry(PathBuf),
    /// No source was found; the events of 2.1.325 are used.
    Assumed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientVersion {
    pub number: Version,
    pub source: VersionSource,
}

impl ClientVersion {
    /// `ask_claude` returns the output of `claude --version`; tests pass their own.
    pub fn find(ask_claude: &dyn Fn() -> Option<String>, config_dir: &Path) -> Self {
        if let Some(number) = ask_claude().as_deref().and_then(Version::parse) {
            return Self { number, source: VersionSource::ClaudeOnPath };
        }
        newest_in_registry(&config_dir.join("sessions")).unwrap_or_else(Self::assumed)
    }

    pub fn assumed() -> Self {
        Self { number: Version::MEASURED, source: VersionSource::Assumed }
    }

    /// A note for the person if the version is a guess.
    pub fn note(&self) -> Option<String> {
        (self.source == VersionSource::Assumed).then(|| {
            format!(
                "no `claude` on PATH and no running session: assumed Claude Code {}. An older one may complain about \
                 event names it does not know; run `flightdeck hooks repair` once `claude` is on PATH",
                self.number
            )
        })
    }
}

impl fmt::Display for ClientVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            VersionSource::ClaudeOnPath => write!(f, "{} (claude --version)", self.number),
            VersionSource::Registry(path) => {
                write!(f, "{} (running session {})", self.number, path.display())
            }
            VersionSource::Assumed => write!(f, "{} (assumed)", self.number),
        }
    }
}

fn newest_in_registry(sessions: &Path) -> Option<ClientVersion> {
    let files = fs::read_dir(sessions).ok()?.flatten().map(|entry| entry.path());
    // Only *.json: beside each is a *.key file with a secret.
    let files = files.filter(|path| path.extension().is_some_and(|e| e == "json")).take(REGISTRY_FILES_MAX);
    let versions = files.filter_map(|path| Some((registry_version(&path)?, path)));
    let (number, path) = versions.max_by_key(|(number, _)| *number)?;
    Some(ClientVersion { number, source: VersionSource::Registry(path) })
}

fn registry_version(path: &Path) -> Option<Version> {
    #[derive(serde::Deserialize)]
    struct Entry {
        version: String,
    }
    let file = File::open(path).ok()?;
    let entry: Entry = serde_json::from_reader(file.take(REGISTRY_FILE_BYTES_MAX)).ok()?;
    Version::parse(&entry.version)
}

/// Runs `claude --version` if there is a `claude` on the PATH of `env`. Ends after five seconds at most.
pub fn ask_claude(env: &dyn Fn(&str) -> Option<OsString>) -> Option<String> {
    let claude = on_path("claude", &env("PATH")?)?;
    let deadline = Instant::now() + Duration::from_millis(ASK_CLAUDE_MS_MAX);
    let mut child = Command::new(claude)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let line = child.stdout.take().and_then(|out| first_line(out, deadline));
    finish(&mut child, deadline);
    line
}

/// Reads on a separate thread, because a grandchild may keep the pipe open for ever.
fn first_line(out: ChildStdout, deadline: Instant) -> Option<String> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        if BufReader::new(out.take(VERSION_LINE_BYTES_MAX)).read_line(&mut line).is_ok() {
            // After the deadline the receiver is gone.
            let _ = send.send(line);
        }
    });
    receive.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

/// How often the end of the child is checked: short against the time that the client takes to start.
const POLL_EVERY: Duration = Duration::from_millis(5);

fn finish(child: &mut Child, deadline: Instant) {
    while Instant::now() < deadline {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(POLL_EVERY);
    }
    // Both fail only if the child has already ended.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_claude() -> Option<String> {
        None
    }

    fn fake_claude(script: &str) -> (tempfile::TempDir, Option<String>) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("claude");
        flightdeck_sim::programs::write_script(&file, script).unwrap();
        let path = dir.path().as_os_str().to_owned();
        let said = ask_claude(&|name| (name == "PATH").then(|| path.clone()));
        (dir, said)
    }

    #[test]
    fn a_version_is_the_first_three_numbers() {
        assert_eq!(Version::parse("2.1.325 (Claude Code)"), Some(Version(2, 1, 325)));
        assert_eq!(Version::parse("v2.0.40-beta.1\n"), Some(Version(2, 0, 40)));
        for odd in ["", "claude", "2.1", "2..1", "99999.1.1"] {
            assert_eq!(Version::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn claude_on_path_wins_over_the_registry_and_the_registry_over_a_guess() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(ClientVersion::find(&no_claude, dir.path()), ClientVersion::assumed());
        let sessions = dir.path().join("sessions");
        fs::create_dir(&sessions).unwrap();
        fs::write(sessions.join("1.json"), r#"{"pid":1,"version":"2.1.9"}"#).unwrap();
        fs::write(sessions.join("2.json"), r#"{"pid":2,"version":"2.1.50"}"#).unwrap();
        fs::write(sessions.join("3.json"), "{torn").unwrap();
        fs::write(sessions.join("2.abc.key"), r#"{"version":"9.9.9"}"#).unwrap();
        let found = ClientVersion::find(&no_claude, dir.path());
        assert_eq!(found.number, Version(2, 1, 50));
        assert_eq!(found.source, VersionSource::Registry(sessions.join("2.json")));
        let asked = ClientVersion::find(&|| Some("2.0.40 (Claude Code)\n".into()), dir.path());
        assert_eq!(asked, ClientVersion { number: Version(2, 0, 40), source: VersionSource::ClaudeOnPath });
    }

    #[test]
    fn only_a_guess_comes_with_a_note() {
        assert!(ClientVersion::assumed().note().unwrap().contains("hooks repair"));
        let asked = ClientVersion { number: Version(2, 0, 40), source: VersionSource::ClaudeOnPath };
        assert_eq!(asked.note(), None);
    }

    #[test]
    fn the_first_claude_on_path_is_asked() {
        assert_eq!(
            fake_claude("echo \"2.1.7 (Claude Code) $1\"").1.unwrap(),
            "2.1.7 (Claude Code) --version\n"
        );
        assert_eq!(ask_claude(&|_| None), None);
    }

    #[test]
    fn a_hanging_claude_is_given_up_after_five_seconds() {
        let start = Instant::now();
        assert_eq!(fake_claude("exec sleep 60").1, None);
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    }
}
