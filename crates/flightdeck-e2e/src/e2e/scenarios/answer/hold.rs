//! No answer from the board: the hold times out, the daemon dies, print mode.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use flightdeck_sim::client::wait_for;
use serde_json::{Value, json};

use super::{DONE, answer, bash, ended, made, not_run, post, ran};
use crate::e2e::expect::{idle, permission};
use crate::e2e::scenarios::open_asks;
use crate::e2e::stage::{ClientSeat, Stage};

/// Short, but long enough to observe: the hold ends five seconds before the client would end the hook.
const HOLD_SECONDS: &str = "8";

/// Longest run without a hold, on a busy machine too. A hold would last ten minutes.
const NOT_HELD: Duration = Duration::from_secs(60);

pub(in super::super) fn timeout(s: &mut Stage) -> Result<()> {
    // The daemon already runs; it must pick up the new timeout.
    s.run(&["hooks", "install", "--hold-seconds", HOLD_SECONDS])?;
    let t = s.open("a")?;
    let ask = bash(s, &t)?;
    s.see(&t, "asks", permission("Bash"))?;
    ended(s, &ask, "timed_out", None)?;
    // Past the moment at which the client would have ended the hook.
    std::thread::sleep(Duration::from_secs(6));
    s.see(&t, "still asks", permission("Bash"))?;
    let (status, said) = post(s, &ask, &json!({"decision": "allow"}))?;
    ensure!((status, &said["resolution"]["how"]) == (409, &json!("timed_out")), "{status} {said}");
    not_run(s)?;
    s.answer(&t, &["Enter"])?;
    ran(s)?;
    s.see(&t, "yes in the terminal", idle())?;
    ended(s, &ask, "timed_out", None)
}

pub(in super::super) fn daemon_killed(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    let ask = bash(s, &t)?;
    s.see(&t, "asks", permission("Bash"))?;
    s.kill_daemon()?;
    still_asks(&t)?;
    s.answer(&t, &["Enter"])?;
    ran(s)?;
    t.tui.wait_text("The command finished", DONE)?;
    s.restart()?;
    s.see(&t, "answered while no daemon ran", idle())?;
    ended(s, &ask, "answered_in_terminal", Some("terminal"))?;

    let ask = bash(s, &t)?;
    s.see(&t, "asks", permission("Bash"))?;
    s.kill_daemon()?;
    s.restart()?;
    s.see(&t, "asks a daemon that is new", permission("Bash"))?;
    ended(s, &ask, "answer_in_terminal", None)?;
    let (status, said) = post(s, &ask, &json!({"decision": "allow"}))?;
    ensure!((status, &said["resolution"]["how"]) == (409, &json!("answer_in_terminal")), "{status} {said}");
    not_run(s)?;
    s.answer(&t, &["Enter"])?;
    ran(s)?;
    s.see(&t, "yes in the terminal", idle())?;
    ended(s, &ask, "answered_in_terminal", Some("terminal"))?;

    let ask = bash(s, &t)?;
    answer(s, &ask, json!({"decision": "allow"}), "allowed")?;
    ran(s)?;
    s.see(&t, "the new daemon answers", idle())
}

fn still_asks(t: &ClientSeat) -> Result<()> {
    std::thread::sleep(Duration::from_secs(1));
    let screen = t.tui.screen()?;
    ensure!(screen == permission("Bash").screen, "the terminal shows {screen:?}");
    Ok(())
}

/// Print mode: hooks are held only if `hold_print` is set.
pub(in super::super) fn print(s: &mut Stage) -> Result<()> {
    let args = ["--permission-mode", "default"];
    let begun = std::time::Instant::now();
    let printed = s.lab.print("SCRIPT:bash one", &args, &[])?;
    ensure!(printed.success, "{printed:?}");
    ensure!(begun.elapsed() < NOT_HELD, "it was held for {:?}", begun.elapsed());
    not_run(s)?;

    s.configure("hold_print = true\n")?;
    let (asked, printed) = std::thread::scope(|scope| {
        let lab = &s.lab;
        let printed = scope.spawn(move || lab.print("SCRIPT:bash two", &args, &[]));
        let asked = allow_any(s);
        (asked, printed.join())
    });
    let ask = asked?;
    let printed = printed.map_err(|_| anyhow::anyhow!("the client was not run"))??;
    ensure!(printed.success, "{printed:?}");
    ensure!(made(s).exists(), "it was not run: {printed:?}");
    println!("  allowed from the board, print mode said {:?}", printed.stdout.trim());
    ended(s, &ask, "allowed", Some("web"))
}

/// Allows the first ask of any session.
fn allow_any(s: &Stage) -> Result<Value> {
    let open = || {
        let all = s.get("/api/sessions")?;
        let sessions = all["sessions"].as_array().context("no sessions")?;
        Ok(sessions.iter().flat_map(open_asks).last().cloned())
    };
    let ask = wait_for("an ask in print mode", DONE, open)?;
    answer(s, &ask, json!({"decision": "allow"}), "allowed")?;
    Ok(ask)
}
