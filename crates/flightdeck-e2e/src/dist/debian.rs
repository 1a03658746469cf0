//! The Debian package: the common tree below `/usr`, and the plugin below `/usr/share/flightdeck`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::files::write;
use super::{VERSION, succeed};

pub(super) fn make(tree: &Path, plugin: &Path, out: &Path) -> Result<PathBuf> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root");
    copy(tree, &root.join("usr"))?;
    copy(plugin, &root.join("usr/share/flightdeck/plugin"))?;
    let architecture = succeed(Command::new("dpkg").arg("--print-architecture"))?;
    let architecture = architecture.trim();
    let control = control(architecture, &fs::read(tree.join("bin/flightdeck"))?, size_kb(&root)?);
    write(&root.join("DEBIAN/control"), control.as_bytes())?;
    let package = out.join(format!("flightdeck_{VERSION}_{architecture}.deb"));
    // gzip: every dpkg reads it, and the daily test packs a large binary.
    let options = ["--build", "--root-owner-group", "-Zgzip", "-z6"];
    succeed(Command::new("dpkg-deb").args(options).arg(&root).arg(&package))?;
    Ok(package)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().context("no folder above it")?)?;
    succeed(Command::new("cp").args(["-rp", "--"]).arg(from).arg(to)).map(drop)
}

fn size_kb(root: &Path) -> Result<u64> {
    let told = succeed(Command::new("du").args(["-sk", "--apparent-size"]).arg(root))?;
    told.split_whitespace().next().context("du printed nothing")?.parse().context("du printed no number")
}

fn control(architecture: &str, binary: &[u8], size_kb: u64) -> String {
    let libc =
        newest_glibc(binary).map_or_else(String::new, |(major, minor)| format!(" (>= {major}.{minor})"));
    format!(
        "Package: flightdeck\n\
         Version: {VERSION}\n\
         Architecture: {architecture}\n\
         Maintainer: The Flightdeck maintainers <maintainers@flightdeck.invalid>\n\
         Installed-Size: {size_kb}\n\
         Depends: libc6{libc}, libgcc-s1\n\
         Recommends: tmux\n\
         Section: devel\n\
         Priority: optional\n\
         Description: mission control for people who run many Claude Code sessions\n \
         One local daemon and one board: every session is a card in Needs You,\n \
         Running or Done. Answer requests from the browser or the terminal.\n"
    )
}

/// The newest glibc version that the binary names. A symbol version is in it as text: `GLIBC_2.34`.
fn newest_glibc(binary: &[u8]) -> Option<(u32, u32)> {
    const PREFIX: &[u8] = b"GLIBC_";
    let starts = binary.windows(PREFIX.len()).enumerate().filter(|(_, part)| *part == PREFIX);
    let version = |at: usize| {
        let text = binary.get(at + PREFIX.len()..)?;
        let end = text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        let mut numbers = std::str::from_utf8(text.get(..end)?).ok()?.split('.').map(str::parse::<u32>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    starts.filter_map(|(at, _)| version(at)).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_is_found_by_number_not_by_text() {
        assert_eq!(newest_glibc(b"..GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0"), Some((2, 34)));
        assert_eq!(newest_glibc(b"GLIBC_"), None);
    }
}
