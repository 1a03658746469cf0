//! What the client's own status line told: data for the card, never state.

use serde::{Deserialize, Serialize};

use crate::board::{Cache, CacheStatus, Context, Cost};
use crate::time::{Millis, Timestamp};

/// The newest status line of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusLine {
    /// When it fired; an older one that comes later is passed over.
    pub at: Timestamp,
    pub says: Says,
    /// The expiry of its cache has passed; a timer says so.
    pub cache_is_cold: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Says {
    /// `None` before the first answer, and after a resume.
    pub context_tokens: Option<u64>,
    pub context_window: Option<u64>,
    pub client_usd_micros: Option<u64>,
    pub cache: Option<PromptCache>,
    pub model: Option<String>,
    /// Of the client.
    pub version: Option<String>,
    pub worktree: Option<Worktree>,
    pub rate_limits: Option<RateLimits>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptCache {
    pub warm: bool,
    pub expires_at: Timestamp,
    pub ttl: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    pub name: String,
    pub branch: Option<String>,
}

/// How much of the person's subscription is used up. The same for all their sessions, so the fleet keeps the newest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RateLimits {
    pub five_hour: Option<Limit>,
    pub seven_day: Option<Limit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "RateLimit"))]
pub struct Limit {
    pub percent: f64,
    pub resets_at: Option<Timestamp>,
}

impl RateLimits {
    /// What still holds: a limit that has been reset since is not known any more.
    pub fn at(self, now: Timestamp) -> Option<Self> {
        let holds = |limit: &Limit| limit.resets_at.is_none_or(|at| at > now);
        let now = Self { five_hour: self.five_hour.filter(holds), seven_day: self.seven_day.filter(holds) };
        (now.five_hour.is_some() || now.seven_day.is_some()).then_some(now)
    }
}

impl StatusLine {
    pub fn new(at: Timestamp, says: Says, now: Timestamp) -> Self {
        let cache_is_cold = says.cache.as_ref().is_some_and(|cache| !cache.warm || cache.expires_at <= now);
        Self { at, says, cache_is_cold }
    }
    /// When its cache goes cold, if it is warm.
    pub fn cools_at(&self) -> Option<Timestamp> {
        self.says.cache.as_ref().filter(|_| !self.cache_is_cold).map(|cache| cache.expires_at)
    }
}

/// The context as the status line knows it, unless an answer came after it; where it knows only the window, the
/// transcript's tokens over that.
pub fn context(
    line: Option<&StatusLine>,
    transcript: Option<Context>,
    answered_at: Option<Timestamp>,
) -> Option<Context> {
    let Some(StatusLine { at, says, .. }) = line else { return transcript };
    let newest = says.context_tokens.filter(|_| answered_at <= Some(*at));
    let tokens = newest.or_else(|| transcript.as_ref().map(|t| t.tokens)).or(says.context_tokens)?;
    let window = says.context_window.or_else(|| transcript.as_ref()?.window);
    // The context cannot be fuller than full: then the window is larger than we were told.
    let window = window.map(|window| window.max(tokens));
    let percent = window.map(|window| (tokens as f64 * 1000.0 / window as f64).round() / 10.0);
    Some(Context { tokens, window, percent })
}

/// Our own cost with the client's beside it.
pub fn cost(line: Option<&StatusLine>, transcript: Option<Cost>) -> Option<Cost> {
    let client = line.and_then(|line| line.says.client_usd_micros);
    match (client, transcript) {
        (None, ours) => ours,
        (client, Some(ours)) => Some(Cost { client_usd_micros: client, ..ours }),
        // Nothing counted yet.
        (client, None) => Some(Cost {
            usd_micros: 0,
            client_usd_micros: client,
            unpriced_models: Vec::new(),
            by_model: Vec::new(),
        }),
    }
}

/// The cache that lasts longer: each source tells of the last request it has seen.
pub fn cache(line: Option<&StatusLine>, transcript: Cache) -> Cache {
    let told = line.and_then(|line| Some((line.says.cache.as_ref()?, line.cache_is_cold)));
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

    fn line(says: Says) -> StatusLine {
        StatusLine::new(Timestamp::from_millis(1), says, Timestamp::from_millis(1))
    }

    fn cost_of(usd_micros: u64) -> Cost {
        Cost { usd_micros, client_usd_micros: None, unpriced_models: Vec::new(), by_model: Vec::new() }
    }

    #[test]
    fn the_status_lines_context_wins_and_its_window_helps_out() {
        let transcript = || Some(Context { tokens: 50, window: Some(200), percent: Some(25.0) });
        let context = |line, transcript| context(line, transcript, Some(Timestamp::from_millis(1)));
        assert_eq!(context(None, transcript()), transcript());
        let whole = line(Says { context_tokens: Some(30), context_window: Some(1000), ..Says::default() });
        let told = |tokens, percent| Some(Context { tokens, window: Some(1000), percent: Some(percent) });
        assert_eq!(context(Some(&whole), transcript()), told(30, 3.0));
        let window_only = line(Says { context_window: Some(1000), ..Says::default() });
        assert_eq!(context(Some(&window_only), transcript()), told(50, 5.0));
        assert_eq!(context(Some(&window_only), None), None);
        let small = line(Says { context_window: Some(40), ..Says::default() });
        let full = Some(Context { tokens: 50, window: Some(50), percent: Some(100.0) });
        assert_eq!(context(Some(&small), transcript()), full);
    }

    #[test]
    fn an_answer_that_came_after_the_status_line_knows_the_context_better() {
        let told = line(Says { context_tokens: Some(30), context_window: Some(1000), ..Says::default() });
        let transcript = || Some(Context { tokens: 50, window: Some(200), percent: Some(25.0) });
        let tokens = |at, transcript| {
            context(Some(&told), transcript, Some(Timestamp::from_millis(at))).map(|c| (c.tokens, c.window))
        };
        assert_eq!(tokens(1, transcript()), Some((30, Some(1000))));
        assert_eq!(tokens(2, transcript()), Some((50, Some(1000))));
        assert_eq!(tokens(2, None), Some((30, Some(1000))));
    }

    #[test]
    fn the_clients_cost_stands_beside_ours() {
        let told = line(Says { client_usd_micros: Some(7), ..Says::default() });
        let both = cost(Some(&told), Some(cost_of(9))).unwrap();
        assert_eq!((both.usd_micros, both.client_usd_micros), (9, Some(7)));
        assert_eq!(cost(None, None), None);
    }

    #[test]
    fn a_limit_that_was_reset_is_not_known_any_more() {
        let at = Timestamp::from_millis;
        let limit = |ms| Some(Limit { percent: 80.0, resets_at: Some(at(ms)) });
        let limits = RateLimits { five_hour: limit(10), seven_day: limit(99) };
        assert_eq!(limits.at(at(9)), Some(limits));
        assert_eq!(limits.at(at(10)).unwrap().five_hour, None);
        assert_eq!(limits.at(at(99)), None);
    }
}
