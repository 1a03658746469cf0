//! The data of the client's status line on a card, and what it must not change.

use expect_test::{Expect, expect};
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::{self, card::Card};
use flightdeck_core::wire::status_line;
use flightdeck_sim::corpus;
use serde_json::{Map, Value, json};

use crate::script::{self, at_seconds, tell};

fn line(payload: Map<String, Value>, fired: Timestamp, received: Timestamp) -> Record {
    let env = Map::from_iter([("fired_at".to_owned(), json!(fired.to_string()))]);
    let mut record = status_line::status_line_draft(&payload, env).into_record(EventId(1)).unwrap();
    from_hook::stamp(&mut record, received, received);
    record
}

fn says(fleet: &mut Fleet, seconds: &str, value: Value) -> Vec<Effect> {
    let Value::Object(mut payload) = value else { unreachable!() };
    payload.insert("session_id".into(), json!("s"));
    let (fired, received) = match seconds.split_once('@') {
        Some((received, fired)) => (at_seconds(fired), at_seconds(received)),
        None => (at_seconds(seconds), at_seconds(seconds)),
    };
    fleet.apply(&Event::from_record(&line(payload, fired, received)))
}

fn fleet(begin: &str) -> Fleet {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, begin);
    fleet
}

fn card(fleet: &Fleet) -> Card {
    view::card(fleet.get(&"s".into()).unwrap(), fleet.settings())
}

fn data(card: &Card) -> String {
    let part = |value: Value| value.to_string();
    format!(
        "{} context {} cost {} cache {}\n",
        card.model.as_deref().unwrap_or("-"),
        part(json!(card.context)),
        part(json!(card.cost.as_ref().map(|c| c.client_usd_micros))),
        part(json!(card.cache))
    )
}

