//! The steps, quickest to fail first. Each is a command anybody can run alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Parser as _;
use serde_json::Value;

use super::Outcome;
use crate::e2e::Played;
use crate::soak;
use crate::web::{npm, with_fresh_modules, with_modules};
use crate::workspace::{build_for_stories, cargo, install, is_installed, root, target};

pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn() -> Result<Outcome>,
}

pub(super) static STEPS: &[Step] = &[
    Step { name: "fmt", about: "the code is formatted", run: fmt },
    Step { name: "gen", about: "what is generated from the code is committed", run: generated },
    Step { name: "clippy", about: "no warnings, with every feature", run: clippy },
    Step { name: "rust", about: "stories and properties of every crate", run: rust },
    Step { name: "faults", about: "1,000 seeds of the whole daemon under faults", run: faults },
    Step { name: "fuzz", about: "every parser under damaged input, 30 s each", run: fuzz },
    Step { name: "load", about: "a small load on a running daemon, judged without a clock", run: load },
    Step {
        name: "counts",
        about: "instructions of the hook and of the reducer, without a clock",
        run: counts,
    },
    Step {
        name: "pageless",
        about: "the program builds without the page, which needs no Node",
        run: pageless,
    },
    Step { name: "deny", about: "licences and sources of what comes into the binary", run: deny },
    Step { name: "web", about: "the page type-checks, builds, and its unit stories hold", run: web },
    Step { name: "browser", about: "the page in a real browser", run: browser },
    Step { name: "e2e", about: "the real client against our board, all but its slow scenarios", run: e2e },
];

fn fmt() -> Result<Outcome> {
    run(cargo().args(["fmt", "--all", "--check"]))
}

fn generated() -> Result<Outcome> {
    ourselves(&["gen", "--check"])
}

fn clippy() -> Result<Outcome> {
    let args = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    run(cargo().args(args))
}

/// The workspace as a whole: one set of features, so that what is shared is built once.
fn rust() -> Result<Outcome> {
    // The step after this plays them all, and alone: what another story forks would keep their sockets open for a moment.
    let seeds = ["--", "--skip", "simulation::"];
    // The same cases every day: a change that passes here passes everywhere. `soak` draws new ones.
    let cases = ("PROPTEST_RNG_SEED", "1");
    run(cargo().env(cases.0, cases.1).args(["test", "--workspace", "--no-fail-fast"]).args(seeds))
}

fn faults() -> Result<Outcome> {
    run(&mut soak::faults(1_000))
}

fn fuzz() -> Result<Outcome> {
    run(&mut soak::fuzz(30))
}

fn load() -> Result<Outcome> {
    run(myself(&["soak", "--smoke", "--binary"])?.arg(build_for_stories()?))
}

fn counts() -> Result<Outcome> {
    if !is_installed("valgrind") && !install("valgrind")? {
        return skipped("valgrind is not installed, and only root may install it (apt-get install valgrind)");
    }
    run(myself(&["bench", "--callgrind", "--binary"])?.arg(build_for_stories()?))
}

/// Checked, not built: the binary beside it, with the page, is what the browser and the real client are shown.
fn pageless() -> Result<Outcome> {
    run(cargo().args(["check", "--package", "flightdeck", "--no-default-features"]))
}

fn deny() -> Result<Outcome> {
    if !root().join("deny.toml").exists() {
        return skipped("there is no deny.toml");
    }
    if !is_installed("cargo-deny") {
        // Built from source it takes longer than everything else together.
        let why = "cargo-deny is not installed (cargo install cargo-deny --locked)";
        return Ok(Outcome::LeftOut(why.to_owned()));
    }
    // Advisories would need more of the network than the registries.
    run(cargo().args(["deny", "check", "bans", "licenses", "sources"]))
}

fn web() -> Result<Outcome> {
    if !has_page() {
        return skipped("there is no web/package.json");
    }
    let web = with_fresh_modules()?;
    run(npm(&web).args(["run", "build"]))?;
    run(npm(&web).args(["test"]))
}

