//! Links the release binary statically and at a fixed address on Linux with glibc: a hook then starts a third faster,
//! because nothing is loaded or relocated at run time. (A static binary that can lie anywhere has to write to every page
//! with a pointer in it before `main`: ninety pages copied for each hook. Stack, heap and maps stay randomised.)
//!
//! `-C target-feature=+crt-static` cannot be said for one binary: it would reach the proc macros too. So rustc goes on
//! asking for the shared libc, libm and libgcc_s, and a folder that is searched first answers with the archives. It is
//! tried on a small program first; where that does not build or run (no archives, another linker), the binary is linked
//! as always. `FLIGHTDECK_LINK=dynamic` does without.

use std::env::var;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn link_statically_if_possible(out: &Path) {
    println!("cargo::rerun-if-changed=build/static_link.rs");
    println!("cargo::rerun-if-env-changed=FLIGHTDECK_LINK");
    let is = |name: &str, value: &str| var(name).is_ok_and(|v| v == value);
    let wanted = is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("PROFILE", "release")
        && var("HOST") == var("TARGET")
        && !is("FLIGHTDECK_LINK", "dynamic");
    if !wanted {
        return;
    }
    let Some(folder) = shadow_libraries(out) else { return };
    let statically = vec![format!("-L{}", folder.display()), "-static".to_owned(), "-no-pie".to_owned()];
    // Not every linker can be told what belongs together.
    let in_order = [statically.clone(), together()].concat();
    for args in [in_order, statically] {
        if a_small_program_works(out, &args) {
            return args.iter().for_each(|arg| println!("cargo::rustc-link-arg-bins={arg}"));
        }
    }
}

/// What a hook runs is put together.
fn together() -> Vec<String> {
    println!("cargo::rerun-if-changed=build/hook.ld");
    let script = var("CARGO_MANIFEST_DIR").map(|dir| Path::new(&dir).join("build/hook.ld"));
    script.map(|script| format!("-T{}", script.display())).into_iter().collect()
}

/// Linker scripts under the names of the shared libraries, which name the archives.
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

/// Threads, a panic that unwinds, a child process and a socket: what needs the most of libc.
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
    let (source, program) = (out.join("static/try.rs"), out.join("static/try"));
    if fs::write(&source, SMALL_PROGRAM).is_err() {
        return false;
    }
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc")));
    rustc.args(["--edition", "2024", "-o"]).arg(&program).arg(&source);
    // The flags and the linker that the binary itself will get.
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
