//! The timeline: one line per step. A tool call and its result are one step.

use flightdeck_core::log::from_transcript::TRANSCRIPT_GREW;
use flightdeck_core::text::one_line;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::timeline::TimelineEvent;
use flightdeck_core::wire::status_line::STATUS_LINE;
use ratatui::style::Style;

use super::super::super::draw::duration;
use super::super::super::line::cut_to_width;
use super::super::model::Model;
use super::super::text::{short_paths, time_of_day};
use super::canvas::{StyledLine, StyledText, width};

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
    /// Why a tool call failed.
    failure: Option<&'a str>,
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
            Some((end, call)) => {
                call.result = Some((end, event.fired_at));
                call.failure = failure(event).map(|(_, why)| why);
            }
            None => match asked_call(&mut steps, event) {
                Some(call) => call.asked = true,
                None => {
                    let result = end.map(|end| (end, event.fired_at));
                    let failure = failure(event).map(|(_, why)| why);
                    steps.push(TimelineStep { event, asked: false, result, failure });
                }
            },
        }
    }
    steps
}

/// What was called and why it failed: the summary of a failure is `Bash: pytest failed: Exit code 1`.
fn failure(event: &TimelineEvent) -> Option<(&str, &str)> {
    let is_failure = event.name == "PostToolUseFailure";
    event.summary.split_once(" failed: ").filter(|(_, why)| is_failure && !why.is_empty())
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

/// The step, and at the right edge why it failed: in what the step leaves free, and in a third of the columns at least.
pub(super) fn line(model: &Model, step: &TimelineStep<'_>, columns: usize) -> (StyledLine, StyledLine) {
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
    let words = match (failure(event), event.summary.as_str()) {
        (Some((called, _)), _) => called,
        (None, "") => event.name.as_str(),
        (None, summary) => summary,
    };
    let mut line = vec![
        StyledText::new(format!("{} ", time_of_day(event.fired_at, &model.zone)), theme.dim()),
        StyledText::new(format!("{mark} "), style),
    ];
    if let Some((_, ended_at)) = step.result.filter(|(_, ended_at)| *ended_at > event.fired_at) {
        line.push(StyledText::new(format!("{} ", duration(ended_at - event.fired_at)), theme.dim()));
    }
    let words = model.selected_card().map_or_else(|| words.to_owned(), |card| short_paths(card, words));
    line.push(StyledText::new(one_line(&words, STEP_CHARS_MAX), style));
    let room = columns.saturating_sub(width(&line) + 1).max(columns / 3);
    let failure = step.failure.map(|why| cut_to_width(&failure_words(why), room));
    (line, failure.map(|why| StyledText::new(why, theme.removed())).into_iter().collect())
}

/// `exit 1` for `Exit code 1`, which is how the client begins the output of a command.
fn failure_words(why: &str) -> String {
    let why = one_line(why, STEP_CHARS_MAX);
    match why.strip_prefix("Exit code ") {
        Some(rest) => format!("exit {rest}"),
        None => why,
    }
}
