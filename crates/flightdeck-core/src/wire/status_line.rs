//! The JSON that the client passes to a status line command (capture `statusline`).
//!
//! The status line is the only source of the context window's size, the rate limits and the client's own cost.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::{NAME_CHARS_MAX, STATUS_LINE_TEXT_BYTES_MAX};
use crate::time::{Millis, Timestamp};
use crate::wire::hook::HookDraft;
use crate::wire::lenient::{flag, line, object, text, whole_number};

/// Name of a status line in the log.
pub const STATUS_LINE: &str = "StatusLine";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusLineData {
    /// `None` before the first answer, and after a resume.
    pub context_tokens: Option<u64>,
    pub context_window: Option<u64>,
    pub client_usd_micros: Option<u64>,
    pub cache: Option<PromptCache>,
    pub model: Option<String>,
    /// Version of the client.
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

/// How much of the person's subscription is used up. The limits are the same for all sessions of the person, so the fleet keeps the newest
/// ones.
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
    /// The limits that have not been reset since.
    pub fn still_valid_at(self, now: Timestamp) -> Option<Self> {
        let holds = |limit: &Limit| limit.resets_at.is_none_or(|at| at > now);
        let now = Self { five_hour: self.five_hour.filter(holds), seven_day: self.seven_day.filter(holds) };
        (now.five_hour.is_some() || now.seven_day.is_some()).then_some(now)
    }
}

/// The stored fields. The others change with every call (durations), so that no two status lines would be equal, or are
/// not shown on a card.
const KEPT: &[&[&str]] = &[
    &["session_id"],
    &["transcript_path"],
    &["cwd"],
    &["version"],
    &["model", "id"],
    &["cost", "total_cost_usd"],
    &["context_window", "context_window_size"],
    &["context_window", "used_percentage"],
    &["context_window", "current_usage", "input_tokens"],
    &["context_window", "current_usage", "cache_creation_input_tokens"],
    &["context_window", "current_usage", "cache_read_input_tokens"],
    &["prompt_cache", "warm"],
    &["prompt_cache", "ttl"],
    &["prompt_cache", "expires_at"],
    &["rate_limits", "five_hour", "used_percentage"],
    &["rate_limits", "five_hour", "resets_at"],
    &["rate_limits", "seven_day", "used_percentage"],
    &["rate_limits", "seven_day", "resets_at"],
    &["worktree", "name"],
    &["worktree", "branch"],
    &["workspace", "git_worktree"],
];

/// The draft of a received status line: only the fields that are stored.
pub fn status_line_draft(payload: &Map<String, Value>, env: Map<String, Value>) -> HookDraft {
    let mut kept = Map::from_iter([("hook_event_name".to_owned(), STATUS_LINE.into())]);
    for path in KEPT {
        if let Some(value) = value_at_path(payload, path) {
            insert_at_path(&mut kept, path, value.clone());
        }
    }
    HookDraft { name_in_path: None, payload: kept, env, bytes: 0 }
}

fn value_at_path<'a>(map: &'a Map<String, Value>, path: &[&str]) -> Option<&'a Value> {
    let (name, folders) = path.split_last()?;
    let holder = folders.iter().try_fold(map, |map, folder| object(map, folder))?;
    holder.get(*name).filter(|value| match value {
        Value::String(text) => text.len() <= STATUS_LINE_TEXT_BYTES_MAX,
        Value::Number(_) | Value::Bool(_) => true,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    })
}

fn insert_at_path(map: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => drop(map.insert((*name).to_owned(), value)),
        [folder, rest @ ..] => {
            let inner = map.entry(*folder).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert_at_path(inner, rest, value);
            }
        }
    }
}

/// What a payload, stored or received, says about its session.
pub fn parse_status_line(p: &Map<String, Value>) -> StatusLineData {
    let window = object(p, "context_window");
    let name = |map: Option<&Map<String, Value>>, key: &str| line(map?, key, NAME_CHARS_MAX);
    StatusLineData {
        context_tokens: window.and_then(context_tokens),
        context_window: window.and_then(|w| whole_number(w, "context_window_size")).filter(|size| *size > 0),
        client_usd_micros: object(p, "cost").and_then(|cost| micros(number(cost, "total_cost_usd")?)),
        cache: object(p, "prompt_cache").and_then(prompt_cache),
        model: name(object(p, "model"), "id"),
        version: name(Some(p), "version"),
        worktree: worktree(p),
        rate_limits: rate_limits(p),
    }
}

