//! How a session continues when a hook answers its request, as in the captures `permhook`, `ask_hook` and `plan_hook`: an
//! allowed call runs, a refused one does not. If the captured person decided differently, the rest is taken from a capture
//! with the same decision.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::library::Job;
use super::template::{CapturedDecision, TemplateStep, Wait};
use super::{Queued, SimEvent, SimFleet};
use crate::Map;

/// Tools whose request needs content from the person: the client ignores a bare yes.
const NEED_INPUT: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];
/// Modes that a session of the fleet can be in between two plans.
const MODES: [&str; 2] = ["default", "acceptEdits"];

/// The output of a request's hook, as the client reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum SimVerdict {
    Allow { input: Option<Map>, mode: Option<&'static str> },
    Deny { message: String, interrupt: bool },
}

impl SimVerdict {
    /// The verdict in the output of a hook. `None` if the client ignores that output.
    pub fn printed(json: &Value) -> Option<Self> {
        let output = json.get("hookSpecificOutput").filter(|o| o["hookEventName"] == "PermissionRequest")?;
        let decision = output.get("decision")?;
        let text = |key: &str| decision.get(key).and_then(Value::as_str);
        match text("behavior")? {
            "allow" => {
                let input = decision.get("updatedInput").and_then(Value::as_object).cloned();
                let granted = decision.get("updatedPermissions").and_then(Value::as_array);
                let set = granted.into_iter().flatten().filter(|p| p["type"] == "setMode");
                let mode = set.filter_map(|p| MODES.into_iter().find(|m| p["mode"] == *m)).next_back();
                Some(Self::Allow { input, mode })
            }
            "deny" => {
                let message = text("message").unwrap_or_default().to_owned();
                Some(Self::Deny { message, interrupt: decision["interrupt"] == true })
            }
            _ => None,
        }
    }
}

/// What the client knows about a request beyond its payload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SimRequest {
    pub(super) call_id: String,
    pub(super) captured_decision: CapturedDecision,
    pub(super) known: BTreeMap<String, String>,
    pub(super) job: &'static Job,
    pub(super) seat: usize,
    /// The number of the request among all planned events.
    pub(super) number: u64,
}

impl SimEvent {
    /// Whether this is a request that [`SimFleet::answer`] can answer.
    pub fn asks(&self) -> bool {
        self.request.is_some()
    }

    fn text(&self, key: &str) -> &str {
        self.payload.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn shift(mut self, ms: i64) -> Self {
        self.at_ms += ms;
        self.fired_ms += ms;
        self.not_before_ms = self.not_before_ms.map(|earliest| earliest + ms);
        self
    }

    fn ends_call(&self, id: &str) -> bool {
        self.is_named("PostToolUse") && self.text("tool_use_id") == id
    }

    /// Whether `later` shows that this request was answered.
    #[cfg(test)]
    pub(super) fn is_ended_by(&self, later: &Self) -> bool {
        let call = self.request.as_ref().map(|request| request.call_id.as_str());
        call.is_some_and(|call| later.ends_call(call) || later.batch_names(call))
    }

    fn call_in_batch(&mut self, id: &str) -> Option<&mut Value> {
        let calls = self.payload.get_mut("tool_calls")?.as_array_mut()?;
        calls.iter_mut().find(|call| call["tool_use_id"] == id)
    }

    fn batch_names(&self, id: &str) -> bool {
        let calls = self.payload.get("tool_calls").and_then(Value::as_array);
        calls.is_some_and(|calls| calls.iter().any(|call| call["tool_use_id"] == id))
    }
}

impl SimFleet {
    /// Whether the seat's plan leaves this request unanswered until `at_ms`. The request must be the newest returned event of its
    /// session.
    pub fn waits_until(&mut self, ask: &SimEvent, at_ms: i64) -> bool {
        let Some(request) = ask.request.as_deref() else { return false };
        let shows = |q: &Queued| match request.captured_decision {
            CapturedDecision::Runs => q.event.ends_call(&request.call_id),
            CapturedDecision::Refused => q.event.batch_names(&request.call_id),
            CapturedDecision::Cut => q.key.1 > request.number && !q.event.is_named("Notification"),
        };
        loop {
            let mine = self.queue.iter().map(|Reverse(q)| q).filter(|q| q.seat == request.seat);
            match mine.filter(|q| shows(q)).map(|q| q.event.at_ms).min() {
                Some(answered) => return answered > at_ms,
                None if request.captured_decision != CapturedDecision::Cut => return false,
                // An interrupted turn shows in the next turn, which may not be planned yet.
                None if self.seats[request.seat].free_at() > at_ms => return true,
                None => {
                    let events = self.seats[request.seat].plan(&self.templates, &self.config);
                    self.reschedule(request.seat);
                    self.enqueue(request.seat, events);
                }
            }
        }
    }

