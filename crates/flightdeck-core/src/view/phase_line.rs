//! The phases of an effort as one line: those that were entered and those that the skill plans.

use serde::{Deserialize, Serialize};

use crate::effort::Phase;
use crate::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum PhaseStanding {
    Done,
    /// The effort is in it.
    Now,
    ToCome,
    /// A later phase was entered, or the effort was finished, without it.
    Skipped,
}

/// A phase on the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PhaseStep {
    pub name: String,
    pub standing: PhaseStanding,
    /// When it was entered last.
    pub entered_at: Option<Timestamp>,
    /// When the next phase was entered, or the effort was finished.
    pub left_at: Option<Timestamp>,
    /// Why the phase before was complete.
    pub proof: Option<String>,
}

/// The phases in one order: planned phases in the order of the skill, each unplanned phase after the phase that was active before it.
pub fn phase_line(entered: &[Phase], planned: &[String], finished_at: Option<Timestamp>) -> Vec<PhaseStep> {
    let names = names(entered, planned);
    let current = entered.last().and_then(|phase| names.iter().position(|name| *name == phase.name));
    let step = |(place, name): (usize, &String)| {
        let last = entered.iter().rposition(|phase| phase.name == *name);
        let standing = match last {
            Some(at) if at + 1 == entered.len() && finished_at.is_none() => PhaseStanding::Now,
            Some(_) => PhaseStanding::Done,
            None if finished_at.is_some() || current.is_some_and(|now| place < now) => PhaseStanding::Skipped,
            None => PhaseStanding::ToCome,
        };
        let next = last.and_then(|at| entered.get(at + 1)).map(|phase| phase.entered_at);
        let phase = last.and_then(|at| entered.get(at));
        PhaseStep {
            name: name.clone(),
            standing,
            entered_at: phase.map(|phase| phase.entered_at),
            left_at: next.or(finished_at.filter(|_| last.is_some())),
            proof: phase.and_then(|phase| phase.proof.clone()),
        }
    };
    names.iter().enumerate().map(step).collect()
}

fn names(entered: &[Phase], planned: &[String]) -> Vec<String> {
    let mut names = planned.to_vec();
    let mut place = 0;
    for phase in entered {
        let known = names.iter().position(|name| *name == phase.name);
        if known.is_none() {
            names.insert(place, phase.name.clone());
        }
        place = known.unwrap_or(place) + 1;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(name: &str, second: i64) -> Phase {
        let proof = (second > 1).then(|| format!("{name} may begin"));
        Phase { name: name.to_owned(), entered_at: Timestamp::from_millis(second * 1000), proof }
    }

    fn line(entered: &[(&str, i64)], planned: &[&str], finished: Option<i64>) -> Vec<String> {
        let entered: Vec<Phase> = entered.iter().map(|(name, second)| phase(name, *second)).collect();
        let planned: Vec<String> = planned.iter().map(|name| (*name).to_owned()).collect();
        let finished = finished.map(|second| Timestamp::from_millis(second * 1000));
        let second =
            |at: Option<Timestamp>| at.map_or("-".to_owned(), |at| (at.as_millis() / 1000).to_string());
        phase_line(&entered, &planned, finished)
            .iter()
            .map(|s| format!("{} {:?} {} {}", s.name, s.standing, second(s.entered_at), second(s.left_at)))
            .collect()
    }

    #[test]
    fn phases_are_done_current_or_to_come() {
        let found = line(&[("Plan", 1), ("Build", 5)], &["Plan", "Build", "Prove"], None);
        assert_eq!(found, ["Plan Done 1 5", "Build Now 5 -", "Prove ToCome - -"]);
    }

    #[test]
    fn a_phase_that_was_passed_over_is_skipped() {
        let found = line(&[("Build", 1)], &["Plan", "Build", "Prove"], Some(9));
        assert_eq!(found, ["Plan Skipped - -", "Build Done 1 9", "Prove Skipped - -"]);
        assert_eq!(line(&[("Build", 1)], &["Plan", "Build"], None), ["Plan Skipped - -", "Build Now 1 -"]);
    }

    #[test]
    fn a_phase_that_was_entered_again_is_the_current_one() {
        let found = line(&[("Plan", 1), ("Build", 2), ("Plan", 3)], &["Plan", "Build"], None);
        assert_eq!(found, ["Plan Now 3 -", "Build Done 2 3"]);
    }

    #[test]
    fn a_phase_that_is_not_planned_follows_the_one_before_it() {
        let found = line(&[("Plan", 1), ("Spike", 2)], &["Plan", "Build"], None);
        assert_eq!(found, ["Plan Done 1 2", "Spike Now 2 -", "Build ToCome - -"]);
        assert_eq!(line(&[("Look", 1)], &[], None), ["Look Now 1 -"]);
    }
}