#[test]
fn the_captured_lines_fill_the_card_and_leave_its_state_alone() {
    let scenario = corpus::scenario("statusline");
    let mut fleet = Fleet::new(FoldSettings::default());
    let mut lines = scenario.status_lines.iter();
    let mut told = String::new();
    for (n, hook) in scenario.hooks.iter().enumerate() {
        let now = Timestamp::from_millis(hook.t_ms);
        let record = script::record(hook.event.clone(), hook.env.clone(), n as u64 + 1, now, fleet.now());
        fleet.apply(&Event::from_record(&record));
        // Captured status lines have no times. One is sent at the start, and one after each answer.
        if matches!(hook.name(), "SessionStart" | "Stop") {
            let id = hook.session_id();
            let before = script::read(&view::card(fleet.get(&id.into()).unwrap(), fleet.settings()));
            fleet.apply(&Event::from_record(&line(lines.next().unwrap().clone(), now, fleet.now())));
            let card = view::card(fleet.get(&id.into()).unwrap(), fleet.settings());
            assert_eq!(script::read(&card), before);
            told += &data(&card);
        }
    }
    assert_eq!(lines.next(), None);
    expect![[r#"
        claude-opus-5-5 context null cost 0 cache {"status":"unknown","expires_at":null}
        claude-opus-5-5 context {"tokens":13607,"window":1000000,"percent":1.4} cost 20268 cache {"status":"warm","expires_at":"2026-11-15T18:53:34.000Z"}
        claude-opus-5-5 context {"tokens":152409,"window":1000000,"percent":15.2} cost 64524 cache {"status":"warm","expires_at":"2026-11-15T18:53:37.000Z"}
    "#]].assert_eq(&told);
}

fn check(fleet: &Fleet, expected: Expect) {
    expected.assert_eq(&data(&card(fleet)));
}

#[test]
fn an_older_line_that_arrives_later_is_ignored() {
    let mut fleet = fleet("0 SessionStart model=opus");
    says(&mut fleet, "2", json!({"cost": {"total_cost_usd": 0.5}, "model": {"id": "sonnet"}}));
    says(&mut fleet, "3@1", json!({"cost": {"total_cost_usd": 0.1}, "model": {"id": "haiku"}}));
    check(
        &fleet,
        expect![[r#"
        sonnet context null cost 500000 cache {"status":"unknown","expires_at":null}
    "#]],
    );
}

#[test]
fn the_model_is_taken_from_the_newer_of_hook_and_status_line() {
    let mut fleet = fleet("0 SessionStart model=opus");
    says(&mut fleet, "1", json!({"model": {"id": "sonnet"}}));
    assert_eq!(card(&fleet).model.as_deref(), Some("sonnet"));
    tell(&mut fleet, "5 PostModelSwitch from_model=sonnet to_model=haiku");
    says(&mut fleet, "6@4", json!({"model": {"id": "sonnet"}}));
    assert_eq!(card(&fleet).model.as_deref(), Some("haiku"));
}

#[test]
fn a_line_is_no_sign_of_life() {
    let mut fleet = fleet("0 UserPromptSubmit prompt=go");
    for second in 1..100 {
        says(&mut fleet, &second.to_string(), json!({"cost": {"total_cost_usd": second}}));
    }
    let card = card(&fleet);
    assert_eq!((card.last_activity_at, card.quiet_since), (at_seconds("0"), Some(at_seconds("0"))));
}

#[test]
fn a_status_line_neither_creates_nor_revives_a_session() {
    let mut fleet = fleet("");
    says(&mut fleet, "0", json!({"cost": {"total_cost_usd": 1}}));
    assert!(fleet.is_empty());
    tell(&mut fleet, "1 SessionStart\n2 SessionEnd reason=other\n3000 tick");
    assert!(fleet.is_empty());
    says(&mut fleet, "3001", json!({"cost": {"total_cost_usd": 1}}));
    assert!(fleet.is_empty());
}

#[test]
fn a_cache_goes_cold_at_its_expiry_time_and_the_card_says_so() {
    let mut fleet = fleet("0 SessionStart\n1 UserPromptSubmit prompt=go\n2 Stop");
    let expires = (at_seconds("300").as_millis() / 1000) as u64;
    says(&mut fleet, "2", json!({"prompt_cache": {"warm": true, "ttl": "5m", "expires_at": expires}}));
    fleet.tick(at_seconds("299"));
    let warm = card(&fleet);
    assert_eq!(fleet.tick(at_seconds("300")), vec![Effect::Changed(Subject::Session("s".into()))]);
    let cold = card(&fleet);
    assert_eq!((json!(warm.cache.status), json!(cold.cache.status)), (json!("warm"), json!("cold")));
    assert!(warm.rank.default < cold.rank.default, "what can still be answered cheaply comes first");
}

#[test]
fn a_cache_that_was_used_again_does_not_go_cold_with_its_first_timer() {
    let mut fleet = fleet("0 SessionStart");
    let cache = |seconds: &str| json!({"prompt_cache": {"warm": true, "expires_at": at_seconds(seconds).as_millis() / 1000}});
    says(&mut fleet, "1", cache("300"));
    says(&mut fleet, "2", cache("400"));
    fleet.tick(at_seconds("350"));
    assert_eq!(json!(card(&fleet).cache.status), json!("warm"));
    fleet.tick(at_seconds("400"));
    assert_eq!(json!(card(&fleet).cache.status), json!("cold"));
}

#[test]
fn a_status_line_that_repeats_the_last_one_is_not_stored() {
    let mut fleet = fleet("0 SessionStart");
    let payload = |usd: f64, ms: u64| {
        let cost = json!({"total_cost_usd": usd, "total_duration_ms": ms});
        Map::from_iter([("session_id".to_owned(), json!("s")), ("cost".to_owned(), cost)])
    };
    let event = |usd, ms| Event::from_record(&line(payload(usd, ms), at_seconds("1"), at_seconds("1")));
    assert!(fleet.is_news(&event(0.5, 1)));
    fleet.apply(&event(0.5, 1));
    assert!(!fleet.is_news(&event(0.5, 2)), "only a duration changed");
    assert!(fleet.is_news(&event(0.6, 2)));
    assert!(!Fleet::new(FoldSettings::default()).is_news(&event(0.5, 1)), "the session is unknown");
}

#[test]
fn rate_limits_belong_to_the_fleet_and_the_newest_value_counts() {
    let mut fleet = fleet("0 SessionStart\n0 SessionStart session_id=t");
    let limits = |percent: f64| json!({"rate_limits": {"five_hour": {"used_percentage": percent, "resets_at": at_seconds("9000").as_millis() / 1000}}});
    says(&mut fleet, "5", limits(40.0));
    says(&mut fleet, "6@4", limits(39.0));
    let told = |fleet: &Fleet, now| json!(fleet.rate_limits(now));
    assert_eq!(
        told(&fleet, at_seconds("10")),
        json!({"five_hour": {"percent": 40.0, "resets_at": at_seconds("9000")}, "seven_day": null})
    );
    assert_eq!(told(&fleet, at_seconds("9000")), json!(null), "reset since");
    let back: Fleet = serde_json::from_str(&serde_json::to_string(&fleet).unwrap()).unwrap();
    assert_eq!(told(&back, at_seconds("10")), told(&fleet, at_seconds("10")));
    assert!(fleet.rate_limits(at_seconds("10") + Millis(1)).is_some());
}