    /// The hook of `ask` printed this verdict at `at_ms`, which must not be before the last returned event. The session's
    /// plan changes accordingly and moves earlier by the captured waiting time. False if the client ignores the verdict: it
    /// has continued already, or the verdict lacks required content.
    pub fn answer(&mut self, ask: &SimEvent, verdict: &SimVerdict, at_ms: i64) -> bool {
        let Some(request) = ask.request.as_deref() else { return false };
        let bare = matches!(verdict, SimVerdict::Allow { input: None, .. });
        if bare && NEED_INPUT.contains(&ask.text("tool_name")) {
            return false;
        }
        let rest = self.take_rest(request);
        let decided = match request.captured_decision {
            CapturedDecision::Runs => rest.iter().position(|e| e.ends_call(&request.call_id)),
            CapturedDecision::Refused => rest.iter().position(|e| e.batch_names(&request.call_id)),
            CapturedDecision::Cut => (self.returned[request.seat] == request.number).then_some(0),
        };
        let (events, later_ms) = match decided {
            None => (rest, 0),
            Some(at) => match verdict {
                SimVerdict::Deny { interrupt: true, .. } => end_turn(ask, rest, at_ms),
                _ => self.go_on(ask, request, verdict, Rest::split(rest, at, request), at_ms),
            },
        };
        self.seats[request.seat].delay(later_ms);
        self.reschedule(request.seat);
        self.enqueue(request.seat, events);
        decided.is_some()
    }

    /// Removes and returns the planned events of the request's seat that follow the request, in the order of the plan.
    fn take_rest(&mut self, request: &SimRequest) -> Vec<SimEvent> {
        let queue = std::mem::take(&mut self.queue).into_vec();
        let later = |q: &Queued| q.seat == request.seat && q.key.1 > request.number;
        let (mut rest, others): (Vec<_>, Vec<_>) = queue.into_iter().partition(|Reverse(q)| later(q));
        self.queue = others.into();
        rest.sort_by_key(|Reverse(q)| q.key.1);
        rest.into_iter().map(|Reverse(q)| q.event).collect()
    }

    /// The new events of the seat, and by how many milliseconds the events after them are delayed.
    fn go_on(
        &mut self,
        ask: &SimEvent,
        request: &SimRequest,
        verdict: &SimVerdict,
        rest: Rest,
        at_ms: i64,
    ) -> (Vec<SimEvent>, i64) {
        let Rest { before, decided, after } = rest;
        let was_ms = decided.as_ref().map_or(ask.fired_ms, |e| e.fired_ms);
        let mut new = match (decided.filter(|_| request.captured_decision == CapturedDecision::Runs), verdict)
        {
            (Some(ran), SimVerdict::Allow { .. }) => {
                let takes_time = !NEED_INPUT.contains(&ask.text("tool_name"));
                let tool_ms = if takes_time { self.seats[request.seat].tool_ms(&self.config) } else { 0 };
                // An answer never delays the session.
                let to_ms = (at_ms + tool_ms).min(was_ms);
                vec![ran.shift(to_ms - was_ms)]
            }
            (Some(_), SimVerdict::Deny { .. }) => Vec::new(),
            (None, _) => self.as_captured_elsewhere(request, verdict, at_ms),
        };
        let is_ms = new.last().map_or(at_ms.min(was_ms), |e| e.fired_ms);
        let later_ms = before.last().map_or(is_ms, |e| is_ms.max(e.fired_ms)) - was_ms;
        let (mut after, later_ms) = shift_all(after, later_ms);
        let of_turn = new.iter_mut().chain(&mut after).filter(|e| e.session_id == ask.session_id);
        if let Some(mode) = write_answer(of_turn, ask, request, verdict) {
            self.seats[request.seat].set_mode(&ask.session_id, mode);
        }
        (before.into_iter().chain(new).chain(after).collect(), later_ms)
    }

