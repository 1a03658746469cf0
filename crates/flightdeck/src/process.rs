//! Facts of a process as the kernel tells them: enough to know it again, where it sits and who started it.
//!
//! Linux reads `/proc`. Elsewhere nothing is known this way, and every answer is `None`.

/// One reading of `/proc/<pid>/stat`, so that its facts belong to the same process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The kernel's name of the program, at most 15 bytes.
    pub comm: String,
    pub parent: u32,
    /// The controlling terminal: `/dev/pts/3`.
    pub tty: Option<String>,
    /// Reads its terminal: no other program is in front of it there. True where it has no terminal.
    pub in_front: bool,
    /// When it started, in the kernel's own unit: with the pid it names a process for as long as the machine is up.
    pub start_time: String,
}

pub fn start_time(pid: u32) -> Option<String> {
    stat(pid).map(|s| s.start_time)
}

pub fn parent(pid: u32) -> Option<u32> {
    stat(pid).map(|s| s.parent)
}

pub fn tty(pid: u32) -> Option<String> {
    stat(pid).and_then(|s| s.tty)
}

pub fn comm(pid: u32) -> Option<String> {
    stat(pid).map(|s| s.comm)
}

/// Which numbers this process means by a pid: in a container they are others than outside.
pub fn namespace() -> Option<String> {
    std::fs::read_link("/proc/self/ns/pid").ok()?.into_os_string().into_string().ok()
}

/// Whether this process was started to outlive its terminal (`nohup`). Where the kernel does not say, it is taken as so:
/// handling the signal would end a daemon that was meant to stay.
pub fn outlives_its_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is number 1, the lowest bit.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

#[cfg(target_os = "linux")]
pub fn stat(pid: u32) -> Option<Stat> {
    use rustix::fs::{Mode, OFlags};
    /// The line holds 52 numbers of at most 20 digits and a name of 15 bytes.
    const STAT_BYTES_MAX: usize = 2048;

    let path = format!("/proc/{pid}/stat");
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut line = [0; STAT_BYTES_MAX];
    // The kernel makes the line whole for the first read.
    let len = rustix::io::retry_on_intr(|| rustix::io::read(&file, &mut line)).ok()?;
    parse(line.get(..len)?)
}

#[cfg(not(target_os = "linux"))]
pub fn stat(_pid: u32) -> Option<Stat> {
    None
}

/// The folder a process is in.
pub fn cwd(pid: u32) -> Option<String> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?.into_os_string().into_string().ok()
}

