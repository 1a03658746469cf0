//! The states of an assignment. [`transition`] accepts thirteen steps and refuses every other with a reason.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::intent::Intent;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum AssignmentState {
    /// Nothing was asked yet.
    Idle,
    /// The person asked, and no work was seen yet.
    Commanded,
    Processing,
    /// The agent waits for the person.
    AwaitingInput,
    Complete,
}

impl AssignmentState {
    pub const ALL: [AssignmentState; 5] =
        [Self::Idle, Self::Commanded, Self::Processing, Self::AwaitingInput, Self::Complete];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Commanded => "commanded",
            Self::Processing => "processing",
            Self::AwaitingInput => "awaiting_input",
            Self::Complete => "complete",
        }
    }
}

/// Who acts on an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Actor {
    User,
    Agent,
}

impl Actor {
    pub const ALL: [Actor; 2] = [Self::User, Self::Agent];
}

/// How an assignment was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Completion {
    /// The agent said so, or its turn ended.
    Completed,
    /// The session ended first.
    Ended,
    /// The process of the session died first.
    Died,
}

impl Completion {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Ended => "ended",
            Self::Died => "died",
        }
    }
}

/// Why a step is not possible. The assignment stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StepRefused {
    #[error("the assignment is complete and cannot change any more")]
    Complete,
    #[error("nothing was asked yet, and only a person's command opens an assignment")]
    NothingAsked,
    #[error("an assignment is open; a command opens the next one only after it is complete")]
    AlreadyOpen,
    #[error("the agent has asked nothing yet, so there is nothing to answer")]
    NothingToAnswer,
    #[error("the agent already waits for an answer")]
    AlreadyAsked,
    #[error("the agent waits for an answer, so it does not continue without one")]
    AwaitsAnswer,
    #[error("only a person commands and answers")]
    NotAnAgentsIntent,
    #[error("only an agent asks, reports and completes")]
    NotAPersonsIntent,
}

use Actor::{Agent, User};
use AssignmentState::{AwaitingInput, Commanded, Complete, Idle, Processing};
use Intent::{Answer, Command, EndOfTask, Progress, Question};

/// The state after `actor` acted with `intent`.
pub fn transition(
    state: AssignmentState,
    actor: Actor,
    intent: Intent,
) -> Result<AssignmentState, StepRefused> {
    match (state, actor, intent) {
        (Idle, User, Command) => Ok(Commanded),
        (Commanded, Agent, Progress) => Ok(Processing),
        (Commanded, Agent, Question) => Ok(AwaitingInput),
        (Commanded, Agent, Intent::Completion | EndOfTask) => Ok(Complete),
        (Processing, Agent, Progress) => Ok(Processing),
        (Processing, Agent, Question) => Ok(AwaitingInput),
        (Processing, Agent, Intent::Completion | EndOfTask) => Ok(Complete),
        // A prompt that was typed while a turn runs: the client adds it to that turn.
        (Processing, User, Answer) => Ok(Processing),
        (AwaitingInput, User, Answer) => Ok(Processing),
        (AwaitingInput, Agent, Intent::Completion | EndOfTask) => Ok(Complete),

        (_, Agent, Command | Answer) => Err(StepRefused::NotAnAgentsIntent),
        (_, User, Question | Intent::Completion | EndOfTask | Progress) => {
            Err(StepRefused::NotAPersonsIntent)
        }
        (Complete, _, _) => Err(StepRefused::Complete),
        (Idle, _, _) => Err(StepRefused::NothingAsked),
        (_, User, Command) => Err(StepRefused::AlreadyOpen),
        (Commanded, User, Answer) => Err(StepRefused::NothingToAnswer),
        (AwaitingInput, Agent, Question) => Err(StepRefused::AlreadyAsked),
        (AwaitingInput, Agent, Progress) => Err(StepRefused::AwaitsAnswer),
    }
}

/// The state and outcome of an assignment whose session ended. This is not one of the thirteen steps. `None` if nothing was asked yet or
/// the assignment is complete already.
pub fn forced_completion(
    state: AssignmentState,
    outcome: Completion,
) -> Option<(AssignmentState, Completion)> {
    matches!(state, Commanded | Processing | AwaitingInput).then_some((Complete, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All accepted steps, one per line.
    const STEPS: [(AssignmentState, Actor, Intent, AssignmentState); 13] = [
        (Idle, User, Command, Commanded),
        (Commanded, Agent, Progress, Processing),
        (Commanded, Agent, Question, AwaitingInput),
        (Commanded, Agent, Intent::Completion, Complete),
        (Commanded, Agent, EndOfTask, Complete),
        (Processing, Agent, Progress, Processing),
        (Processing, Agent, Question, AwaitingInput),
        (Processing, Agent, Intent::Completion, Complete),
        (Processing, Agent, EndOfTask, Complete),
        (Processing, User, Answer, Processing),
        (AwaitingInput, User, Answer, Processing),
        (AwaitingInput, Agent, Intent::Completion, Complete),
        (AwaitingInput, Agent, EndOfTask, Complete),
    ];

    fn triples() -> impl Iterator<Item = (AssignmentState, Actor, Intent)> {
        let actions = || Actor::ALL.into_iter().flat_map(|actor| Intent::ALL.map(|intent| (actor, intent)));
        AssignmentState::ALL
            .into_iter()
            .flat_map(move |state| actions().map(move |(actor, intent)| (state, actor, intent)))
    }

    #[test]
    fn exactly_the_thirteen_steps_are_accepted() {
        assert_eq!(triples().count(), 60);
        for (state, actor, intent) in triples() {
            let step = STEPS.iter().find(|(from, by, what, _)| (*from, *by, *what) == (state, actor, intent));
            assert_eq!(
                transition(state, actor, intent).ok(),
                step.map(|(.., to)| *to),
                "{state:?} {actor:?} {intent:?}"
            );
        }
    }

    #[test]
    fn a_refusal_names_what_is_wrong() {
        for (state, actor, intent) in triples() {
            let Err(refused) = transition(state, actor, intent) else { continue };
            let expected = match (state, actor, intent) {
                (_, Agent, Command | Answer) => "only a person commands",
                (_, User, Question | Intent::Completion | EndOfTask | Progress) => "only an agent asks",
                (Complete, ..) => "cannot change any more",
                (Idle, ..) => "nothing was asked",
                (_, _, Command) => "an assignment is open",
                (Commanded, ..) => "nothing to answer",
                (_, _, Question) => "already waits",
                _ => "does not continue",
            };
            assert!(refused.to_string().contains(expected), "{state:?} {actor:?} {intent:?}: {refused}");
        }
    }

    #[test]
    fn an_end_of_the_session_completes_what_is_open_and_nothing_else() {
        let forced = AssignmentState::ALL.map(|state| forced_completion(state, Completion::Died));
        let done = Some((Complete, Completion::Died));
        assert_eq!(forced, [None, done, done, done, None]);
    }
}
