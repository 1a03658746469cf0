//! The steps of `cargo xtask test`, the quickest first. `--only NAME` runs one alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Parser as _;
use serde_json::Value;

use super::StepOutcome;
use flightdeck_e2e::e2e::{self as client_suite, Played};
use flightdeck_e2e::npm::{npm, with_fresh_modules, with_modules};
use flightdeck_e2e::soak;
use flightdeck_e2e::workspace::{build_for_tests, cargo, install, is_installed, root, target};

pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn() -> Result<StepOutcome>,
}

pub(super) static STEPS: &[Step] = &[
    Step { name: "fmt", about: "the code is formatted", run: fmt },
    Step { name: "gen", about: "the generated files match the code", run: generated },
    Step { name: "map", about: "no cycle between modules, and no import in the wrong direction", run: map },
    Step { name: "words", about: "plain words in comments, texts, names and docs", run: words },
    Step { name: "clippy", about: "no warnings, with every feature", run: clippy },
    Step { name: "rust", about: "unit, integration and property tests of every crate", run: rust },
    Step { name: "faults", about: "1,000 seeds of the whole daemon under faults", run: faults },
    Step { name: "fuzz", about: "every parser under damaged input, 30 s each", run: fuzz },
    Step { name: "load", about: "a small load on a running daemon; checks counts, not times", run: load },
    Step { name: "counts", about: "instruction counts of the hook and of the reducer", run: counts },
    Step { name: "pageless", about: "the program builds without the page and without Node", run: pageless },
    Step { name: "deny", about: "licences and sources of the dependencies", run: deny },
    Step { name: "web", about: "the page: format, linter, types, build and unit tests", run: web },
    Step { name: "browser", about: "the page in a real browser", run: browser },
    Step { name: "e2e", about: "the real client against our board, all but its slow scenarios", run: e2e },
];

fn fmt() -> Result<StepOutcome> {
    run(cargo().args(["fmt", "--all", "--check"]))
}

fn generated() -> Result<StepOutcome> {
    xtask(&["gen", "--check"])
}

fn map() -> Result<StepOutcome> {
    match crate::map::check()? {
        true => generated(),
        false => bail!("a cycle between modules, or an import in the wrong direction: see above"),
    }
}

fn words() -> Result<StepOutcome> {
    match crate::words::check()? {
        true => Ok(StepOutcome::Passed),
        false => bail!("banned words: see above, with what to write instead"),
    }
}

fn clippy() -> Result<StepOutcome> {
    let args = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    run(cargo().args(args))
}

/// Tests the workspace as a whole: with one set of features, shared crates are built once.
fn rust() -> Result<StepOutcome> {
    // `faults` runs these alone: a process forked by another test would keep their sockets open for a moment.
    let seeds = ["--", "--skip", "simulation::"];
    nats_server()?;
    // A fixed seed, so that the result does not vary. `soak` draws new cases.
    let cases = ("PROPTEST_RNG_SEED", "1");
    run(cargo().env(cases.0, cases.1).args(["test", "--workspace", "--no-fail-fast"]).args(seeds))
}

/// The tests of several hosts start it themselves, on loopback in a folder of their own; without it they are skipped.
fn nats_server() -> Result<()> {
    if !is_installed("nats-server") && !install("nats-server")? {
        println!(
            "nats-server is not installed: tests of several hosts are skipped (apt-get install nats-server)"
        );
    }
    Ok(())
}

fn faults() -> Result<StepOutcome> {
    run(&mut soak::faults(1_000))
}

fn fuzz() -> Result<StepOutcome> {
    run(&mut soak::fuzz(30))
}

fn load() -> Result<StepOutcome> {
    run(xtask_command(&["soak", "--smoke", "--binary"])?.arg(build_for_tests()?))
}

fn counts() -> Result<StepOutcome> {
    if !is_installed("valgrind") && !install("valgrind")? {
        return skipped("valgrind is not installed, and only root may install it (apt-get install valgrind)");
    }
    run(xtask_command(&["bench", "--callgrind", "--binary"])?.arg(build_for_tests()?))
}

/// Checks instead of building, because a build would replace the binary that contains the page. `browser` and `e2e` use it.
fn pageless() -> Result<StepOutcome> {
    run(cargo().args(["check", "--package", "flightdeck", "--no-default-features"]))
}