/// The tokens in the context, counted like the client's own percentage: the input of the last request, without its answer. `None` before
/// the first answer.
fn context_tokens(window: &Map<String, Value>) -> Option<u64> {
    if let Some(usage) = object(window, "current_usage") {
        let part = |name: &str| whole_number(usage, name);
        let parts =
            [part("input_tokens"), part("cache_creation_input_tokens"), part("cache_read_input_tokens")];
        if parts.iter().any(Option::is_some) {
            return Some(parts.into_iter().flatten().fold(0, u64::saturating_add));
        }
    }
    let percent = number(window, "used_percentage").filter(|p| (0.0..=100.0).contains(p))?;
    Some((percent / 100.0 * whole_number(window, "context_window_size")? as f64) as u64)
}

fn prompt_cache(cache: &Map<String, Value>) -> Option<PromptCache> {
    Some(PromptCache {
        warm: flag(cache, "warm"),
        expires_at: moment(cache, "expires_at")?,
        ttl: match text(cache, "ttl").as_deref() {
            Some("5m") => Some(Millis::minutes(5)),
            Some("1h") => Some(Millis::hours(1)),
            _ => None,
        },
    })
}

fn worktree(p: &Map<String, Value>) -> Option<Worktree> {
    let told = object(p, "worktree");
    let of = |key: &str| line(told?, key, NAME_CHARS_MAX);
    let place = || line(object(p, "workspace")?, "git_worktree", NAME_CHARS_MAX);
    let name = of("name").or_else(place)?;
    Some(Worktree { name, branch: of("branch") })
}

/// The limits of the person's subscription, which hold for all their sessions. `None` without a subscription.
fn rate_limits(p: &Map<String, Value>) -> Option<RateLimits> {
    let told = object(p, "rate_limits")?;
    let limit = |name: &str| {
        let limit = object(told, name)?;
        Some(Limit { percent: number(limit, "used_percentage")?, resets_at: moment(limit, "resets_at") })
    };
    let limits = RateLimits { five_hour: limit("five_hour"), seven_day: limit("seven_day") };
    (limits.five_hour.is_some() || limits.seven_day.is_some()).then_some(limits)
}

fn number(map: &Map<String, Value>, name: &str) -> Option<f64> {
    let number = match map.get(name)? {
        Value::Number(n) => n.as_f64()?,
        Value::String(s) => s.parse().ok()?,
        _ => return None,
    };
    (number.is_finite() && number >= 0.0).then_some(number)
}

fn micros(usd: f64) -> Option<u64> {
    let micros = (usd * 1e6).round();
    (micros <= u64::MAX as f64).then_some(micros as u64)
}

