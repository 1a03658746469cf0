//! The same answers with the keys of the TUI, in a terminal beside the client.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use flightdeck_sim::client::{Tui, wait_for};
use serde_json::json;

use super::{DONE, Heard, bash, ended, not_run, ran};
use crate::e2e::expect::{idle, permission};
use crate::e2e::stage::Stage;

/// The TUI's words for a key that came too soon.
const REFUSED: &str = "the request has just changed";
/// Longer than a frame takes: a key that shows nothing by then was refused again.
const TAKEN: Duration = Duration::from_secs(2);

pub(in super::super) fn answered(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    let deck = s.open_deck()?;
    let ask = bash(s, &t)?;
    s.see(&t, "asks", permission("Bash"))?;
    deck.wait_text(r"\$ .*made-by-bash", DONE)?;
    press(&deck, "y", "allowed")?;
    ran(s)?;
    ended(s, &ask, "allowed", Some("tui"))?;
    s.see(&t, "allowed", idle())?;

    let ask = bash(s, &t)?;
    deck.wait_text("y allow   d deny", DONE)?;
    let heard = Heard::now(s);
    press(&deck, "D", "why not")?;
    deck.type_text("use a drawer instead")?;
    deck.press(&["Enter"])?;
    heard.wait(s, &["use a drawer instead"])?;
    ended(s, &ask, "denied", Some("tui"))?;
    s.see(&t, "denied, and the turn went on", idle())?;
    not_run(s)?;

    press(&deck, "p", "Enter sends")?;
    deck.type_text("SCRIPT:hello from the deck")?;
    deck.press(&["Enter"])?;
    s.see_card(&t, "the prompt", |card| card["last_user_message"] == json!("SCRIPT:hello from the deck"))?;
    s.see(&t, "answered the prompt", idle())?;

    let person = deck.attach()?;
    deck.press(&["Enter"])?;
    let wanted = format!("a {}", t.tui.pane()?);
    let front = || Ok((deck.viewers()?.get(&person) == Some(&wanted)).then_some(()));
    wait_for("the client's pane in front", DONE, front).with_context(|| format!("{:?}", deck.viewers()))?;
    deck.press(&["q"])?;
    deck.wait_gone(DONE)?;
    ensure!(t.tui.is_alive(), "the client ended with the TUI");
    Ok(())
}

/// Presses a key. It is refused for a moment after the request appeared, and only then pressed again: a second `p` would be
/// part of the prompt.
pub(super) fn press(deck: &Tui, key: &str, says: &str) -> Result<()> {
    let shows = |text: &str| Ok::<_, anyhow::Error>(deck.capture()?.contains(text));
    deck.press(&[key])?;
    let replied = || Ok((shows(says)? || shows(REFUSED)?).then_some(()));
    wait_for("the TUI to take or to refuse the key", DONE, replied)?;
    let shown = || Ok(shows(says)?.then_some(()));
    wait_for(says, DONE, || {
        if shows(says)? {
            return Ok(Some(()));
        }
        deck.press(&[key])?;
        Ok(wait_for(says, TAKEN, shown).ok())
    })
}
