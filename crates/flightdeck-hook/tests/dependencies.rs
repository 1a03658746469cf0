//! The hook starts once for each event while the client waits, so its crate may reach only what is listed here.
#![allow(clippy::unwrap_used, reason = "a test stops at its first failure")]

use std::process::Command;

/// System calls, and on macOS the temporary file for a large status line. No async runtime, no JSON library, no daemon.
const ALLOWED: [&str; 11] = [
    "flightdeck-hook",
    "rustix",
    "bitflags",
    "linux-raw-sys",
    "errno",
    "libc",
    "tempfile",
    "fastrand",
    "getrandom",
    "once_cell",
    "cfg-if",
];

#[test]
fn the_hook_crate_reaches_no_runtime_no_json_library_and_nothing_of_the_daemon() {
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--package", "flightdeck-hook", "--edges", "normal", "--prefix", "none"]);
    let output = tree.args(["--format", "{p}", "--offline"]).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree failed: {errors}");
    let tree = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"flightdeck-hook") && names.contains(&"rustix"), "cargo tree printed {names:?}");
    let others: Vec<_> = names.into_iter().filter(|name| !ALLOWED.contains(name)).collect();
    assert!(
        others.is_empty(),
        "flightdeck-hook now depends on {others:?}. Every hook pays for what this crate reaches: do without it, or add \
         it to the list in this test with the reason in Cargo.toml."
    );
}
