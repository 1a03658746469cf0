//! Link arguments of the binary on Linux with glibc: the hook's code in a section of its own, and a release binary static.
//!
//! **Section.** `build/hook.ld` puts all code that a hook runs into the section `.text.hook`. A page of code is loaded when it is
//! first used, together with its neighbours. If the code were spread over the binary, each hook would wait for thirty more
//! page faults. `tests/hook/code_placement.rs` checks the section.
//!
//! **Static.** A release binary is linked statically and at a fixed address: a hook then starts a third faster, because nothing
//! is loaded or relocated at run time. (A position-independent static binary writes to every page that holds a pointer before
//! `main`: ninety copied pages for each hook. Stack, heap and maps stay randomised.) `-C target-feature=+crt-static` cannot be
//! set for one binary: it would apply to the proc macros too. So rustc still asks for the shared libc, libm and libgcc_s, and
//! a folder that is searched first provides the archives under these names.
//!
//! The arguments are tried on a small program first. Where that does not build or run (no archives, another linker), the next
//! best arguments are tried. `FLIGHTDECK_LINK=dynamic` links without any of this.

use std::env::var;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints the link arguments. Tells the tests in `FLIGHTDECK_HOOK_SECTION` whether the binary has the section: `yes`, `no` where
/// it was not wanted, `refused` where the linker did not accept the script.
pub(crate) fn set_link_arguments(out: &Path) {
    println!("cargo::rerun-if-changed=build/link.rs");
    println!("cargo::rerun-if-changed=build/hook.ld");
    println!("cargo::rerun-if-env-changed=FLIGHTDECK_LINK");
    let section = if is_wanted() { link_as_well_as_possible(out) } else { "no" };
    println!("cargo::rustc-env=FLIGHTDECK_HOOK_SECTION={section}");
}

fn has_value(name: &str, value: &str) -> bool {
    var(name).is_ok_and(|v| v == value)
}

fn is_wanted() -> bool {
    has_value("CARGO_CFG_TARGET_OS", "linux")
        && has_value("CARGO_CFG_TARGET_ENV", "gnu")
        && var("HOST") == var("TARGET")
        && !has_value("FLIGHTDECK_LINK", "dynamic")
}

fn link_as_well_as_possible(out: &Path) -> &'static str {
    let section = var("CARGO_MANIFEST_DIR").map(|dir| format!("-T{dir}/build/hook.ld"));
    let section: Vec<String> = section.into_iter().collect();
    let folder = if has_value("PROFILE", "release") { shadow_libraries(out) } else { None };
    let statically = folder.map(|f| vec![format!("-L{}", f.display()), "-static".into(), "-no-pie".into()]);
    let both = statically.as_ref().map(|statically| [statically.clone(), section.clone()].concat());
    let candidates = [(both, "yes"), (statically, "refused"), (Some(section), "yes")];
    for (args, result) in candidates {
        if let Some(args) = args.filter(|args| a_small_program_works(out, args)) {
            args.iter().for_each(|arg| println!("cargo::rustc-link-arg-bins={arg}"));
            return result;
        }
    }
    "refused"
}

/// A folder with linker scripts that have the names of the shared libraries and refer to the archives.
fn shadow_libraries(out: &Path) -> Option<PathBuf> {
    let folder = out.join("static");
    fs::create_dir_all(&folder).ok()?;
    let (c, m) = (archive("libc.a")?, archive("libm.a")?);
    let gcc = format!("{} {} {c}", archive("libgcc_eh.a")?, archive("libgcc.a")?);
    for (name, members) in [("libc.a", &c), ("libm.a", &m), ("libgcc_s.a", &gcc)] {
        fs::write(folder.join(name), format!("GROUP({members})\n")).ok()?;
    }
    Some(folder)
}

fn archive(name: &str) -> Option<String> {
    let output = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (Path::new(&path).is_absolute() && Path::new(&path).exists()).then_some(path)
}

/// Uses what needs the most of libc: threads, a panic that unwinds, a child process and a socket.
const SMALL_PROGRAM: &str = r#"
fn main() {
    let caught = std::thread::spawn(|| std::panic::catch_unwind(|| panic!("as planned")).is_err()).join();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
    let child = std::process::Command::new("true").status().expect("a child");
    let works = caught.unwrap_or(false) && child.success() && listener.local_addr().is_ok();
    std::process::exit(if works { 0 } else { 1 });
}
"#;

fn a_small_program_works(out: &Path, args: &[String]) -> bool {
    let (source, program) = (out.join("link_test.rs"), out.join("link_test"));
    if fs::write(&source, SMALL_PROGRAM).is_err() {
        return false;
    }
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc")));
    rustc.args(["--edition", "2024", "-o"]).arg(&program).arg(&source);
    // The same flags and linker as for the binary itself.
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Some(linker) = std::env::var_os("RUSTC_LINKER") {
        let mut flag = OsString::from("-Clinker=");
        flag.push(linker);
        rustc.arg(flag);
    }
    rustc.args(args.iter().map(|arg| format!("-Clink-arg={arg}")));
    let built = rustc.output().is_ok_and(|output| output.status.success());
    built && Command::new(&program).output().is_ok_and(|output| output.status.success())
}
