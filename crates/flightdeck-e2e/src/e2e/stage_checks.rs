//! What a scenario checks after a step: that the board agrees with the screen, and what the card, the log and the transcript say.

use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use flightdeck_sim::client::wait_for;
use serde_json::Value;

use super::board::SessionView;
use super::expect::{Expect, ask_differs};
use super::stage::{AGREE, ClientSeat, DRAWN, STAY, Stage};

impl Stage {
    /// Waits until the screen is as expected and the board agrees with it.
    pub(super) fn see(&mut self, seat: &ClientSeat, step: &str, expect: Expect) -> Result<()> {
        // Read first: a client that exits removes its registry entry.
        self.session(seat);
        let read = seat.tui.wait_screen(step, expect.within, |s| *s == expect.screen);
        self.keep_screen(seat, step);
        read.with_context(|| format!("{step}: expected {:?}", expect.screen))?;
        seat.note_read();
        self.tally.screens += 1;
        let id =
            self.session(seat).with_context(|| format!("{step}: the client's registry has no session"))?;
        let verdict = self.agree(step, &id, &expect)?;
        println!("  {step}: screen {:?}, {verdict}", expect.screen);
        Ok(())
    }

    /// Waits until the board shows a session without a terminal in one of these states.
    pub(super) fn see_board(&mut self, id: &str, step: &str, states: &'static [&'static str]) -> Result<()> {
        let verdict = self.agree(step, id, &super::expect::exited().board(states))?;
        println!("  {step}: {verdict}");
        Ok(())
    }

    fn agree(&mut self, step: &str, id: &str, expect: &Expect) -> Result<String> {
        if self.board.sessions()?.is_none() {
            self.tally.unjudged += 1;
            return Ok("board not judged".into());
        }
        let differs = |view: &SessionView| ask_differs(&expect.screen, &view.card);
        let fits =
            |view: &SessionView| expect.states().contains(&view.state.as_str()) && differs(view).is_none();
        let begun = Instant::now();
        let (view, took) = loop {
            let agreed = wait_for("the board", AGREE, || Ok(self.view(id)?.filter(fits)));
            let took = begun.elapsed();
            let Ok(view) = agreed else {
                let view = self.view(id)?;
                if let Some(other) = view.as_ref().and_then(differs) {
                    bail!("{step}: {other}");
                }
                bail!(
                    "{step}: the board says {view:?}, the screen {:?} allows {:?}",
                    expect.screen,
                    expect.states()
                );
            };
            std::thread::sleep(STAY);
            let later = self.view(id)?;
            if later.as_ref().is_some_and(fits) {
                break (view, took.as_millis());
            }
            if !expect.behind || took > AGREE {
                bail!(
                    "{step}: the board said {} and then {later:?}, the screen allows {:?}",
                    view.state,
                    expect.states()
                );
            }
        };
        self.no_ghosts(step)?;
        self.tally.boards += 1;
        Ok(format!("board {} · {} ({}) after {took} ms", view.group, view.state, view.label))
    }

    /// Checks that every card that is not done belongs to a session in the client's registry.
    fn no_ghosts(&self, step: &str) -> Result<()> {
        let ghosts = || -> Result<Vec<SessionView>> {
            let known = self.lab.registry();
            let cards = self.board.sessions()?.unwrap_or_default();
            Ok(cards.into_iter().filter(|c| c.group != "done" && !known.contains_key(&c.id)).collect())
        };
        let none = wait_for("no ghosts", AGREE, || Ok(ghosts()?.is_empty().then_some(())));
        none.map_err(|_| {
            anyhow::anyhow!("{step}: the board shows sessions that are not there: {:?}", ghosts())
        })
    }

    /// Checks that a session whose seat another session took has no card.
    pub(super) fn see_replaced(&mut self, id: &str, step: &str) -> Result<()> {
        if self.board.sessions()?.is_none() {
            self.tally.unjudged += 1;
            return Ok(());
        }
        wait_for("the old card to go", AGREE, || Ok(self.view(id)?.is_none().then_some(())))
            .with_context(|| format!("{step}: {:?} is still there", self.view(id)))?;
        self.tally.boards += 1;
        println!("  {step}: its card is replaced");
        Ok(())
    }

    pub(super) fn card(&self, seat: &ClientSeat) -> Result<Value> {
        self.board.card(&self.session(seat).context("no session")?)
    }

    /// How many hooks of this name the session in that terminal has sent.
    pub(super) fn heard(&self, seat: &ClientSeat, hook: &str) -> Result<usize> {
        self.heard_of(&self.session(seat).context("no session")?, hook)
    }

    /// The same for a session without a terminal.
    pub(super) fn heard_of(&self, id: &str, hook: &str) -> Result<usize> {
        self.board.heard(&self.lab, id, hook)
    }

    /// How many hooks of any name the session in that terminal has sent.
    pub(super) fn heard_at_all(&self, seat: &ClientSeat) -> Result<usize> {
        let id = self.session(seat).context("no session")?;
        let page = self.get(&format!("/api/sessions/{id}/events"))?;
        let events = page["events"].as_array().context("no events in the answer")?;
        Ok(events.iter().filter(|event| event["source"] == "hook").count())
    }

    /// Waits for at least this many hooks of this name. The state alone proves no hook: it may come from the registry.
    pub(super) fn must_hear(&self, seat: &ClientSeat, hook: &str, times: usize) -> Result<()> {
        self.must_hear_of(&self.session(seat).context("no session")?, hook, times)
    }

    /// The same for a session without a terminal.
    pub(super) fn must_hear_of(&self, id: &str, hook: &str, times: usize) -> Result<()> {
        let heard = || self.heard_of(id, hook);
        wait_for(&format!("{hook} to come"), AGREE, || Ok((heard()? >= times).then_some(())))
            .with_context(|| format!("{hook} came {:?} times of {times} from {id}", heard()))?;
        println!("  heard: {hook}, {} times", heard()?);
        Ok(())
    }

    pub(super) fn get(&self, path: &str) -> Result<Value> {
        self.board.get(path)
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Result<(u16, Value)> {
        self.board.post(path, body)
    }

    /// Waits until the card fulfils the condition.
    pub(super) fn see_card(&mut self, seat: &ClientSeat, step: &str, what: fn(&Value) -> bool) -> Result<()> {
        if self.board.sessions()?.is_none() {
            self.tally.unjudged += 1;
            return Ok(());
        }
        let id =
            self.session(seat).with_context(|| format!("{step}: the client's registry has no session"))?;
        let card = || -> Result<Option<Value>> { Ok(self.view(&id)?.map(|view| view.card)) };
        wait_for("the card", AGREE, || Ok(card()?.filter(what)))
            .with_context(|| format!("{step}: the card says {:?}", card()))?;
        self.tally.boards += 1;
        println!("  {step}: on the card");
        Ok(())
    }

    /// Checks that this rule changed the card at some point, perhaps too briefly to be observed.
    pub(super) fn see_past(&mut self, seat: &ClientSeat, step: &str, rule: &str) -> Result<()> {
        if self.board.sessions()?.is_none() {
            self.tally.unjudged += 1;
            return Ok(());
        }
        let id = self.session(seat).context("no session")?;
        let explained = self.get(&format!("/api/sessions/{id}/explain"))?;
        let mut steps = explained["history"].as_array().into_iter().flatten();
        if !steps.any(|step| step["because"]["rule"] == rule) {
            bail!("{step}: nothing says {rule:?}: {explained}");
        }
        self.tally.boards += 1;
        println!("  {step}: in the card's history");
        Ok(())
    }

    /// Waits until the client's registry says what it waits for: it is written a moment after the screen is drawn.
    pub(super) fn see_waiting(&self, seat: &ClientSeat, step: &str, waiting_for: &str) -> Result<()> {
        let id = self.session(seat).context("no session")?;
        let says_so = || self.lab.registry().get(&id).is_some_and(|entry| entry["waitingFor"] == waiting_for);
        wait_for(&format!("{step}: {waiting_for} in the registry"), DRAWN, || Ok(says_so().then_some(())))?;
        self.keep_registry();
        println!("  {step}: in the registry");
        Ok(())
    }

    /// The lines of the session's transcript so far.
    pub(super) fn transcript(&self, seat: &ClientSeat) -> Result<Vec<Value>> {
        let id = self.session(seat).context("no session")?;
        let mut lines = Vec::new();
        // There is no transcript before the first prompt.
        for project in fs::read_dir(self.lab.config_dir().join("projects")).into_iter().flatten().flatten() {
            let Ok(text) = fs::read_to_string(project.path().join(format!("{id}.jsonl"))) else { continue };
            lines.extend(text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()));
        }
        Ok(lines)
    }

    /// Waits for a transcript line of this subtype. The client writes some of them late.
    pub(super) fn see_line(&self, seat: &ClientSeat, step: &str, subtype: &str) -> Result<()> {
        let written = || Ok(self.transcript(seat)?.into_iter().find(|line| line["subtype"] == subtype));
        wait_for(&format!("{step}: a line {subtype} in the transcript"), DRAWN, written)?;
        println!("  {step}: in the transcript");
        Ok(())
    }
}
