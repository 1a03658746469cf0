//! The timeline: one line per step. A tool call and its result are one step.

use flightdeck_core::log::from_transcript::TRANSCRIPT_GREW;
use flightdeck_core::text::one_line;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::timeline::TimelineEvent;
use flightdeck_core::wire::status_line::STATUS_LINE;
use ratatui::style::Style;

use super::super::super::draw::duration;
use super::super::model::Model;
use super::super::text::time_of_day;
use super::canvas::{Line, Span};

/// Longest text of a step; the page has all of it.
const STEP_CHARS_MAX: usize = 400;
/// Events that say nothing new to a person: their tools and numbers are shown elsewhere.
const HIDDEN: [&str; 3] = ["PostToolBatch", TRANSCRIPT_GREW, STATUS_LINE];

#[derive(Debug)]
pub(super) struct Step<'a> {
    event: &'a TimelineEvent,
    /// How a tool call ended, and when.
    result: Option<(CallEnd, Timestamp)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallEnd {
    Succeeded,
    Failed,
}

pub(super) fn steps(events: &[TimelineEvent]) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for event in events.iter().filter(|event| !HIDDEN.contains(&event.name.as_str())) {
        let end = match event.name.as_str() {
            "PostToolUse" => Some(CallEnd::Succeeded),
            "PostToolUseFailure" => Some(CallEnd::Failed),
            _ => None,
        };
        match end.and_then(|end| Some((end, open_call(&mut steps, event)?))) {
            Some((end, call)) => call.result = Some((end, event.fired_at)),
            None => steps.push(Step { event, result: end.map(|end| (end, event.fired_at)) }),
        }
    }
    steps
}

/// The call that this event ends: the newest open one with the same words of the same agent.
fn open_call<'a, 's>(steps: &'s mut [Step<'a>], event: &TimelineEvent) -> Option<&'s mut Step<'a>> {
    let is_call = |step: &&mut Step<'_>| {
        let call = step.event;
        step.result.is_none()
            && call.name == "PreToolUse"
            && event.summary.starts_with(&call.summary)
            && call.agent_id == event.agent_id
    };
    steps.iter_mut().rev().find(is_call)
}

pub(super) fn line(model: &Model, step: &Step<'_>) -> Line {
    let (theme, event) = (model.theme, step.event);
    let (mark, style) = match (event.name.as_str(), step.result) {
        (_, Some((CallEnd::Succeeded, _))) => ("✓", Style::new()),
        (_, Some((CallEnd::Failed, _))) => ("✗", theme.removed()),
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
        Span::new(format!("{} ", time_of_day(event.fired_at, &model.zone)), theme.dim()),
        Span::new(format!("{mark} "), style),
    ];
    if let Some((_, ended_at)) = step.result.filter(|(_, ended_at)| *ended_at > event.fired_at) {
        line.push(Span::new(format!("{} ", duration(ended_at - event.fired_at)), theme.dim()));
    }
    line.push(Span::new(one_line(words, STEP_CHARS_MAX), style));
    line
}
