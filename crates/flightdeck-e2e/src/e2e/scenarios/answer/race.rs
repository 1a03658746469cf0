//! The person at the terminal answers first, or terminal and board answer at the same moment.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use flightdeck_sim::client::wait_for;
use flightdeck_sim::screen::Screen;
use serde_json::json;

use super::{DONE, Heard, asked_all, bash, end_of, ended, made, not_run, open_asks, post, ran, too_late};
use crate::e2e::expect::{idle, interrupted, permission};
use crate::e2e::stage::{ClientSeat, DEAF, Stage};

pub(in super::super) fn terminal_first(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    let ask = bash(s, &t)?;
    s.see(&t, "asks", permission("Bash"))?;
    s.answer(&t, &["Enter"])?;
    ran(s)?;
    s.see(&t, "yes in the terminal", idle())?;
    ended(s, &ask, "answered_in_terminal", Some("terminal"))?;
    too_late(s, &ask, "answered_in_terminal")?;
    no_hook_waits(s)?;

    let ask = bash(s, &t)?;
    s.see(&t, "asks", permission("Bash"))?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "no in the terminal", interrupted())?;
    ended(s, &ask, "refused_in_terminal", Some("terminal"))?;
    too_late(s, &ask, "refused_in_terminal")?;
    no_hook_waits(s)?;
    not_run(s)?;
    asked_all(s, &t, 0).map(drop)
}

pub(in super::super) fn both_at_once(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    race(s, &t)
}

/// No hook of ours is still waiting for a verdict.
fn no_hook_waits(s: &Stage) -> Result<()> {
    let home = s.lab.flightdeck_home().display().to_string();
    let hooks = || -> Result<Vec<String>> {
        let listed = std::process::Command::new("ps").args(["-eo", "args"]).output()?;
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        Ok(text.lines().filter(|l| l.contains(" hook ") && l.contains(&home)).map(str::to_owned).collect())
    };
    wait_for("the hooks to end", DONE, || Ok(hooks()?.is_empty().then_some(())))
        .with_context(|| format!("there are {:?}", hooks()))
}

/// Milliseconds until the key and until the click. A key takes longer through tmux, and Esc longest: the client waits
/// in case it begins an escape sequence.
const STARTS: [(u64, u64); 3] = [(40, 0), (0, 0), (0, 100)];
const REFUSAL: &str = "the board was first";

/// A key and a click at the same moment, with opposite answers.
fn race(s: &mut Stage, t: &ClientSeat) -> Result<()> {
    for start in STARTS {
        for terminal_allows in [true, false] {
            one_race(s, t, terminal_allows, start)
                .with_context(|| format!("terminal allows: {terminal_allows}, {start:?}"))?;
        }
    }
    asked_all(s, t, 0).map(drop)
}

fn one_race(s: &mut Stage, t: &ClientSeat, terminal_allows: bool, start: (u64, u64)) -> Result<()> {
    let ask = bash(s, t)?;
    t.tui.wait_screen("the request", DONE, |s| matches!(s, Screen::Permission { .. }))?;
    // The dialog ignores keys at first. If it still does, the key is lost and the board wins, which is a valid result.
    std::thread::sleep(DEAF);
    let (heard, stops) = (Heard::now(s), s.heard(t, "Stop")?);
    let (key, click) = match terminal_allows {
        true => ("Enter", json!({"decision": "deny", "message": REFUSAL, "via": "web"})),
        false => ("Escape", json!({"decision": "allow", "via": "web"})),
    };
    let (pressed, said) = std::thread::scope(|scope| {
        let tui = &t.tui;
        let pressed = scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(start.0));
            tui.press(&[key])
        });
        std::thread::sleep(Duration::from_millis(start.1));
        let said = post(s, &ask, &click);
        (pressed.join(), said)
    });
    pressed.map_err(|_| anyhow::anyhow!("the key was not pressed"))??;
    let (status, said) = said?;
    let over = |screen: &Screen| matches!(screen, Screen::Idle | Screen::Interrupted);
    // Between the dialog and the call, the screen may look as if the turn had ended.
    let is_at_rest = || Ok(s.status(t).filter(|status| status == "idle"));
    wait_for("the end of the turn in the client's registry", DONE, is_at_rest)?;
    let screen = t.tui.wait_screen("the end of the race", DONE, over)?;
    let expected = match &screen {
        Screen::Idle => idle(),
        // The client marks an Esc after the end of the turn too, until its hooks of that end are done.
        _ if s.heard(t, "Stop")? > stops => interrupted().board(&["idle"]),
        _ => interrupted(),
    };
    s.see(t, "after the race", expected)?;
    let end = end_of(s, &ask)?;
    println!("  key {key}, start {start:?}: we said {status} {said}, the ask says {end}");
    let outcome = RaceOutcome { screen, did_run: made(s).exists(), told: heard.tool_results(s) };
    outcome.agrees(terminal_allows, status, end["how"].as_str().unwrap_or_default())?;
    ensure!(open_asks(s, t)?.is_empty(), "still open: {:?}", open_asks(s, t));
    Ok(())
}

/// What the client did after the race of an answer and a key.
#[derive(Debug)]
struct RaceOutcome {
    screen: Screen,
    did_run: bool,
    told: Vec<String>,
}

impl RaceOutcome {
    fn agrees(&self, terminal_allows: bool, status: u16, how: &str) -> Result<()> {
        let refused = self.told.iter().any(|told| told.contains(REFUSAL));
        let fits = match (terminal_allows, &self.screen) {
            (true, _) if refused => !self.did_run && how == "denied",
            (true, _) => self.did_run && how == "answered_in_terminal",
            (false, Screen::Idle) => self.did_run && how == "allowed",
            // Esc just after our answer ends the allowed command; the two cases cannot be told apart.
            (false, _) if status == 200 => how == "allowed" || how == "refused_in_terminal",
            (false, _) => !self.did_run && how == "refused_in_terminal",
        };
        ensure!(fits, "{self:?}, and the ask says {how}");
        Ok(())
    }
}
