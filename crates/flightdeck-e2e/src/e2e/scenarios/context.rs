//! Sessions that change their context, their id or their terminal; hooks that are installed late.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use flightdeck_sim::client::wait_for;
use serde_json::json;

use crate::e2e::expect::{exited, idle, working};
use crate::e2e::stage::{ClientSeat, Stage};

/// A running client reads changed settings about 1.1 s after the write; later on a busy machine.
const RELOADED: Duration = Duration::from_secs(20);
/// Turns after which the client has applied the changed settings.
const RELOAD_TURNS_MAX: usize = 5;
const SWITCH: Duration = Duration::from_secs(20);

/// Counts how often a client has read its settings again, with a hook of the person's own that stays when ours go and return.
pub(super) struct Reloads(PathBuf);

impl Reloads {
    /// Adds the hook to the settings; a client that starts from now on has it.
    pub(super) fn of_next_client(s: &Stage) -> Result<Self> {
        let file = s.lab.dir().join("reloads");
        let mut settings = s.lab.settings()?;
        let own = json!({"hooks": [{"type": "command", "command": format!("echo >> '{}'", file.display())}]});
        match settings["hooks"]["ConfigChange"].as_array_mut() {
            Some(groups) => groups.push(own),
            None => settings["hooks"]["ConfigChange"] = json!([own]),
        }
        s.lab.write_settings(&settings)?;
        Ok(Self(file))
    }

    pub(super) fn count(&self) -> usize {
        // There is no file before the first time.
        fs::read_to_string(&self.0).map_or(0, |text| text.lines().count())
    }

    pub(super) fn wait_for_more_than(&self, before: usize) -> Result<()> {
        wait_for("the client to read its settings", RELOADED, || Ok((self.count() > before).then_some(())))
    }
}

pub(super) fn wait_for_other_session(s: &Stage, t: &ClientSeat, old: &str) -> Result<String> {
    wait_for("another session in this terminal", SWITCH, || Ok(s.session(t).filter(|id| id != old)))
}

pub(super) fn clear(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    let old = s.session(&t).context("no session")?;
    t.tui.submit("/clear")?;
    wait_for_other_session(s, &t, &old)?;
    s.see(&t, "a fresh session", idle())?;
    s.must_hear_of(&old, "SessionEnd", 1)?;
    s.must_hear(&t, "SessionStart", 1)?;
    s.see_replaced(&old, "the old session")?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "answered there", idle())
}

/// The client asks first whether to give up the cached context.
pub(super) fn model(s: &mut Stage) -> Result<()> {
    let t = s.open_with("a", &["--permission-mode", "default", "--model", "opus"], &[])?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    s.see_card(&t, "the first model", |card| card["model"].as_str().is_some_and(|m| m.contains("opus")))?;
    t.tui.submit("/model sonnet")?;
    t.tui.wait_text("Switch model", SWITCH)?;
    s.answer(&t, &["Enter"])?;
    s.must_hear(&t, "PostModelSwitch", 1)?;
    s.see_card(&t, "the other model", |card| card["model"].as_str().is_some_and(|m| m.contains("sonnet")))?;
    s.see(&t, "still at its prompt", idle())?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "answered by the other", idle())?;
    s.see_card(&t, "still the other model", |card| {
        card["model"].as_str().is_some_and(|m| m.contains("sonnet"))
    })
}

pub(super) fn compact(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    for prompt in ["SCRIPT:hello one", "SCRIPT:hello two", "SCRIPT:hello three"] {
        s.prompt(&t, prompt)?;
        s.see(&t, "answered", idle())?;
    }
    s.lab.api().hold_summaries(true);
    t.tui.submit("/compact keep the numbers")?;
    s.see(&t, "compacts", working().board(&["compacting"]))?;
    s.lab.api().hold_summaries(false);
    t.tui.wait_text("Compacted", Duration::from_secs(20))?;
    s.see(&t, "compacted", idle())?;
    see_compacted(s, &t)?;
    s.prompt(&t, "SCRIPT:hello four")?;
    s.see(&t, "goes on", idle())
}

fn see_compacted(s: &mut Stage, t: &ClientSeat) -> Result<()> {
    s.must_hear(t, "PreCompact", 1)?;
    s.must_hear(t, "PostCompact", 1)?;
    s.see_card(t, "one compaction", |card| card["compactions"] == 1)
}

pub(super) fn auto_compact(s: &mut Stage) -> Result<()> {
    let small = [("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "200000")];
    let t = s.open_with("a", &["--permission-mode", "default"], &small)?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    s.prompt(&t, "SCRIPT:big two")?;
    s.see(&t, "the context is full", idle())?;
    s.lab.api().hold_summaries(true);
    s.prompt(&t, "SCRIPT:hello three")?;
    s.see(&t, "compacts by itself", working().board(&["compacting"]))?;
    s.lab.api().hold_summaries(false);
    s.see(&t, "and answered", idle())?;
    see_compacted(s, &t)
}

pub(super) fn resume(s: &mut Stage) -> Result<()> {
    let (old, id) = one_turn_then_exit(s)?;
    let t = s.open_with("b", &["--permission-mode", "default", "--resume", &id], &[])?;
    s.see(&t, "resumed", idle())?;
    ensure!(s.session(&t) == Some(id), "another id after --resume");
    s.must_hear(&t, "SessionStart", 2)?;
    drop(old);
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "goes on", idle())
}

pub(super) fn fork(s: &mut Stage) -> Result<()> {
    let (old, id) = one_turn_then_exit(s)?;
    let t = s.open_with("b", &["--permission-mode", "default", "--resume", &id, "--fork-session"], &[])?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "the fork answers", idle())?;
    ensure!(s.session(&t) != Some(id), "the fork has the old id");
    s.must_hear(&t, "SessionStart", 1)?;
    s.see(&old, "the original stays closed", exited())
}

fn one_turn_then_exit(s: &mut Stage) -> Result<(ClientSeat, String)> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    let id = s.session(&t).context("no session")?;
    t.tui.submit("/exit")?;
    s.see(&t, "closed", exited())?;
    Ok((t, id))
}

pub(super) fn in_app_resume(s: &mut Stage) -> Result<()> {
    let (_, first) = one_turn_then_exit(s)?;
    let t = s.open("b")?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "a second session", idle())?;
    let second = s.session(&t).context("no session")?;
    t.tui.submit(&format!("/resume {first}"))?;
    let now = wait_for_other_session(s, &t, &second)?;
    ensure!(now == first, "went to {now}, not to {first}");
    s.see(&t, "the first one is back", idle())?;
    s.must_hear(&t, "SessionStart", 2)?;
    s.must_hear_of(&second, "SessionEnd", 1)?;
    s.see_replaced(&second, "the second session")?;
    s.prompt(&t, "SCRIPT:hello three")?;
    s.see(&t, "goes on", idle())
}

pub(super) fn hooks_into_running(s: &mut Stage) -> Result<()> {
    let reloads = Reloads::of_next_client(s)?;
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "no hook tells of it yet", idle().by_registry())?;
    let before = reloads.count();
    s.install_hooks()?;
    reloads.wait_for_more_than(before)?;
    for _ in 0..RELOAD_TURNS_MAX {
        s.prompt(&t, "SCRIPT:hello two")?;
        s.see(&t, "another turn", idle())?;
        if s.heard(&t, "UserPromptSubmit")? > 0 && s.heard(&t, "Stop")? > 0 {
            println!("  its hooks came");
            return Ok(());
        }
    }
    bail!("no hook of a running client came in {RELOAD_TURNS_MAX} turns")
}