fn deny() -> Result<StepOutcome> {
    if !root().join("deny.toml").exists() {
        return skipped("there is no deny.toml");
    }
    if !is_installed("cargo-deny") {
        // Building it from source takes longer than all other steps together.
        let why = "cargo-deny is not installed (cargo install cargo-deny --locked)";
        return Ok(StepOutcome::MissingTool(why.to_owned()));
    }
    // Advisories would need network access beyond the registries.
    run(cargo().args(["deny", "check", "bans", "licenses", "sources"]))
}

fn web() -> Result<StepOutcome> {
    if !has_page() {
        return skipped("there is no web/package.json");
    }
    let web = with_fresh_modules()?;
    run(npm(&web).args(["run", "lint"]))?;
    run(npm(&web).args(["run", "build"]))?;
    run(npm(&web).args(["test"]))
}

fn browser() -> Result<StepOutcome> {
    if !has_page() {
        return skipped("there is no web/package.json");
    }
    let web = with_modules()?;
    let Some(chromium) = chromium()? else {
        return skipped("there is no chromium, and only root may install it (apt-get install chromium)");
    };
    nats_server()?;
    let daemon = build_for_tests()?;
    let told = target().join("e2e/browser.json");
    let env = [("CHROMIUM", &chromium), ("FLIGHTDECK_BIN", &daemon), ("E2E_RESULT", &told)];
    run(npm(&web).args(["run", "e2e"]).envs(env))?;
    let told = fs::read(&told).with_context(|| format!("the browser run wrote no {}", told.display()))?;
    let flaky = flaky(&serde_json::from_slice(&told)?);
    Ok(needed_again(flaky.len(), ["test", "tests"], &flaky.join("; ")))
}

/// The tests that Playwright ran twice, in nested suites.
fn flaky(suite: &Value) -> Vec<String> {
    let all = |key: &str| suite[key].as_array().into_iter().flatten();
    let again =
        |spec: &&Value| spec["tests"].as_array().is_some_and(|t| t.iter().any(|t| t["status"] == "flaky"));
    let own = all("specs").filter(again).map(|spec| spec["title"].as_str().unwrap_or_default().to_owned());
    own.chain(all("suites").flat_map(flaky)).collect()
}

fn e2e() -> Result<StepOutcome> {
    println!("$ xtask e2e");
    let daemon = build_for_tests()?.into_os_string();
    match client_suite::run(&client_suite::ScenarioArgs::parse_from([
        "e2e".into(),
        "--flightdeck".into(),
        daemon,
    ]))? {
        Played::Held { again } => Ok(needed_again(again.len(), ["scenario", "scenarios"], &again.join(", "))),
        Played::Failed => bail!("a scenario failed twice, or too many failed once: see above"),
        Played::Skipped(why) => Ok(StepOutcome::Skipped(why)),
    }
}

fn needed_again(count: usize, [one, many]: [&str; 2], which: &str) -> StepOutcome {
    let kind = if count == 1 { one } else { many };
    match count {
        0 => StepOutcome::Passed,
        _ => StepOutcome::Retried(format!("{count} {kind} needed a second try: {which}")),
    }
}

fn has_page() -> bool {
    root().join("web/package.json").exists()
}

/// `CHROMIUM`, else an installed browser, else Debian's package, which root may install.
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
fn xtask(args: &[&str]) -> Result<StepOutcome> {
    run(&mut xtask_command(args)?)
}

fn xtask_command(args: &[&str]) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.args(args).current_dir(root());
    Ok(command)
}

fn run(command: &mut Command) -> Result<StepOutcome> {
    let args: Vec<_> = command.get_args().map(|a| a.to_string_lossy().into_owned()).collect();
    let said = format!("{} {}", program_name(command.get_program().as_ref()), args.join(" "));
    println!("$ {said}");
    let status = command.status().with_context(|| format!("cannot run {said}"))?;
    match status.success() {
        true => Ok(StepOutcome::Passed),
        false => bail!("{said} ended with {status}"),
    }
}

fn program_name(program: &Path) -> String {
    program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn skipped(why: &str) -> Result<StepOutcome> {
    Ok(StepOutcome::Skipped(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_test_that_needed_a_second_try_is_named() {
        let spec = |title: &str, status: &str| json!({"title": title, "tests": [{"status": status}]});
        let told = json!({"suites": [
            {"specs": [spec("a", "expected")], "suites": [{"specs": [spec("b", "flaky")]}]},
            {"specs": [spec("c", "skipped")]},
        ]});
        assert_eq!(flaky(&told), ["b"]);
        let outcome = needed_again(1, ["test", "tests"], "b");
        assert_eq!(outcome, StepOutcome::Retried("1 test needed a second try: b".to_owned()));
    }
}
