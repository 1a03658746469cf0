//! Builds the page from `web/` and includes it in the binary; sets the link arguments (`build/link.rs`).
//!
//! Copies `web/` into `OUT_DIR` and builds there, so the source tree is never written to. A build of the same content is
//! reused. `FLIGHTDECK_WEB_DIST=DIR` includes a ready build instead.

#[path = "build/link.rs"]
mod link;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The sources of the page. Other files in `web/` (tests, tools) do not make it stale.
const SOURCES: [&str; 7] =
    ["src", "public", "index.html", "package.json", "package-lock.json", "vite.config.ts", "tsconfig.json"];

fn main() -> Result<()> {
    println!("cargo::rerun-if-env-changed=FLIGHTDECK_WEB_DIST");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let assets = match (std::env::var_os("CARGO_FEATURE_PAGE"), std::env::var_os("FLIGHTDECK_WEB_DIST")) {
        (None, _) => BTreeMap::new(),
        (Some(_), Some(dist)) => {
            println!("cargo::rerun-if-changed={}", Path::new(&dist).display());
            files_below(Path::new(&dist))?
        }
        (Some(_), None) => build_page(&out)?,
    };
    fs::write(out.join("assets.rs"), as_rust(&assets))?;
    link::set_link_arguments(&out);
    Ok(())
}

fn build_page(out: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let web = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../../web");
    if !web.join("package.json").exists() {
        return Err(format!("there is no page to build at {}", web.display()).into());
    }
    let mut hash = DefaultHasher::new();
    for source in SOURCES {
        let path = web.join(source);
        println!("cargo::rerun-if-changed={}", path.display());
        for (name, file) in
            if path.is_dir() { files_below(&path)? } else { BTreeMap::from([(source.into(), path)]) }
        {
            (name, fs::read(file).unwrap_or_default()).hash(&mut hash);
        }
    }
    let work = out.join(format!("web-{:016x}", hash.finish()));
    if !work.join("dist/index.html").exists() {
        copy(&web, &work)?;
        // Not `npm ci`: it refuses a lock file without the bundler's binaries for other platforms.
        npm(&work, &["install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=5"])?;
        npm(&work, &["run", "build"])?;
    }
    files_below(&work.join("dist"))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    for source in SOURCES {
        let path = from.join(source);
        let files = if path.is_dir() { files_below(&path)? } else { BTreeMap::from([(String::new(), path)]) };
        for (name, file) in files.into_iter().filter(|(_, file)| file.exists()) {
            let target = if name.is_empty() { to.join(source) } else { to.join(source).join(name) };
            fs::create_dir_all(target.parent().unwrap_or(to))?;
            fs::copy(file, target)?;
        }
    }
    let npmrc = from.join(".npmrc");
    if npmrc.exists() {
        fs::copy(npmrc, to.join(".npmrc"))?;
    }
    Ok(())
}

fn npm(dir: &Path, args: &[&str]) -> Result<()> {
    let run = Command::new("npm").args(args).current_dir(dir).output();
    let help = "To build the page, install Node 20.19 or newer with npm (Debian 13 has it: apt-get install nodejs \
                npm). To build without it: cargo build --no-default-features";
    match run {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            Err(format!("npm {} failed:\n{}\n{help}", args.join(" "), String::from_utf8_lossy(&said)).into())
        }
        Err(e) => Err(format!("npm cannot be started ({e}). {help}").into()),
    }
}

/// Files below `dir` by their path relative to it, with `/` between.
fn files_below(dir: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(dir)?.to_string_lossy().replace('\\', "/");
                found.insert(name, fs::canonicalize(&path)?);
            }
        }
    }
    Ok(found)
}

fn as_rust(assets: &BTreeMap<String, PathBuf>) -> String {
    let rows = assets.iter().map(|(name, path)| {
        format!(
            "    ({name:?}, {:?}, include_bytes!({:?})),\n",
            content_type(name),
            path.display().to_string()
        )
    });
    let rows: String = rows.collect();
    format!("/// Name, content type, bytes.\nstatic ASSETS: &[(&str, &str, &[u8])] = &[\n{rows}];\n")
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}
