//! The timeline: one line per step. A tool call and its result are one step.

use flightdeck_core::log::from_transcript::TRANSCRIPT_GREW;
use flightdeck_core::text::one_line;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::timeline::TimelineEvent;
use flightdeck_core::wire::status_line::STATUS_LINE;
use ratatui::style::Style;

use super::super::super::draw::duration;
use super::super::model::Model;
use super::super::text::{short_paths, time_of_day};
use super::canvas::{StyledLine, StyledText};

/// Longest text of a step; the page has all of it.
const STEP_CHARS_MAX: usize = 400;
/// Events that say nothing new to a person: their tools and numbers are shown elsewhere.
const HIDDEN: [&str; 3] = ["PostToolBatch", TRANSCRIPT_GREW, STATUS_LINE];

#[derive(Debug)]
pub(super) struct TimelineStep<'a> {
    event: &'a TimelineEvent,
    /// The client asked the person about the call.
    asked: bool,
    /// How a tool call ended, and when.
    result: Option<(CallEnd, Timestamp)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallEnd {
    Succeeded,
    Failed,
}

pub(super) fn steps(events: &[TimelineEvent]) -> Vec<TimelineStep<'_>> {
    let mut steps: Vec<TimelineStep<'_>> = Vec::new();
    for event in events.iter().filter(|event| !HIDDEN.contains(&event.name.as_str())) {
        let end = match event.name.as_str() {
            "PostToolUse" => Some(CallEnd::Succeeded),
            "PostToolUseFailure" => Some(CallEnd::Failed),
            _ => None,
        };
        match end.and_then(|end| Some((end, open_call(&mut steps, event)?))) {
            Some((end, call)) => call.result = Some((end, event.fired_at)),
            None => match asked_call(&mut steps, event) {
                Some(call) => call.asked = true,
                None => {
                    let result = end.map(|end| (end, event.fired_at));
                    steps.push(TimelineStep { event, asked: false, result });
                }
            },
        }
    }
    steps
}

/// The call that this request is about.
fn asked_call<'a, 's>(
    steps: &'s mut [TimelineStep<'a>],
    event: &TimelineEvent,
) -> Option<&'s mut TimelineStep<'a>> {
    if event.name == "PermissionRequest" { open_call(steps, event) } else { None }
}

/// The call that this event ends or is about: the newest open one with the same words of the same agent.
fn open_call<'a, 's>(
    steps: &'s mut [TimelineStep<'a>],
    event: &TimelineEvent,
) -> Option<&'s mut TimelineStep<'a>> {
    let is_call = |step: &&mut TimelineStep<'_>| {
        let call = step.event;
        step.result.is_none()
            && call.name == "PreToolUse"
            && event.summary.starts_with(&call.summary)
            && call.agent_id == event.agent_id
    };
    steps.iter_mut().rev().find(is_call)
}

pub(super) fn line(model: &Model, step: &TimelineStep<'_>) -> StyledLine {
    let (theme, event) = (model.theme, step.event);
    let (mark, style) = match (event.name.as_str(), step.result) {
        (_, Some((CallEnd::Succeeded, _))) => ("✓", Style::new()),
        (_, Some((CallEnd::Failed, _))) => ("✗", theme.removed()),
        (_, None) if step.asked => ("◆", theme.urgent()),
        ("UserPromptSubmit" | "prompted", _) => ("❯", theme.strong()),
        ("PreToolUse", _) => ("▸", theme.role(flightdeck_core::view::lens::Role::Working)),
        ("PermissionRequest" | "Elicitation", _) => ("◆", theme.urgent()),
        ("answered", _) => ("◇", theme.added()),
        ("Stop", _) => ("■", theme.strong()),
        ("StopFailure", _) => ("▲", theme.removed()),
        ("SubagentStart" | "SubagentStop", _) => ("⑂", theme.dim()),
        _ => ("·", theme.dim()),
    };
    let words = if event.summary.is_empty() { &event.name } else { &event.summary };
    let mut line = vec![
        StyledText::new(format!("{} ", time_of_day(event.fired_at, &model.zone)), theme.dim()),
        StyledText::new(format!("{mark} "), style),
    ];
    if let Some((_, ended_at)) = step.result.filter(|(_, ended_at)| *ended_at > event.fired_at) {
        line.push(StyledText::new(format!("{} ", duration(ended_at - event.fired_at)), theme.dim()));
    }
    let words = model.selected_card().map_or_else(|| words.clone(), |card| short_paths(card, words));
    line.push(StyledText::new(one_line(&words, STEP_CHARS_MAX), style));
    line
}
