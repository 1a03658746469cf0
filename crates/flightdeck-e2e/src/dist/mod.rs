//! `cargo xtask dist`: a tarball, a Debian package and a Claude Code plugin.

mod check;
mod clean_root;
mod debian;
mod files;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::plugin;
use crate::workspace::{cargo, succeed, target};

pub use check::check_packages;

/// The version of the workspace, which all crates share.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Debug, clap::Args)]
pub struct DistArgs {
    /// Package this binary instead of a fresh release build
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Where the packages are written [default: target/dist]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Look into each package, run what is in it, and let the real client validate the plugin
    #[arg(long)]
    check: bool,
    /// Install the Debian package in a clean root made with debootstrap, and run it there; needs root
    #[arg(long)]
    clean_root: bool,
}

/// What was made.
#[derive(Debug)]
pub struct Packages {
    pub tarball: PathBuf,
    /// `None` where there is no dpkg-deb.
    pub debian: Option<PathBuf>,
    /// The folder of the plugin.
    pub plugin: PathBuf,
}

pub fn run(args: &DistArgs) -> Result<bool> {
    let binary = match &args.binary {
        Some(binary) => {
            binary.canonicalize().with_context(|| format!("no binary at {}", binary.display()))?
        }
        None => release_build()?,
    };
    let packages = make(&binary, args.out.as_deref().unwrap_or(&target().join("dist")))?;
    let debian = packages.debian.iter();
    for path in [&packages.tarball, &packages.plugin].into_iter().chain(debian) {
        println!("{}", path.display());
    }
    if args.check {
        check_packages(&packages)?;
        check::plugin_with_client(&packages.plugin)?;
        println!("the packages are in order");
    }
    if args.clean_root {
        let debian = packages.debian.as_deref().context("there is no Debian package: dpkg-deb is missing")?;
        clean_root::install_and_run(debian)?;
        println!("the Debian package installs, runs and can be removed in a clean root");
    }
    Ok(true)
}

fn release_build() -> Result<PathBuf> {
    if !cargo().args(["build", "--release", "-p", "flightdeck"]).status()?.success() {
        bail!("the release build failed");
    }
    Ok(target().join("release/flightdeck").canonicalize()?)
}

/// Makes all packages of this binary below `out`. Packages of an earlier run are replaced.
pub fn make(binary: &Path, out: &Path) -> Result<Packages> {
    std::fs::create_dir_all(out)?;
    let folder = tempfile::tempdir()?;
    let name = format!("flightdeck-{VERSION}-{}-{}", std::env::consts::OS, std::env::consts::ARCH);
    let tree = folder.path().join(&name);
    files::stage(binary, &tree)?;
    let plugin = out.join("flightdeck-plugin");
    plugin::write(binary, &plugin)?;
    let tarball = out.join(format!("{name}.tar.gz"));
    succeed(
        Command::new("tar")
            .arg("-C")
            .arg(folder.path())
            .args(["--owner=0", "--group=0", "-czf"])
            .arg(&tarball)
            .arg(&name),
    )?;
    let debian =
        crate::workspace::is_installed("dpkg-deb").then(|| debian::make(&tree, &plugin, out)).transpose()?;
    Ok(Packages { tarball, debian, plugin })
}
