//! The session asks the person.

use anyhow::{Context, Result};

use super::open_asks;
use crate::e2e::expect::{
    dialog, idle, interrupted, permission, plan as plan_ready, question as asks, working,
};
use crate::e2e::stage::{ClientSeat, DRAWN, Stage};

pub(super) fn permission_yes(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bash one")?;
    s.see(&t, "asks", permission("Bash"))?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "given, done", idle())?;
    s.must_hear(&t, "PostToolUse", 1)?;
    s.prompt(&t, "SCRIPT:sleep two")?;
    s.see(&t, "asks again", permission("Bash"))?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "given, running", working().board(&["acting"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted", interrupted())
}

pub(super) fn permission_no(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bash one")?;
    s.see(&t, "asks", permission("Bash"))?;
    let screen = t.tui.capture()?;
    let no = screen.lines().find_map(|l| l.trim().strip_suffix(". No")).context("no option No")?.to_owned();
    s.answer(&t, &[&no])?;
    s.see(&t, "refused", interrupted())?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "goes on", idle())
}

pub(super) fn permission_esc(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bash one")?;
    s.see(&t, "asks", permission("Bash"))?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "refused", interrupted())?;
    s.prompt(&t, "SCRIPT:bash two")?;
    s.see(&t, "asks again", permission("Bash"))?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "given", idle())
}

pub(super) fn two_permissions(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:tworeads one")?;
    s.see(&t, "two ask", permission("Read"))?;
    t.tui.wait_text("1 of 2", DRAWN)?;
    s.must_hear(&t, "PermissionRequest", 2)?;
    s.see_card(&t, "two are open", |card| open_asks(card).count() == 2)?;
    s.answer(&t, &["Enter"])?;
    wait_for_second(&t)?;
    s.see(&t, "one is left", permission("Read"))?;
    s.see_card(&t, "one is open", |card| open_asks(card).count() == 1)?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "both given", idle())
}

/// The "1 of 2" in the corner disappears when the first is answered.
fn wait_for_second(t: &ClientSeat) -> Result<()> {
    let gone = || Ok((!t.tui.capture()?.contains("1 of 2")).then_some(()));
    flightdeck_sim::client::wait_for("the second question", DRAWN, gone)
}

pub(super) fn question(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:ask one")?;
    s.see(&t, "asks", asks())?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "answered", idle())?;
    s.must_hear(&t, "PostToolUse", 1)
}

pub(super) fn plan(s: &mut Stage) -> Result<()> {
    let t = s.open_with("a", &["--permission-mode", "plan"], &[])?;
    s.prompt(&t, "SCRIPT:plan one")?;
    s.see(&t, "shows its plan", plan_ready())?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "approved", idle())?;
    // The plan is written to a file first.
    s.must_hear(&t, "PostToolUse", 2)?;
    // The first option continues in auto mode, which the client explains about half a second later.
    s.see_line(&t, "told what auto mode is", "informational")
}

pub(super) fn menu(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    t.tui.submit("/model")?;
    s.see(&t, "a menu is open", dialog())?;
    s.see_waiting(&t, "and the client says so", "dialog open")?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "closed", idle())
}