/// SIGTERM to the process that started at `start`, and to no later one with its number. False if it is gone.
#[cfg(target_os = "linux")]
pub fn ask_to_end(pid: u32, start: &str) -> bool {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    let pid_number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let Some(fd) = pid_number.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { return false };
    // Held by the descriptor from here on.
    start_time(pid).as_deref() == Some(start) && pidfd_send_signal(fd, Signal::TERM).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub fn ask_to_end(_pid: u32, _start: &str) -> bool {
    false
}

/// Whether some process has this number. One that may not be asked is there.
pub fn exists(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

/// How often a process is looked for where the kernel cannot tell of its end.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_secs(1);

/// Returns when the process that started at `start` is gone: at once on Linux, within a second elsewhere.
pub async fn ended(pid: u32, start: Option<&str>) {
    #[cfg(target_os = "linux")]
    if ended_by_pidfd(pid, start).await.is_some() {
        return;
    }
    while exists(pid) && start.is_none_or(|start| start_time(pid).is_none_or(|now| now == start)) {
        tokio::time::sleep(LOOK_EVERY).await;
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
    // The number may have been given away between the look and the descriptor.
    if start.is_some() && start_time(pid).as_deref() != start {
        return Some(());
    }
    #[expect(
        deprecated,
        reason = "the replacement is unsafe; an OwnedFd cannot break what the old one trusts in"
    )]
    let fd = tokio::io::unix::AsyncFd::with_interest(fd, tokio::io::Interest::READABLE).ok()?;
    fd.readable().await.ok().map(|_| ())
}

/// `4242 (a (strange) name) S 1 …`: the name may hold spaces and parentheses, so it ends at the *last* one.
#[cfg(any(target_os = "linux", test))]
fn parse(line: &[u8]) -> Option<Stat> {
    let line = String::from_utf8_lossy(line);
    let (head, tail) = line.rsplit_once(')')?;
    let (_, comm) = head.split_once('(')?;
    // Numbers 4 and 5, 7 and 8, and 22 of proc(5); the first after the name is number 3.
    let mut fields = tail.split_ascii_whitespace();
    // Not `nth`: that is a function of its own, and lies far from what a hook runs.
    let mut after = |skipped: usize| {
        for _ in 0..skipped {
            fields.next()?;
        }
        fields.next()
    };
    let (parent, group) = (after(1)?, after(0)?);
    let (tty, front_group) = (after(1)?, after(0)?);
    let start_time = after(13)?;
    Some(Stat {
        comm: comm.to_owned(),
        parent: parent.parse().ok()?,
        tty: tty_name(tty.parse().ok()?),
        // −1 without a terminal.
        in_front: front_group == "-1" || group == front_group,
        start_time: start_time.to_owned(),
    })
}

/// The file of a terminal by its device number, as the kernel packs it into `tty_nr`.
#[cfg(any(target_os = "linux", test))]
fn tty_name(tty_nr: i32) -> Option<String> {
    let packed = tty_nr.cast_unsigned();
    let major = (packed >> 8) & 0xfff;
    let minor = (packed & 0xff) | ((packed >> 12) & 0xf_ff00);
    match (major, minor) {
        (136..=143, _) => Some(format!("/dev/pts/{}", (major - 136) * 256 + minor)),
        (4, 0..=63) => Some(format!("/dev/tty{minor}")),
        (4, _) => Some(format!("/dev/ttyS{}", minor - 64)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let line = b"42 (tmux: (s) x) S 7 42 42 34819 -1 4194560 1 0 0 0 1 2 3 4 20 0 1 0 987654 1 2 3\n";
        let expected = Stat {
            comm: "tmux: (s) x".into(),
            parent: 7,
            tty: Some("/dev/pts/3".into()),
            in_front: true,
            start_time: "987654".into(),
        };
        assert_eq!(parse(line), Some(expected));
    }

    #[test]
    fn a_process_behind_another_one_does_not_read_its_terminal() {
        let in_front = |group: &str, reads: &str| {
            let line = format!("42 (claude) T 7 {group} 42 34819 {reads} 1 1 0 0 0 1 2 3 4 20 0 1 0 9 1\n");
            parse(line.as_bytes()).unwrap().in_front
        };
        assert!(in_front("42", "42") && in_front("42", "-1"));
        assert!(!in_front("42", "50"));
    }

    #[test]
    fn a_line_that_is_no_stat_line_is_nothing() {
        for line in [&b""[..], b"42", b"42 (", b"42 (x) S", b")(", b"\xff\xfe", b"1 (x) S a b c d e f"] {
            assert_eq!(parse(line), None, "{line:?}");
        }
    }

    #[test]
    fn terminals_are_named_as_in_dev() {
        assert_eq!(tty_name(0), None);
        assert_eq!(tty_name(4 << 8 | 1).as_deref(), Some("/dev/tty1"));
        assert_eq!(tty_name(4 << 8 | 65).as_deref(), Some("/dev/ttyS1"));
        assert_eq!(tty_name(136 << 8 | 255).as_deref(), Some("/dev/pts/255"));
        // Minor 300: its high bits lie above the major's.
        assert_eq!(tty_name(136 << 8 | 44 | 1 << 20).as_deref(), Some("/dev/pts/300"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_process_is_known() {
        let me = stat(std::process::id()).unwrap();
        assert_eq!(me.parent, std::os::unix::process::parent_id());
        assert!(me.start_time.parse::<u64>().unwrap() > 0);
        assert_eq!(stat(u32::MAX), None);
    }
}
