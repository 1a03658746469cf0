//! The context and cost of a session over time, for a small chart.

use serde::{Deserialize, Serialize};

use crate::log::record::Record;
use crate::time::Timestamp;
use crate::usage::enrichment::CountedMessage;
use crate::usage::price::{Nanos, PriceTable};
use crate::wire::status_line::{self, STATUS_LINE};

/// Most points of a chart: a chart has no more pixels.
pub const POINTS_MAX: usize = 240;

/// The points of a chart, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Numbers {
    pub points: Vec<Point>,
}

/// Context and cost after one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "NumbersPoint"))]
pub struct Point {
    pub at: Timestamp,
    /// The context of the main agent. `None` before its first message.
    pub context_tokens: Option<u64>,
    /// The cost so far, subagents included. `None` while no model with a known price was used.
    pub usd_micros: Option<u64>,
}

/// The points from the messages of the session's transcripts.
pub fn points_of_messages(mut counted: Vec<CountedMessage>, prices: &PriceTable) -> Vec<Point> {
    counted.sort_by_key(|message| (message.at, message.key));
    let (mut context_tokens, mut spent) = (None, None);
    let mut points = Vec::new();
    for message in counted {
        if message.agent.is_empty() {
            context_tokens = Some(message.usage.context_tokens());
        }
        if let Some(Nanos(cost)) = prices.cost(&message.model, &message.usage) {
            spent = Some(cost.saturating_add(spent.unwrap_or(0)));
        }
        // A message without a time counts for the cost but has no place on the chart.
        if message.at > Timestamp::default() {
            points.push(Point {
                at: message.at,
                context_tokens,
                usd_micros: spent.map(|nanos| Nanos(nanos).micros()),
            });
        }
    }
    points
}

/// The points from the client's own numbers in its status lines. For a transcript that cannot be read, for example on another machine.
pub fn points_of_status_lines(events: &[Record]) -> Vec<Point> {
    let lines = events.iter().filter(|event| event.name == STATUS_LINE);
    let points = lines.map(|line| {
        let says = status_line::parse_status_line(&line.payload);
        Point { at: line.fired_at, context_tokens: says.context_tokens, usd_micros: says.client_usd_micros }
    });
    points.filter(|p| p.context_tokens.is_some() || p.usd_micros.is_some()).collect()
}

/// At most [`POINTS_MAX`] of the points: the first point, and the last point of each of `POINTS_MAX - 1` runs of equal length.
pub fn thinned_points(points: Vec<Point>) -> Vec<Point> {
    if points.len() <= POINTS_MAX {
        return points;
    }
    let run = points.len().div_ceil(POINTS_MAX - 1);
    let ends = points.chunks(run).filter_map(|run| run.last());
    points.first().into_iter().chain(ends).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::price::Usage;
    use crate::wire::billed_usage::MessageKey;

    fn message(n: u128, at: i64, agent: &str, model: &str, output: u64) -> CountedMessage {
        CountedMessage {
            key: MessageKey(n),
            model: model.to_owned(),
            agent: agent.into(),
            at: Timestamp::from_millis(at),
            usage: Usage { output, ..Usage::default() },
        }
    }

    #[test]
    fn cost_adds_up_over_all_agents_and_context_is_that_of_the_main_one() {
        let opus = "claude-opus-5-5";
        let counted = vec![
            message(3, 30, "", opus, 500),
            message(1, 10, "", "unknown-model", 100),
            message(2, 20, "explore", opus, 1000),
            message(4, 0, "", opus, 1),
        ];
        let points = points_of_messages(counted, PriceTable::shipped());
        let told: Vec<_> =
            points.iter().map(|p| (p.at.as_millis(), p.context_tokens, p.usd_micros)).collect();
        assert_eq!(
            told,
            [(10, Some(100), Some(20)), (20, Some(100), Some(20_020)), (30, Some(500), Some(30_020))]
        );
        let unpriced =
            points_of_messages(vec![message(1, 10, "x", "unknown-model", 1)], PriceTable::shipped());
        assert_eq!((unpriced[0].context_tokens, unpriced[0].usd_micros), (None, None));
    }

    #[test]
    fn a_long_session_keeps_its_ends_and_no_more_points_than_a_chart_takes() {
        let point = |n| Point { at: Timestamp::from_millis(n), context_tokens: None, usd_micros: None };
        for len in [1, POINTS_MAX, POINTS_MAX + 1, 100_000] {
            let thin = thinned_points((1..=len as i64).map(point).collect());
            assert!(thin.len() <= POINTS_MAX, "{len}: {}", thin.len());
            assert_eq!((thin[0], thin[thin.len() - 1]), (point(1), point(len as i64)));
        }
    }
}
