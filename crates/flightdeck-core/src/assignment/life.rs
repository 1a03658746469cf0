//! One assignment from its opening to its completion: its state, its messages, and how long it worked and waited.

use serde::{Deserialize, Serialize};

use super::intent::{DetectedIntent, Intent};
use super::message::{AssignmentMessage, Messages};
use super::reason::AwaitReason;
use super::spans::{Spans, TimeSpan};
use super::transition::{Actor, AssignmentState, Completion, StepRefused, forced_completion, transition};
use crate::ids::AssignmentId;
use crate::limits::ASSIGNMENT_TITLE_CHARS_MAX;
use crate::text::one_line;
use crate::time::{Millis, Timestamp};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    pub id: AssignmentId,
    pub state: AssignmentState,
    /// Why it waits for the person; `None` in every other state.
    pub reason: Option<AwaitReason>,
    /// How it was completed.
    pub outcome: Option<Completion>,
    /// True if the assignment was opened by work whose prompt was not seen.
    pub inferred: bool,
    /// The prompt on one line. Empty if it was inferred and no prompt followed in that turn.
    pub title: String,
    pub opened_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    /// When it last began to work, to wait, or was completed.
    pub since: Timestamp,
    /// Prompts of the person, the command included.
    pub turns: u32,
    /// When it worked and when it waited, without the time since `since`.
    pub spans: Spans,
    /// The intent of the last message of a turn.
    pub last_intent: Option<DetectedIntent>,
    /// What the agent said or asked last, on one line.
    pub last_message: Option<String>,
    pub messages: Messages,
}

/// How an assignment begins.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Derived from the opening event, so that a replay gives the same id.
    pub id: AssignmentId,
    pub seq: u64,
    pub at: Timestamp,
    /// `None` if only work was seen.
    pub prompt: Option<String>,
}

impl Assignment {
    pub fn open(opening: Opening) -> Self {
        let Opening { id, seq, at, prompt } = opening;
        let mut assignment = Self {
            id,
            state: AssignmentState::Idle,
            reason: None,
            outcome: None,
            inferred: prompt.is_none(),
            title: String::new(),
            opened_at: at,
            completed_at: None,
            since: at,
            turns: 1,
            spans: Spans::default(),
            last_intent: None,
            last_message: None,
            messages: Messages::default(),
        };
        // An idle assignment accepts every command.
        let _ = assignment.step(Actor::User, Intent::Command, at);
        if let Some(prompt) = prompt {
            assignment.set_title(&prompt);
            assignment.add_message(AssignmentMessage::certain(seq, at, Actor::User, Intent::Command, prompt));
        }
        assignment
    }

    pub fn is_open(&self) -> bool {
        self.state != AssignmentState::Complete
    }

    pub fn set_title(&mut self, prompt: &str) {
        self.title = one_line(prompt, ASSIGNMENT_TITLE_CHARS_MAX);
    }

    /// Makes one step of the state machine. A refused step changes nothing.
    pub fn step(&mut self, actor: Actor, intent: Intent, at: Timestamp) -> Result<(), StepRefused> {
        let to = transition(self.state, actor, intent)?;
        self.enter(to, at);
        if to == AssignmentState::Complete {
            self.outcome = Some(Completion::Completed);
        }
        Ok(())
    }

    /// The agent asks the person. If the assignment already awaits input, only the reason changes.
    pub fn await_input(&mut self, reason: AwaitReason, at: Timestamp) -> Result<(), StepRefused> {
        if self.state != AssignmentState::AwaitingInput {
            self.step(Actor::Agent, Intent::Question, at)?;
        }
        self.reason = Some(reason);
        Ok(())
    }

    /// The session ended. Returns whether that completed the assignment.
    pub fn end(&mut self, outcome: Completion, at: Timestamp) -> bool {
        let Some((to, outcome)) = forced_completion(self.state, outcome) else { return false };
        self.enter(to, at);
        self.outcome = Some(outcome);
        true
    }

    /// Moves the opening to an earlier time, because the prompt arrived after the work that it caused.
    pub fn begin_earlier(&mut self, at: Timestamp) {
        self.inferred = false;
        if at < self.opened_at && self.since == self.opened_at {
            (self.opened_at, self.since) = (at, at);
        }
    }

