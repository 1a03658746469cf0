//! The rows of the real client: what our hooks cost a turn, against no hooks and against `true` as the hook command.
//!
//! Every way to register hooks has a lab, an interactive client and, if it needs one, a daemon of its own. The clients play
//! the same turn of eleven tool calls one after the other, round by round. The times are the client's own, from its
//! transcript. Other rounds only look at the screens, because reading a screen costs time too.

mod forms;
mod seat;

use std::path::Path;

use anyhow::Result;

use super::{Measured, Series};
use forms::Form;
use seat::Seat;

/// Our hooks as they are registered.
pub(super) const ROW: &str = "client";
/// Other ways to register them.
pub(super) const FORMS_ROW: &str = "forms";

/// How often the turn is played. Every block starts new clients, so that one slow process does not decide.
struct Plan {
    blocks: usize,
    timed: usize,
    watched: usize,
}

/// With its first turn, a client plays 16 turns of 12 requests: half of what the stand-in for the model answers.
const FULL: Plan = Plan { blocks: 3, timed: 10, watched: 5 };
const QUICK: Plan = Plan { blocks: 1, timed: 5, watched: 3 };

pub(super) fn measure(row: &str, binary: &Path, quick: bool) -> Result<Measured> {
    let client = crate::e2e::client()?;
    let forms: Vec<Form> = if row == ROW { forms::compared() } else { forms::all() };
    let plan = if quick { QUICK } else { FULL };
    let mut samples: Vec<Samples> = forms.iter().map(|form| Samples::new(form.name)).collect();
    for _ in 0..plan.blocks {
        let mut seats = forms.iter().map(|form| Seat::open(form, &client, binary)).collect::<Result<Vec<_>>>()?;
        play(&plan, &mut seats, &mut samples)?;
    }
    Ok(Measured { row: row.to_owned(), series: samples.into_iter().flat_map(Samples::series).collect() })
}

fn play(plan: &Plan, seats: &mut [Seat], samples: &mut [Samples]) -> Result<()> {
    for _ in 0..plan.timed {
        for (seat, samples) in seats.iter_mut().zip(samples.iter_mut()) {
            let turn = seat.play()?;
            samples.turn.push(turn.took_ms);
            samples.stop.extend(turn.stop_hook_ms);
        }
    }
    for _ in 0..plan.watched {
        for (seat, samples) in seats.iter_mut().zip(samples.iter_mut()) {
            samples.spinner.push(seat.play_watched()?);
        }
    }
    Ok(())
}

/// The samples of one form.
struct Samples {
    form: &'static str,
    turn: Vec<f64>,
    stop: Vec<f64>,
    spinner: Vec<f64>,
}

impl Samples {
    fn new(form: &'static str) -> Self {
        Self { form, turn: Vec::new(), stop: Vec::new(), spinner: Vec::new() }
    }

    fn series(self) -> Vec<Series> {
        let series = |what: &str, unit: &str, samples| Series {
            name: format!("{what}: {}", self.form),
            unit: unit.to_owned(),
            samples,
        };
        vec![
            series("turn", "ms", self.turn),
            series("Stop hook", "ms", self.stop),
            series("spinner", "% of frames", self.spinner),
        ]
    }
}
