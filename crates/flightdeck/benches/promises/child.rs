//! Runs a program to its end and measures time, processor time and memory.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How often its memory is read. The kernel keeps the maximum, so only its last moments are missed.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// The unit of the kernel's processor times on common Linux systems.
const TICK_MS: f64 = 10.0;

pub(crate) struct Took {
    pub(crate) wall_ms: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) peak_mb: f64,
    pub(crate) stdout: Vec<u8>,
}

pub(crate) fn run(mut command: Command) -> Result<Took> {
    let (cpu, begun) = (children_cpu_ms()?, Instant::now());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut out = child.stdout.take().context("no stdout")?;
    let reading = std::thread::spawn(move || {
        let mut stdout = Vec::new();
        out.read_to_end(&mut stdout).map(|_| stdout)
    });
    let mut peak_mb = 0.0_f64;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        peak_mb = peak_mb.max(kilobytes(child.id(), "VmHWM:").unwrap_or(0.0) / 1024.0);
        std::thread::sleep(LOOK_EVERY);
    };
    let wall_ms = crate::world::ms(begun.elapsed());
    let cpu_ms = children_cpu_ms()? - cpu;
    if !status.success() {
        bail!("{:?} ended with {status}", command.get_program());
    }
    let stdout = reading.join().map_err(|_| anyhow::anyhow!("its output could not be read"))??;
    Ok(Took { wall_ms, cpu_ms, peak_mb, stdout })
}

/// A line of `/proc/<pid>/status`; `None` once it is gone.
pub(crate) fn kilobytes(pid: u32, name: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Processor time of all children that were waited for: user time and system time.
fn children_cpu_ms() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_the_name = stat.rsplit(')').next().unwrap_or_default();
    let fields = after_the_name.split_whitespace().skip(13).take(2);
    let ticks: Vec<f64> = fields.map(str::parse).collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<f64>() * TICK_MS)
}