/// Seconds since 1970 as the client writes them. Milliseconds and RFC 3339 are accepted in case the format changes.
fn moment(map: &Map<String, Value>, name: &str) -> Option<Timestamp> {
    /// In seconds this is the year 5138, in milliseconds 1973.
    const MILLIS_FROM: f64 = 1e11;
    match number(map, name) {
        Some(at) if at >= MILLIS_FROM => Some(Timestamp::from_millis(at as i64)),
        Some(at) => Some(Timestamp::from_millis((at * 1000.0) as i64)),
        None => text(map, name).and_then(|t| Timestamp::parse(&t)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::record::EventId;
    use proptest::prelude::*;
    use serde_json::json;

    fn payload(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { unreachable!() };
        map
    }

    #[test]
    fn the_stored_fields_say_the_same_as_the_whole_payload() {
        let whole = payload(json!({
            "session_id": "s", "prompt_id": "p", "model": {"id": "opus", "display_name": "Opus"}, "version": "2.1.325",
            "cost": {"total_cost_usd": 0.064524, "total_duration_ms": 6876},
            "context_window": {"context_window_size": 1_000_000, "used_percentage": 15, "current_usage":
                {"input_tokens": 9, "output_tokens": 21, "cache_creation_input_tokens": 2400, "cache_read_input_tokens": 150_000}},
            "prompt_cache": {"warm": true, "ttl": "5m", "expires_at": 1_794_767_794, "hit_ratio": 0.97},
            "rate_limits": {"five_hour": {"used_percentage": 41.5, "resets_at": 1_794_770_000}},
            "workspace": {"git_worktree": "fix"}, "worktree": {"name": "fix", "branch": "b", "path": "/x"},
        }));
        let kept = status_line_draft(&whole, Map::new()).payload;
        assert_eq!(parse_status_line(&kept), parse_status_line(&whole));
        let said = parse_status_line(&kept);
        assert_eq!((said.context_tokens, said.client_usd_micros), (Some(152_409), Some(64_524)));
        let text = Value::from(kept).to_string();
        assert!(!text.contains("duration") && !text.contains("hit_ratio") && !text.contains("/x"), "{text}");
    }

    #[test]
    fn before_the_first_answer_only_the_window_is_known() {
        let said = parse_status_line(&payload(
            json!({"context_window": {"total_input_tokens": 0, "context_window_size": 200_000,
            "current_usage": null, "used_percentage": null}, "cost": {"total_cost_usd": 0}}),
        ));
        assert_eq!((said.context_tokens, said.context_window), (None, Some(200_000)));
        assert_eq!((said.client_usd_micros, said.cache), (Some(0), None));
    }

    #[test]
    fn a_percentage_alone_still_tells_the_tokens() {
        let window = json!({"context_window": {"context_window_size": 200_000, "used_percentage": 50}});
        assert_eq!(parse_status_line(&payload(window)).context_tokens, Some(100_000));
    }

    #[test]
    fn a_time_is_read_in_seconds_milliseconds_or_text() {
        let at = |value: Value| {
            let limits = json!({"rate_limits": {"seven_day": {"used_percentage": 1, "resets_at": value}}});
            rate_limits(&payload(limits)).unwrap().seven_day.unwrap().resets_at.map(|t| t.to_string())
        };
        let expected = Some("2026-11-15T18:36:34.000Z".to_owned());
        assert_eq!(at(json!(1_794_767_794)), expected);
        assert_eq!(at(json!(1_794_767_794_000_i64)), expected);
        assert_eq!(at(json!("2026-11-15T18:36:34Z")), expected);
        assert_eq!(at(json!(null)), None);
    }

    #[test]
    fn a_text_without_end_is_not_kept_and_no_session_is_refused() {
        let long = payload(json!({"session_id": "s", "version": "x".repeat(1 << 20)}));
        assert!(Value::from(status_line_draft(&long, Map::new()).payload).to_string().len() < 100);
        assert!(status_line_draft(&Map::new(), Map::new()).into_record(EventId(1)).is_err());
    }

    #[test]
    fn a_limit_that_was_reset_is_not_known_any_more() {
        let at = Timestamp::from_millis;
        let limit = |ms| Some(Limit { percent: 80.0, resets_at: Some(at(ms)) });
        let limits = RateLimits { five_hour: limit(10), seven_day: limit(99) };
        assert_eq!(limits.still_valid_at(at(9)), Some(limits));
        assert_eq!(limits.still_valid_at(at(10)).unwrap().five_hour, None);
        assert_eq!(limits.still_valid_at(at(99)), None);
    }
    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[0-9a-z.-]{0,8}".prop_map(Value::from),
        ];
        let key = prop::sample::select(KEPT.concat());
        leaf.prop_recursive(4, 24, 8, move |inner| {
            prop::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
        })
    }

    proptest! {
        #[test]
        fn whatever_it_holds_it_is_read_and_keeping_changes_nothing(value in anything()) {
            if let Value::Object(whole) = value {
                let kept = status_line_draft(&whole, Map::new()).payload;
                prop_assert_eq!(parse_status_line(&kept), parse_status_line(&whole));
            }
        }
    }
}
