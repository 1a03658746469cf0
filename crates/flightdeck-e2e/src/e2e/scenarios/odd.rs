//! What else a person does at a terminal: commands with `!`, menus over running work, /rewind; and what happens to a client.

use std::time::Duration;

use anyhow::Result;

use crate::e2e::expect::{dialog, exited, idle, permission, working};
use crate::e2e::stage::{DRAWN, Stage};

const SHOWN: Duration = Duration::from_secs(20);
/// In the list of keys, which stands in the place of "esc to interrupt".
const LIST_OF_KEYS: &str = "for shell mode";

pub(super) fn bang(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    t.tui.press(&["!"])?;
    t.tui.submit("echo typed-by-$((40+2))")?;
    t.tui.wait_text("typed-by-42", DRAWN)?;
    s.must_hear(&t, "Stop", 2)?;
    s.see(&t, "the command ran", idle())?;
    s.see_card(&t, "the command is the last message", |card| {
        card["last_user_message"] == "! echo typed-by-$((40+2))" && card["turn_count"] == 1
    })?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "goes on", idle())?;
    s.see_card(&t, "the prompt is the last message", |card| card["last_user_message"] == "SCRIPT:hello two")
}

/// The client writes nothing when it rewinds: the next prompt shows it.
pub(super) fn rewind(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    for prompt in ["SCRIPT:hello one", "SCRIPT:hello two"] {
        s.prompt(&t, prompt)?;
        s.see(&t, "answered", idle())?;
    }
    t.tui.submit("/rewind")?;
    s.see(&t, "the menu is open", dialog())?;
    s.answer(&t, &["Up"])?;
    s.answer(&t, &["Enter"])?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "rewound", idle())?;
    t.tui.press(&["C-u"])?;
    s.prompt(&t, "SCRIPT:hello three")?;
    s.see(&t, "goes on", idle())?;
    s.see_card(&t, "the last message is on the screen", |card| {
        card["last_user_message"] == "SCRIPT:hello three"
    })
}

/// The client puts /rewind into its queue, and opens the menu after the turn.
pub(super) fn rewind_over_queue(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    t.tui.wait_text("until test -e go", SHOWN)?;
    t.tui.submit("SCRIPT:hello two")?;
    s.must_hear(&t, "UserPromptSubmit", 2)?;
    s.see_card(&t, "one waits", |card| card["queued_prompts"] == 1)?;
    t.tui.submit("/rewind")?;
    s.see(&t, "the command runs on", working().board(&["acting"]))?;
    s.see_card(&t, "two wait", |card| card["queued_prompts"] == 2)?;
    s.go()?;
    s.must_hear(&t, "Stop", 1)?;
    s.see(&t, "the menu is open after the turn", dialog().board(&["idle"]))?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "done", idle())?;
    s.see_card(&t, "none waits", |card| card["queued_prompts"] == 0)
}

pub(super) fn menus(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    t.tui.wait_text("until test -e go", SHOWN)?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    // `/config` would sometimes take a second Esc, which interrupts the turn.
    t.tui.submit("/model")?;
    s.see(&t, "/model over it", dialog().board(&["acting"]))?;
    s.answer(&t, &["Escape"])?;
    s.see(&t, "closed, the command runs on", working().board(&["acting"]))?;
    t.tui.press(&["?"])?;
    t.tui.wait_text(LIST_OF_KEYS, SHOWN)?;
    s.see(&t, "the list of keys", working().board(&["acting"]))?;
    t.tui.press(&["BSpace"])?;
    t.tui.wait_no_text(LIST_OF_KEYS, SHOWN)?;
    s.see(&t, "closed too", working().board(&["acting"]))?;
    s.go()?;
    s.see(&t, "done", idle())
}

pub(super) fn stopped_client(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:until one")?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    t.tui.signal("STOP")?;
    s.see(&t, "stopped by a signal", working().board(&["acting"]))?;
    t.tui.signal("CONT")?;
    s.go()?;
    s.see(&t, "continued and done", idle())
}

pub(super) fn deleted_folder(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    std::fs::remove_dir_all(s.lab.cwd())?;
    s.prompt(&t, "SCRIPT:hello two")?;
    s.see(&t, "answered without a folder", idle().by_registry())
}

pub(super) fn killed_in_dialog(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bash one")?;
    s.see(&t, "asks", permission("Bash"))?;
    t.tui.signal("KILL")?;
    t.tui.wait_gone(SHOWN)?;
    s.see(&t, "killed", exited())?;
    s.see_card(&t, "neither answered nor refused", |card| {
        card["asks"][0]["resolution"]["how"] == "client_died"
    })
}
