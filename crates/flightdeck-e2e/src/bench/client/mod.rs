//! The rows of the real client: what our hooks cost a turn, against no hooks and against `true` as the hook command.
//!
//! Every way to register hooks has a lab, an interactive client and a daemon of its own. The clients play the same turn of
//! eleven tool calls one after the other, round by round. The times are the client's own, from its transcript. Other rounds
//! only look at the screens, because reading a screen costs time too.

mod forms;
mod seat;
mod transcript;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use super::{Measured, Series};
use forms::Form;
use seat::BenchSeat;

/// Our hooks as they are registered.
pub(super) const ROW: &str = "client";
/// Other ways to register them.
pub(super) const FORMS_ROW: &str = "forms";

/// How often the turn is played. Every block starts new clients, so that one slow process does not decide.
struct ClientPlan {
    blocks: usize,
    timed: usize,
    watched: usize,
    printed: usize,
}

/// With its first turn, a client plays 16 turns of 12 requests: half of what the stand-in for the model answers.
const FULL: ClientPlan = ClientPlan { blocks: 3, timed: 10, watched: 5, printed: 4 };
const QUICK: ClientPlan = ClientPlan { blocks: 1, timed: 4, watched: 2, printed: 1 };

pub(super) fn measure(row: &str, binary: &Path, quick: bool) -> Result<Measured> {
    let client = crate::e2e::client()?;
    let forms: Vec<Form> = if row == ROW { forms::compared() } else { forms::all() };
    let plan = if quick { QUICK } else { FULL };
    let mut samples: Vec<Samples> = forms.iter().map(|form| Samples::new(form.name)).collect();
    for _ in 0..plan.blocks {
        let open = |form| BenchSeat::open(form, &client, binary);
        let mut seats = forms.iter().map(open).collect::<Result<Vec<_>>>()?;
        play(&plan, &mut seats, &mut samples)?;
    }
    Ok(Measured { row: row.to_owned(), series: samples.into_iter().flat_map(Samples::series).collect() })
}

/// One block. In each round every client plays once.
fn play(plan: &ClientPlan, seats: &mut [BenchSeat], samples: &mut [Samples]) -> Result<()> {
    let mut rounds = |count: usize, step: fn(&mut BenchSeat, &mut Samples) -> Result<()>| -> Result<()> {
        for _ in 0..count {
            seats.iter_mut().zip(samples.iter_mut()).try_for_each(|(seat, samples)| step(seat, samples))?;
        }
        Ok(())
    };
    rounds(plan.timed, |seat, samples| {
        let turn = seat.play()?;
        samples.add("turn", "ms", turn.took_ms);
        samples.add("processor", "ms", turn.processor_ms);
        turn.stop_hook_ms.into_iter().for_each(|took| samples.add("Stop hook", "ms", took));
        Ok(())
    })?;
    rounds(plan.watched, |seat, samples| {
        for (message, share) in seat.play_watched()? {
            samples.add(&message, "% of frames", share);
        }
        Ok(())
    })?;
    rounds(plan.printed, |seat, samples| {
        let print = seat.print()?;
        print.stop_hook_ms.into_iter().for_each(|took| samples.add("Stop hook in -p", "ms", took));
        print.stop_heard.into_iter().for_each(|heard| {
            samples.add("Stop heard in -p", "% of runs", if heard { 100.0 } else { 0.0 });
        });
        Ok(())
    })
}

/// The samples of one form, by what was measured.
struct Samples {
    form: &'static str,
    all: BTreeMap<String, Series>,
}

impl Samples {
    fn new(form: &'static str) -> Self {
        Self { form, all: BTreeMap::new() }
    }

    fn add(&mut self, what: &str, unit: &str, sample: f64) {
        let name = format!("{what}: {}", self.form);
        let new = || Series { name, unit: unit.to_owned(), samples: Vec::new() };
        self.all.entry(what.to_owned()).or_insert_with(new).samples.push(sample);
    }

    fn series(self) -> impl Iterator<Item = Series> {
        self.all.into_values()
    }
}
