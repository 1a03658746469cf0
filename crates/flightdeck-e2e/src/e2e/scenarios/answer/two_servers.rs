//! Two clients on two tmux servers, in panes with the same id. The TUI answers, jumps and colours for the right one.

use anyhow::{Context, Result, ensure};
use flightdeck_sim::client::{Tui, wait_for};

use super::tui::press;
use super::{DONE, asked, bash, ended, made, not_run, open_asks, ran};
use crate::e2e::expect::{idle, permission, question};
use crate::e2e::stage::{ClientSeat, Stage};

pub(in super::super) fn told_apart(s: &mut Stage) -> Result<()> {
    let (a, b) = (s.open("a")?, s.open_on_second_server("b")?);
    let (pane, socket_a, socket_b) = (a.tui.pane()?, a.tui.socket()?, b.tui.socket()?);
    ensure!(b.tui.pane()? == pane && socket_a != socket_b, "{pane} {socket_a}, {} {socket_b}", b.tui.pane()?);
    for socket in [&socket_a, &socket_b] {
        s.run(&["tmux", "install", "--socket", socket])?;
    }
    let deck = s.open_deck()?;
    one_asks_and_the_other_answers_a_question(s, &a, &b, &deck)?;
    jumps_on_its_own_server(s, &a, &b, &deck)?;
    both_ask_for_the_same(s, &a, &b, &deck)?;
    deck.press(&["q"])?;
    deck.wait_gone(DONE)
}

/// `y` for the client on the second server, while the other one asks a question.
fn one_asks_and_the_other_answers_a_question(
    s: &mut Stage,
    a: &ClientSeat,
    b: &ClientSeat,
    deck: &Tui,
) -> Result<()> {
    s.prompt(a, "SCRIPT:ask one")?;
    s.see(a, "a question on the first server", question())?;
    let asked_a = asked(s, a)?;
    let asked_b = bash(s, b)?;
    s.see(b, "a permission on the second server", permission("Bash"))?;
    for seat in [a, b] {
        let (card, pane, socket) = (s.card(seat)?, seat.tui.pane()?, seat.tui.socket()?);
        let on_card = (card["seat"]["pane"].as_str(), card["seat"]["tmux_socket"].as_str());
        ensure!(on_card == (Some(&*pane), Some(&*socket)), "{on_card:?} is not {pane} on {socket}");
        coloured(seat, "attention")?;
    }
    find(s, deck, b)?;
    deck.wait_text(r"\$ .*made-by-bash", DONE)?;
    press(deck, "y", "allowed")?;
    ran(s)?;
    ended(s, &asked_b, "allowed", Some("tui"))?;
    s.see(b, "allowed on the second server", idle())?;
    coloured(b, "done")?;
    coloured(a, "attention")?;
    s.see(a, "the question on the first server is still open", question())?;
    let open = open_asks(s, a)?;
    ensure!(open.iter().any(|ask| ask["id"] == asked_a["id"]), "the question is gone: {open:?}");
    s.answer(a, &["Enter"])?;
    s.see(a, "answered in its terminal", idle())?;
    coloured(a, "done")
}

/// Enter shows the pane on the second server, and moves nothing on the first.
fn jumps_on_its_own_server(s: &Stage, a: &ClientSeat, b: &ClientSeat, deck: &Tui) -> Result<()> {
    let (first, second) = (deck.attach()?, b.tui.attach()?);
    b.tui.open_window()?;
    let before = a.tui.viewers()?;
    ensure!(b.tui.viewers()?.get(&second) != Some(&front(b)?), "the pane is in front already");
    find(s, deck, b)?;
    deck.press(&["Enter"])?;
    let wanted = front(b)?;
    let in_front = || Ok((b.tui.viewers()?.get(&second) == Some(&wanted)).then_some(()));
    wait_for("the pane on the second server in front", DONE, in_front)
        .with_context(|| format!("{:?}", b.tui.viewers()))?;
    ensure!(a.tui.viewers()? == before, "the first server changed: {:?}", a.tui.viewers());
    println!("  {second} shows {wanted} on the second server, {first} is where it was");
    Ok(())
}

fn front(seat: &ClientSeat) -> Result<String> {
    Ok(format!("{} {}", seat.tui.name(), seat.tui.pane()?))
}

/// The same request on both servers is one line of the TUI, and one key allows both.
fn both_ask_for_the_same(s: &mut Stage, a: &ClientSeat, b: &ClientSeat, deck: &Tui) -> Result<()> {
    clear_search(deck)?;
    let (asked_a, asked_b) = (bash(s, a)?, bash(s, b)?);
    s.see(a, "asks on the first server", permission("Bash"))?;
    s.see(b, "asks on the second server", permission("Bash"))?;
    not_run(s)?;
    deck.press(&["g"])?;
    deck.wait_text("y allow all 2", DONE)?;
    press(deck, "y", "allowed 2")?;
    for ask in [&asked_a, &asked_b] {
        ended(s, ask, "allowed", Some("tui"))?;
    }
    s.see(a, "allowed on the first server", idle())?;
    s.see(b, "allowed on the second server too", idle())?;
    ensure!(made(s).exists(), "no command was run");
    Ok(())
}

/// Selects the session of a terminal by a search for its id.
fn find(s: &Stage, deck: &Tui, seat: &ClientSeat) -> Result<()> {
    let id = s.session(seat).context("no session")?;
    clear_search(deck)?;
    deck.press(&["/"])?;
    deck.type_text(&id)?;
    deck.press(&["Enter"])?;
    deck.wait_text(&format!(r"\[/{id}"), DONE).map(drop)
}

/// Escape together with the next key would be Alt, so this waits until the search is gone.
fn clear_search(deck: &Tui) -> Result<()> {
    let is_shown = || Ok::<_, anyhow::Error>(deck.capture()?.contains("  [/"));
    if is_shown()? {
        deck.press(&["Escape"])?;
    }
    wait_for("no search", DONE, || Ok((!is_shown()?).then_some(())))
}

/// The colour that the daemon wrote for the pane of this terminal on its own server.
fn coloured(seat: &ClientSeat, status: &str) -> Result<()> {
    let written = || seat.tui.display("#{@flightdeck_pane}");
    wait_for(&format!("{status} on {}", seat.tui.name()), DONE, || Ok((written()? == status).then_some(())))
        .with_context(|| format!("the pane says {:?}", written()))?;
    println!("  the pane of {} on its server is coloured as {status}", seat.tui.name());
    Ok(())
}