    fn enter(&mut self, to: AssignmentState, at: Timestamp) {
        // Hooks overtake each other by a moment; time never runs backwards.
        let at = at.max(self.since);
        let kind = |state| (state == AssignmentState::AwaitingInput, state == AssignmentState::Complete);
        if kind(self.state) != kind(to) {
            if let Some(span) = self.running_span(at) {
                self.spans.push(span);
            }
            self.since = at;
        }
        if to != AssignmentState::AwaitingInput {
            self.reason = None;
        }
        if to == AssignmentState::Complete {
            self.completed_at = Some(at);
        }
        self.state = to;
    }

    /// The present span, as if it ended at `now`. `None` if the assignment is complete.
    pub fn running_span(&self, now: Timestamp) -> Option<TimeSpan> {
        let waits = self.state == AssignmentState::AwaitingInput;
        self.is_open().then(|| TimeSpan { waits, from: self.since, to: now.max(self.since) })
    }

    /// A message of the person or of the agent.
    pub fn add_message(&mut self, message: AssignmentMessage) {
        if message.actor == Actor::Agent {
            self.last_message = Some(one_line(&message.text, ASSIGNMENT_TITLE_CHARS_MAX));
        }
        self.messages.push(message);
    }

    /// How long the agent worked, up to now.
    pub fn worked_until(&self, now: Timestamp) -> Millis {
        self.sum_until(false, now)
    }

    /// How long the agent waited for the person, up to now.
    pub fn waited_until(&self, now: Timestamp) -> Millis {
        self.sum_until(true, now)
    }

    fn sum_until(&self, waits: bool, now: Timestamp) -> Millis {
        let running = self.running_span(now).filter(|span| span.waits == waits);
        Millis(self.spans.sum(waits).0 + running.map_or(0, |span| span.length().0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_second(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1000)
    }

    fn opened() -> Assignment {
        Assignment::open(Opening {
            id: "a-1".into(),
            seq: 1,
            at: at_second(10),
            prompt: Some("fix\n it".into()),
        })
    }

    #[test]
    fn time_working_and_time_waiting_are_counted_separately() {
        let mut a = opened();
        assert_eq!((a.state, a.title.as_str(), a.turns), (AssignmentState::Commanded, "fix it", 1));
        a.step(Actor::Agent, Intent::Progress, at_second(12)).unwrap();
        a.await_input(AwaitReason::Permission, at_second(15)).unwrap();
        assert_eq!(
            (a.waited_until(at_second(20)), a.worked_until(at_second(20))),
            (Millis(5000), Millis(5000))
        );
        a.await_input(AwaitReason::Interrupted, at_second(21)).unwrap();
        assert_eq!((a.reason, a.since), (Some(AwaitReason::Interrupted), at_second(15)));
        a.step(Actor::User, Intent::Answer, at_second(25)).unwrap();
        a.step(Actor::Agent, Intent::Completion, at_second(26)).unwrap();
        assert_eq!(
            (a.worked_until(at_second(99)), a.waited_until(at_second(99)), a.reason),
            (Millis(6000), Millis(10_000), None)
        );
        assert_eq!((a.completed_at, a.outcome), (Some(at_second(26)), Some(Completion::Completed)));
        let spans: Vec<_> = a.spans.iter().map(|span| (span.waits, span.from, span.to)).collect();
        assert_eq!(
            spans,
            [
                (false, at_second(10), at_second(15)),
                (true, at_second(15), at_second(25)),
                (false, at_second(25), at_second(26))
            ]
        );
    }

    #[test]
    fn a_refused_step_changes_nothing() {
        let mut a = opened();
        a.await_input(AwaitReason::Asked, at_second(11)).unwrap();
        let before = a.clone();
        assert_eq!(a.step(Actor::Agent, Intent::Progress, at_second(12)), Err(StepRefused::AwaitsAnswer));
        assert_eq!(a.step(Actor::User, Intent::Command, at_second(12)), Err(StepRefused::AlreadyOpen));
        assert_eq!(a, before);
    }

    #[test]
    fn an_end_completes_it_once() {
        let mut a = opened();
        assert!(a.end(Completion::Died, at_second(12)));
        assert!(!a.end(Completion::Ended, at_second(13)));
        assert_eq!((a.outcome, a.completed_at), (Some(Completion::Died), Some(at_second(12))));
    }

    #[test]
    fn an_event_with_an_earlier_time_does_not_shorten_a_span() {
        let mut a = opened();
        a.await_input(AwaitReason::Plan, at_second(5)).unwrap();
        assert_eq!((a.since, a.worked_until(at_second(11))), (at_second(10), Millis(0)));
    }
}
