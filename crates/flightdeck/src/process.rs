//! What the daemon asks the kernel about processes, beside the facts that the hook reads too.

pub use flightdeck_hook::process::{Stat, comm, namespace, parent, start_time, stat, tty};

/// Whether this process ignores SIGHUP (`nohup`). True where the kernel does not say: handling the signal would end a daemon
/// that is meant to survive its terminal.
pub fn outlives_its_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is number 1, the lowest bit.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

/// The working directory of a process.
pub fn cwd(pid: u32) -> Option<String> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?.into_os_string().into_string().ok()
}

/// Sends SIGTERM to the process that started at `start`, and to no later one with the same pid. False if it is gone.
#[cfg(target_os = "linux")]
pub fn ask_to_end(pid: u32, start: &str) -> bool {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    let pid_number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let Some(fd) = pid_number.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { return false };
    // From here on the descriptor refers to this process only.
    start_time(pid).as_deref() == Some(start) && pidfd_send_signal(fd, Signal::TERM).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub fn ask_to_end(_pid: u32, _start: &str) -> bool {
    false
}

/// Whether a process has this pid. A process that may not be signalled exists.
pub fn exists(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

/// How often a process is checked where the kernel cannot report its end.
const POLL_EVERY: std::time::Duration = std::time::Duration::from_secs(1);

/// Returns when the process that started at `start` is gone: at once on Linux, within a second elsewhere.
pub async fn wait_until_ended(pid: u32, start: Option<&str>) {
    #[cfg(target_os = "linux")]
    if ended_by_pidfd(pid, start).await.is_some() {
        return;
    }
    while exists(pid) && start.is_none_or(|start| start_time(pid).is_none_or(|now| now == start)) {
        tokio::time::sleep(POLL_EVERY).await;
    }
}

/// `None` where the kernel or a limit refuses such a descriptor.
#[cfg(target_os = "linux")]
async fn ended_by_pidfd(pid: u32, start: Option<&str>) -> Option<()> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let fd = match pidfd_open(Pid::from_raw(i32::try_from(pid).ok()?)?, PidfdFlags::NONBLOCK) {
        Ok(fd) => fd,
        Err(rustix::io::Errno::SRCH) => return Some(()),
        Err(_) => return None,
    };
    // The pid may have been reused before the descriptor was opened.
    if start.is_some() && start_time(pid).as_deref() != start {
        return Some(());
    }
    #[expect(deprecated, reason = "the replacement is unsafe; an OwnedFd fulfils what the old one requires")]
    let fd = tokio::io::unix::AsyncFd::with_interest(fd, tokio::io::Interest::READABLE).ok()?;
    fd.readable().await.ok().map(|_| ())
}
