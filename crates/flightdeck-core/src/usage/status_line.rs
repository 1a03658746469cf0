//! The client's status line on a card: data, never state.

use serde::{Deserialize, Serialize};

use super::amounts::{Cache, CacheStatus, Context, Cost};
use crate::time::Timestamp;
use crate::wire::status_line::StatusLineData;

/// The newest status line of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewestStatusLine {
    /// When it fired. An older status line that arrives later is ignored.
    pub at: Timestamp,
    #[serde(rename = "says")]
    pub data: StatusLineData,
    /// The prompt cache has expired; set by a timer.
    pub cache_is_cold: bool,
}

impl NewestStatusLine {
    pub fn new(at: Timestamp, data: StatusLineData, now: Timestamp) -> Self {
        let cache_is_cold = data.cache.as_ref().is_some_and(|cache| !cache.warm || cache.expires_at <= now);
        Self { at, data, cache_is_cold }
    }
    /// When the cache expires, if it is warm.
    pub fn cools_at(&self) -> Option<Timestamp> {
        self.data.cache.as_ref().filter(|_| !self.cache_is_cold).map(|cache| cache.expires_at)
    }
}

/// The context from the status line, unless the transcript has a later answer. If the status line has only the window, the
/// tokens are those of the transcript.
pub fn newest_context(
    line: Option<&NewestStatusLine>,
    transcript: Option<Context>,
    answered_at: Option<Timestamp>,
) -> Option<Context> {
    let Some(NewestStatusLine { at, data, .. }) = line else { return transcript };
    let newest = data.context_tokens.filter(|_| answered_at <= Some(*at));
    let tokens = newest.or_else(|| transcript.as_ref().map(|t| t.tokens)).or(data.context_tokens)?;
    let window = data.context_window.or_else(|| transcript.as_ref()?.window);
    // The context cannot exceed its window: then the window is larger than reported.
    let window = window.map(|window| window.max(tokens));
    let percent = window.map(|window| (tokens as f64 * 1000.0 / window as f64).round() / 10.0);
    Some(Context { tokens, window, percent })
}

/// Flightdeck's cost together with the client's.
pub fn combined_cost(line: Option<&NewestStatusLine>, transcript: Option<Cost>) -> Option<Cost> {
    let client = line.and_then(|line| line.data.client_usd_micros);
    match (client, transcript) {
        (None, ours) => ours,
        (client, Some(ours)) => Some(Cost { client_usd_micros: client, ..ours }),
        // No message is counted yet.
        (client, None) => Some(Cost {
            usd_micros: 0,
            client_usd_micros: client,
            unpriced_models: Vec::new(),
            by_model: Vec::new(),
        }),
    }
}

/// The prompt cache from the source that reports the later expiry, because each source knows only the requests that it has seen.
pub fn newest_cache(line: Option<&NewestStatusLine>, transcript: Cache) -> Cache {
    let told = line.and_then(|line| Some((line.data.cache.as_ref()?, line.cache_is_cold)));
    match told {
        Some((cache, is_cold)) if transcript.expires_at.is_none_or(|at| at <= cache.expires_at) => Cache {
            status: if is_cold { CacheStatus::Cold } else { CacheStatus::Warm },
            expires_at: Some(cache.expires_at),
        },
        _ => transcript,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(says: StatusLineData) -> NewestStatusLine {
        NewestStatusLine::new(Timestamp::from_millis(1), says, Timestamp::from_millis(1))
    }

    fn cost_of(usd_micros: u64) -> Cost {
        Cost { usd_micros, client_usd_micros: None, unpriced_models: Vec::new(), by_model: Vec::new() }
    }

    #[test]
    fn the_status_lines_context_wins_and_its_window_helps_out() {
        let transcript = || Some(Context { tokens: 50, window: Some(200), percent: Some(25.0) });
        let context = |line, transcript| newest_context(line, transcript, Some(Timestamp::from_millis(1)));
        assert_eq!(context(None, transcript()), transcript());
        let whole = line(StatusLineData {
            context_tokens: Some(30),
            context_window: Some(1000),
            ..StatusLineData::default()
        });
        let told = |tokens, percent| Some(Context { tokens, window: Some(1000), percent: Some(percent) });
        assert_eq!(context(Some(&whole), transcript()), told(30, 3.0));
        let window_only = line(StatusLineData { context_window: Some(1000), ..StatusLineData::default() });
        assert_eq!(context(Some(&window_only), transcript()), told(50, 5.0));
        assert_eq!(context(Some(&window_only), None), None);
        let small = line(StatusLineData { context_window: Some(40), ..StatusLineData::default() });
        let full = Some(Context { tokens: 50, window: Some(50), percent: Some(100.0) });
        assert_eq!(context(Some(&small), transcript()), full);
    }

    #[test]
    fn an_answer_that_came_after_the_status_line_knows_the_context_better() {
        let told = line(StatusLineData {
            context_tokens: Some(30),
            context_window: Some(1000),
            ..StatusLineData::default()
        });
        let transcript = || Some(Context { tokens: 50, window: Some(200), percent: Some(25.0) });
        let tokens = |at, transcript| {
            newest_context(Some(&told), transcript, Some(Timestamp::from_millis(at)))
                .map(|c| (c.tokens, c.window))
        };
        assert_eq!(tokens(1, transcript()), Some((30, Some(1000))));
        assert_eq!(tokens(2, transcript()), Some((50, Some(1000))));
        assert_eq!(tokens(2, None), Some((30, Some(1000))));
    }

    #[test]
    fn the_clients_cost_stands_beside_ours() {
        let told = line(StatusLineData { client_usd_micros: Some(7), ..StatusLineData::default() });
        let both = combined_cost(Some(&told), Some(cost_of(9))).unwrap();
        assert_eq!((both.usd_micros, both.client_usd_micros), (9, Some(7)));
        assert_eq!(combined_cost(None, None), None);
    }
}
