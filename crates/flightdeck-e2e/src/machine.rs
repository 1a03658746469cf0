//! The machine and the tools of a measurement.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::workspace::{output_of, root};

/// Linux counts processor time in hundredths of a second.
const TICK_MS: f64 = 10.0;

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

/// Processor time of a process so far, with that of ended children: fields 14 to 17 of proc(5).
pub(crate) fn processor_ms(pid: u32) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).context("the process has ended")?;
    // The first field after the name is the third.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(4);
    Ok(fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() * TICK_MS)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_worked_has_used_the_processor() {
        let pid = std::process::id();
        let before = processor_ms(pid).unwrap();
        let mut n = 0_u64;
        while processor_ms(pid).unwrap() < before + 2.0 * TICK_MS {
            n = std::hint::black_box(n.wrapping_add(1));
        }
    }
}