    /// The events that follow another decision than the captured person's, from a capture with that decision.
    fn as_captured_elsewhere(
        &mut self,
        request: &SimRequest,
        verdict: &SimVerdict,
        at_ms: i64,
    ) -> Vec<SimEvent> {
        let piece = |name: &str| self.templates.iter().find(|t| t.name == name);
        let name = match verdict {
            SimVerdict::Allow { .. } => "permission_yes",
            SimVerdict::Deny { .. } => "permission_no_with_message",
        };
        let mut steps: Vec<TemplateStep> =
            piece(name).into_iter().flat_map(|t| t.after_request()).cloned().collect();
        for step in steps.iter_mut().filter(|s| s.wait == Wait::Answer) {
            step.wait = if step.is_named("PostToolUse") { Wait::Tool } else { Wait::Client };
        }
        if request.captured_decision == CapturedDecision::Cut {
            steps.extend(piece("stop").into_iter().flat_map(|t| &t.steps).cloned());
        }
        self.seats[request.seat].go_on(request, steps.iter(), at_ms, &self.config)
    }
}

/// A seat's planned events around the event that shows the captured decision.
struct Rest {
    before: Vec<SimEvent>,
    /// `None` if no event shows it.
    decided: Option<SimEvent>,
    after: Vec<SimEvent>,
}

impl Rest {
    fn split(mut before: Vec<SimEvent>, at: usize, request: &SimRequest) -> Self {
        let mut after = before.split_off(at);
        let decided = (request.captured_decision != CapturedDecision::Cut).then(|| after.remove(0));
        // No reminder follows an answered request.
        before.retain(|e| e.text("notification_type") != "permission_prompt");
        Self { before, decided, after }
    }
}

/// Moves the events in time. Events may contain the terminal's answer to another request, which does not move. Such an answer, and the
/// events after it, are not moved to a time before that request has waited long enough. Also returns by how much the last event moved.
fn shift_all(events: Vec<SimEvent>, mut ms: i64) -> (Vec<SimEvent>, i64) {
    let mut asked_here = false;
    let shift = |event: SimEvent| {
        asked_here |= event.is_named("PermissionRequest");
        let earliest = event.not_before_ms.filter(|_| !asked_here);
        ms = ms.max(earliest.map_or(ms, |earliest| (earliest - event.fired_ms).min(0)));
        let moved = event.shift(ms);
        SimEvent { not_before_ms: earliest.or(moved.not_before_ms), ..moved }
    };
    let shifted = events.into_iter().map(shift).collect();
    (shifted, ms)
}

/// Ends the turn as Esc does: without further events.
fn end_turn(ask: &SimEvent, rest: Vec<SimEvent>, at_ms: i64) -> (Vec<SimEvent>, i64) {
    let of_turn = |e: &SimEvent| e.text("prompt_id") == ask.text("prompt_id");
    let was_ms = rest.iter().rfind(|e| of_turn(e)).map_or(ask.fired_ms, |e| e.fired_ms);
    let later_ms = at_ms - was_ms;
    (rest.into_iter().filter(|e| !of_turn(e)).map(|e| e.shift(later_ms)).collect(), later_ms)
}

/// Writes the answer into the events as the client reports it; returns the session's new mode.
fn write_answer<'a>(
    events: impl Iterator<Item = &'a mut SimEvent>,
    ask: &SimEvent,
    request: &SimRequest,
    verdict: &SimVerdict,
) -> Option<&'static str> {
    let mode = match verdict {
        SimVerdict::Allow { mode, .. } => {
            mode.or((ask.text("tool_name") == "ExitPlanMode").then_some(MODES[0]))
        }
        SimVerdict::Deny { .. } => None,
    };
    let id = &request.call_id;
    for event in events {
        let of_call = event.ends_call(id) || event.batch_names(id);
        if let Some(now) = event.payload.get_mut("permission_mode") {
            match mode {
                Some(mode) if of_call || MODES.iter().any(|m| now == m) => *now = mode.into(),
                // The plan was not accepted.
                None if of_call => *now = ask.payload.get("permission_mode").cloned().unwrap_or_default(),
                _ => {}
            }
        }
        match verdict {
            SimVerdict::Deny { message, .. } => {
                if let Some(call) = event.call_in_batch(id) {
                    call["tool_response"] = message.as_str().into();
                }
            }
            SimVerdict::Allow { input: Some(input), .. } if input.contains_key("answers") => {
                report_answers(event, id, input);
            }
            SimVerdict::Allow { .. } => {}
        }
    }
    mode
}

fn report_answers(event: &mut SimEvent, id: &str, input: &Map) {
    if event.ends_call(id) {
        for key in ["tool_input", "tool_response"] {
            event.payload.insert(key.into(), input.clone().into());
        }
    }
    let answers = input.get("answers").and_then(Value::as_object).into_iter().flatten();
    if let Some(call) = event.call_in_batch(id) {
        let said: Vec<String> =
            answers.map(|(q, a)| format!("\"{q}\"=\"{}\"", a.as_str().unwrap_or_default())).collect();
        let text = call["tool_response"].as_str().unwrap_or_default();
        // The client's own words before and after the quoted text stay.
        let (head, tail) = (text.split_once('"'), text.rsplit_once('"'));
        let (head, tail) = (head.map_or("", |h| h.0), tail.map_or("", |t| t.1));
        call["tool_response"] = format!("{head}{}{tail}", said.join(", ")).into();
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
