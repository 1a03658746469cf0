//! Facts about a process that the kernel provides: enough to recognise it, its terminal and its parent.
//!
//! Linux reads `/proc`. Elsewhere every result is `None`.

/// Facts of a process. All are from one reading of `/proc/<pid>/stat`, so that they belong to the same process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The kernel's name for the program, at most 15 bytes.
    pub comm: String,
    pub parent: u32,
    /// The controlling terminal: `/dev/pts/3`.
    pub tty: Option<String>,
    /// Whether it is in the foreground of its terminal. True if it has no terminal.
    pub in_front: bool,
    /// When it started, in the kernel's unit. Pid and start time together identify a process until the machine restarts.
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

/// The pid namespace of this process: inside a container a pid means another process than outside.
pub fn namespace() -> Option<String> {
    std::fs::read_link("/proc/self/ns/pid").ok()?.into_os_string().into_string().ok()
}

#[cfg(target_os = "linux")]
pub fn stat(pid: u32) -> Option<Stat> {
    use rustix::fs::{Mode, OFlags};
    /// The line holds 52 numbers of at most 20 digits and a name of 15 bytes.
    const STAT_BYTES_MAX: usize = 2048;

    let path = format!("/proc/{pid}/stat");
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut line = [0; STAT_BYTES_MAX];
    // The first read returns the whole line.
    let len = rustix::io::retry_on_intr(|| rustix::io::read(&file, &mut line)).ok()?;
    parse(line.get(..len)?)
}

#[cfg(not(target_os = "linux"))]
pub fn stat(_pid: u32) -> Option<Stat> {
    None
}

/// `4242 (a (strange) name) S 1 …`: the name may contain spaces and parentheses, so it ends at the *last* parenthesis.
#[cfg(any(target_os = "linux", test))]
fn parse(line: &[u8]) -> Option<Stat> {
    let line = String::from_utf8_lossy(line);
    let (head, tail) = line.rsplit_once(')')?;
    let (_, comm) = head.split_once('(')?;
    // Fields 4 and 5, 7 and 8, and 22 of proc(5); the first field after the name is number 3.
    let mut fields = tail.split_ascii_whitespace();
    // A loop, because `nth` is a function of its own that the linker places far from the hook's code.
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

/// The path of a terminal, from its device number as the kernel packs it into `tty_nr`.
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
    fn a_process_in_the_background_is_not_in_front() {
        let in_front = |group: &str, reads: &str| {
            let line = format!("42 (claude) T 7 {group} 42 34819 {reads} 1 1 0 0 0 1 2 3 4 20 0 1 0 9 1\n");
            parse(line.as_bytes()).unwrap().in_front
        };
        assert!(in_front("42", "42") && in_front("42", "-1"));
        assert!(!in_front("42", "50"));
    }

    #[test]
    fn other_text_is_not_a_stat_line() {
        for line in [&b""[..], b"42", b"42 (", b"42 (x) S", b")(", b"\xff\xfe", b"1 (x) S a b c d e f"] {
            assert_eq!(parse(line), None, "{line:?}");
        }
    }

    #[test]
    fn terminals_have_their_path_in_dev() {
        assert_eq!(tty_name(0), None);
        assert_eq!(tty_name(4 << 8 | 1).as_deref(), Some("/dev/tty1"));
        assert_eq!(tty_name(4 << 8 | 65).as_deref(), Some("/dev/ttyS1"));
        assert_eq!(tty_name(136 << 8 | 255).as_deref(), Some("/dev/pts/255"));
        // Minor 300: its high bits are above those of the major number.
        assert_eq!(tty_name(136 << 8 | 44 | 1 << 20).as_deref(), Some("/dev/pts/300"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_facts_of_this_process_are_read() {
        let me = stat(std::process::id()).unwrap();
        assert_eq!(me.parent, std::os::unix::process::parent_id());
        assert!(me.start_time.parse::<u64>().unwrap() > 0);
        assert_eq!(stat(u32::MAX), None);
    }
}