fn browser() -> Result<Outcome> {
    if !has_page() {
        return skipped("there is no web/package.json");
    }
    let web = with_modules()?;
    let Some(chromium) = chromium()? else {
        return skipped("there is no chromium, and only root may install it (apt-get install chromium)");
    };
    let daemon = build_for_stories()?;
    let told = target().join("e2e/browser.json");
    let env = [("CHROMIUM", &chromium), ("FLIGHTDECK_BIN", &daemon), ("E2E_RESULT", &told)];
    run(npm(&web).args(["run", "e2e"]).envs(env))?;
    let told = fs::read(&told).with_context(|| format!("the browser run wrote no {}", told.display()))?;
    let flaky = flaky(&serde_json::from_slice(&told)?);
    Ok(needed_again(flaky.len(), ["story", "stories"], &flaky.join("; ")))
}

/// The stories that Playwright tried twice: it nests suites.
fn flaky(suite: &Value) -> Vec<String> {
    let all = |key: &str| suite[key].as_array().into_iter().flatten();
    let again =
        |spec: &&Value| spec["tests"].as_array().is_some_and(|t| t.iter().any(|t| t["status"] == "flaky"));
    let own = all("specs").filter(again).map(|spec| spec["title"].as_str().unwrap_or_default().to_owned());
    own.chain(all("suites").flat_map(flaky)).collect()
}

fn e2e() -> Result<Outcome> {
    println!("$ xtask e2e");
    let daemon = build_for_stories()?.into_os_string();
    match crate::e2e::run(&crate::e2e::Args::parse_from(["e2e".into(), "--flightdeck".into(), daemon]))? {
        Played::Held { again } => Ok(needed_again(again.len(), ["scenario", "scenarios"], &again.join(", "))),
        Played::Failed => bail!("a scenario failed twice, or too many failed once: see above"),
        Played::Skipped(why) => Ok(Outcome::Skipped(why)),
    }
}

fn needed_again(count: usize, [one, many]: [&str; 2], which: &str) -> Outcome {
    let kind = if count == 1 { one } else { many };
    match count {
        0 => Outcome::Passed,
        _ => Outcome::Again(format!("{count} {kind} needed a second try: {which}")),
    }
}

fn has_page() -> bool {
    root().join("web/package.json").exists()
}

/// `CHROMIUM`, else one on the path, else Debian's, which root may install.
fn chromium() -> Result<Option<PathBuf>> {
    let known = || {
        let given = std::env::var_os("CHROMIUM").map(PathBuf::from).filter(|p| p.exists());
        let usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
        given.or_else(|| usual.iter().map(PathBuf::from).find(|p| p.exists()))
    };
    if let Some(found) = known() {
        return Ok(Some(found));
    }
    install("chromium")?;
    Ok(known())
}

/// Another subcommand of this program.
fn ourselves(args: &[&str]) -> Result<Outcome> {
    run(&mut myself(args)?)
}

fn myself(args: &[&str]) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("cannot find myself")?);
    command.args(args).current_dir(root());
    Ok(command)
}

fn run(command: &mut Command) -> Result<Outcome> {
    let args: Vec<_> = command.get_args().map(|a| a.to_string_lossy().into_owned()).collect();
    let said = format!("{} {}", short(command.get_program().as_ref()), args.join(" "));
    println!("$ {said}");
    let status = command.status().with_context(|| format!("cannot run {said}"))?;
    match status.success() {
        true => Ok(Outcome::Passed),
        false => bail!("{said} ended with {status}"),
    }
}

fn short(program: &Path) -> String {
    program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn skipped(why: &str) -> Result<Outcome> {
    Ok(Outcome::Skipped(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_story_that_needed_a_second_try_is_named() {
        let spec = |title: &str, status: &str| json!({"title": title, "tests": [{"status": status}]});
        let told = json!({"suites": [
            {"specs": [spec("a", "expected")], "suites": [{"specs": [spec("b", "flaky")]}]},
            {"specs": [spec("c", "skipped")]},
        ]});
        assert_eq!(flaky(&told), ["b"]);
        let outcome = needed_again(1, ["story", "stories"], "b");
        assert_eq!(outcome, Outcome::Again("1 story needed a second try: b".to_owned()));
    }
}
