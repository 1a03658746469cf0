//! The machine and the tools of a measurement.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::workspace::{output_of, root};

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    cpu: String,
    cores: usize,
    kernel: String,
    /// Load average of the minute before the run: a busy machine widens every spread.
    load: String,
    rustc: String,
    commit: String,
    /// The day in UTC.
    date: String,
    curl: String,
    /// How the binary is linked.
    binary: String,
}

impl Machine {
    pub(crate) fn read(binary: &Path) -> Self {
        let unknown = || "unknown".to_owned();
        let say = |program: &str, args: &[&str]| output_of(program, args).unwrap_or_else(unknown);
        let first_words =
            |text: String, n: usize| text.split_whitespace().take(n).collect::<Vec<_>>().join(" ");
        let root = root().display().to_string();
        Self {
            cpu: cpu().unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            kernel: say("uname", &["-sr"]),
            load: std::fs::read_to_string("/proc/loadavg").map_or_else(|_| unknown(), |t| first_words(t, 1)),
            rustc: first_words(say("rustc", &["--version"]), 2),
            commit: say("git", &["-C", &root, "describe", "--always", "--dirty"]),
            date: say("date", &["-u", "+%F"]),
            curl: first_words(say("curl", &["--version"]), 2),
            binary: linked(binary),
        }
    }
}

fn cpu() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Size and linkage. A dynamic binary names its interpreter in its first bytes.
fn linked(binary: &Path) -> String {
    let Ok(bytes) = std::fs::read(binary) else { return "unknown".to_owned() };
    let head = &bytes[..bytes.len().min(4096)];
    let dynamic = head.windows(9).any(|w| w == b"/ld-linux" || w == b"/ld-musl-");
    format!("{} KB, {}", bytes.len() / 1024, if dynamic { "dynamic" } else { "static" })
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} · {} cores · {} · load {}", self.cpu, self.cores, self.kernel, self.load)?;
        write!(f, "{} · commit {} · {} · {}", self.rustc, self.commit, self.date, self.curl)?;
        write!(f, " · binary {}", self.binary)
    }
}
