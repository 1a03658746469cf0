//! Properties that hold for any input: any order within a second, any duplication, any unknown, any truncation.

use std::sync::LazyLock;

use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::{EventId, Record, Verbatim};
use flightdeck_core::log::{from_hook, from_registry};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::{self, card::Card};
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_core::wire::hook_name::{HookForm, HookName};
use flightdeck_sim::corpus::{CapturedScenario, HookRecord, RegistryRecord, scenarios};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::script;

/// What may go wrong with one captured event on its way.
#[derive(Clone, Debug)]
struct Mishap {
    /// Arrives this much later than it fired.
    delay_ms: i64,
    twice: bool,
    /// Drops the sender's clock, as http hooks do.
    no_clock: bool,
    harm: Harm,
}

#[derive(Clone, Debug)]
enum Harm {
    None,
    RenameEvent,
    DropField(usize),
    FieldBecomes(usize, u8),
    ExtraField,
    TruncateText(usize, usize),
}

fn mishaps() -> impl Strategy<Value = Vec<Mishap>> {
    let harm = prop_oneof![
        6 => Just(Harm::None),
        1 => Just(Harm::RenameEvent),
        1 => any::<usize>().prop_map(Harm::DropField),
        1 => (any::<usize>(), any::<u8>()).prop_map(|(f, k)| Harm::FieldBecomes(f, k)),
        1 => Just(Harm::ExtraField),
        1 => (any::<usize>(), 0..40_usize).prop_map(|(f, n)| Harm::TruncateText(f, n)),
    ];
    let one = (0..1000_i64, prop::bool::weighted(0.1), prop::bool::weighted(0.1), harm);
    let one = one.prop_map(|(delay_ms, twice, no_clock, harm)| Mishap { delay_ms, twice, no_clock, harm });
    prop::collection::vec(one, 60)
}

fn hurt(event: &Map<String, Value>, harm: &Harm) -> Map<String, Value> {
    let mut event = event.clone();
    let nth = |event: &Map<String, Value>, n: usize| event.keys().nth(n % event.len().max(1)).cloned();
    match harm {
        Harm::None => {}
        Harm::RenameEvent => drop(event.insert("hook_event_name".into(), "SomethingNew".into())),
        Harm::ExtraField => drop(event.insert("novelty".into(), json!({"deep": [1, {"er": null}]}))),
        Harm::DropField(n) => {
            if let Some(key) = nth(&event, *n) {
                event.remove(&key);
            }
        }
        Harm::FieldBecomes(n, kind) => {
            let values = [json!(7), json!(null), json!(["a"]), json!({"b": 1}), json!(true), json!("")];
            if let Some(key) = nth(&event, *n) {
                event.insert(key, values[usize::from(*kind) % values.len()].clone());
            }
        }
        Harm::TruncateText(n, len) => {
            if let Some(key) = nth(&event, *n)
                && let Some(Value::String(s)) = event.get_mut(&key)
            {
                s.truncate(s.floor_char_boundary(*len));
            }
        }
    }
    event
}

/// The records of a scenario as they would arrive after the mishaps, in order of arrival.
fn arrivals(hooks: &[HookRecord], mishaps: &[Mishap]) -> Vec<Record> {
    stamped(told_by_hooks(hooks, mishaps))
}

fn told_by_hooks(hooks: &[HookRecord], mishaps: &[Mishap]) -> Vec<(Timestamp, Record)> {
    let mut arriving = Vec::new();
    for (hook, mishap) in hooks.iter().zip(mishaps.iter().cycle()) {
        let fired = Timestamp::from_millis(hook.t_ms);
        let mut env = hook.env.clone();
        if !mishap.no_clock {
            env.insert("fired_at".into(), fired.to_string().into());
        }
        let payload = hurt(&hook.event, &mishap.harm);
        let bytes = serde_json::to_vec(&payload).unwrap().len();
        let draft = HookDraft { name_in_path: None, payload, env, bytes };
        // What the door refuses never reaches the log.
        let Ok(record) = draft.into_record(EventId(0)) else { continue };
        for copy in 0..=i64::from(mishap.twice) {
            arriving.push((fired + Millis(mishap.delay_ms * (copy + 1)), record.clone()));
        }
    }
    arriving
}

/// What the client's registry said meanwhile.
fn told_by_registry(entries: &[RegistryRecord]) -> Vec<(Timestamp, Record)> {
    let heard = entries.iter().filter_map(|entry| {
        let record = from_registry::registry_record(entry.content.as_ref()?, EventId(0))?;
        Some((Timestamp::from_millis(entry.t_ms), record))
    });
    heard.collect()
}

fn stamped(mut arriving: Vec<(Timestamp, Record)>) -> Vec<Record> {
    arriving.sort_by_key(|(at, _)| *at);
    let mut last = Timestamp::default();
    let mut seq = 0;
    let mut stamp = |(at, mut record): (Timestamp, Record)| {
        seq += 1;
        (record.seq, record.id) = (seq, EventId(u128::from(seq)));
        from_hook::stamp(&mut record, at, last);
        last = record.received_at;
        record
    };
    arriving.into_iter().map(&mut stamp).collect()
}

/// A record as the log keeps it: text.
fn stored(record: &Record) -> String {
    json!({
        "seq": record.seq, "id": record.id.to_string(), "fired_at": record.fired_at, "received_at": record.received_at,
        "source": record.source, "name": record.name, "host": record.host, "subject": record.subject, "agent_id": record.agent_id,
        "payload": record.payload, "envelope": record.envelope,
    })
    .to_string()
}

fn read_back(line: &str) -> Record {
    let mut line: Map<String, Value> = serde_json::from_str(line).unwrap();
    let mut take = |key: &str| line.remove(key).unwrap();
    let Value::Object(payload) = take("payload") else { panic!("no payload") };
    Record {
        seq: take("seq").as_u64().unwrap(),
        id: EventId::parse(take("id").as_str().unwrap()).unwrap(),
        fired_at: serde_json::from_value(take("fired_at")).unwrap(),
        received_at: serde_json::from_value(take("received_at")).unwrap(),
        source: serde_json::from_value(take("source")).unwrap(),
        name: serde_json::from_value(take("name")).unwrap(),
        host: serde_json::from_value(take("host")).unwrap(),
        subject: serde_json::from_value(take("subject")).unwrap(),
        agent_id: serde_json::from_value(take("agent_id")).unwrap(),
        envelope: serde_json::from_value(take("envelope")).unwrap(),
        payload,
        verbatim: Verbatim::default(),
    }
}

/// As the engine does it: each event as it comes, and between them the timers when they are due, or a look at the clock.
fn live(records: &[Record], looks_ms: &[i64]) -> Fleet {
    let mut fleet = Fleet::new(FoldSettings::default());
    for (record, look) in records.iter().zip(looks_ms.iter().cycle()) {
        while let Some(due) = fleet.next_wake().filter(|due| *due <= record.received_at - Millis(*look)) {
            let _ = fleet.tick(due);
        }
        let _ = fleet.tick((record.received_at - Millis(*look)).max(fleet.now()));
        let _ = fleet.apply(&Event::from_record(record));
    }
    fleet
}

fn fold(records: &[Record]) -> Fleet {
    let mut fleet = Fleet::new(FoldSettings::default());
    records.iter().for_each(|r| drop(fleet.apply(&Event::from_record(r))));
    fleet
}

fn json_of(fleet: &Fleet) -> String {
    serde_json::to_string(fleet).unwrap()
}

fn assert_valid(cards: &[Card]) {
    for card in cards {
        assert!(!card.agent_state.label.is_empty(), "{card:?}");
        assert!(!card.agent_state.label.contains('\u{1b}'));
        assert_eq!(card.agent_state.state.group(), card.agent_state.group);
        assert!(card.rank.default.is_ascii() || !card.id.is_ascii());
        assert!(card.started_at <= card.last_activity_at);
    }
}

fn big_scenarios() -> &'static [CapturedScenario] {
    static ALL: LazyLock<Vec<CapturedScenario>> =
        LazyLock::new(|| scenarios().into_iter().filter(|s| s.hooks.len() >= 8).collect());
    &ALL
}

/// How much later than its event an async hook may read the clock, and how much later any hook may arrive:
/// together before the registry's word settles.
const SLOW_MS_MAX: i64 = 150;
const HEARD_MS_MAX: i64 = 100;
/// All that was slow has come by then, and what the registry said has settled.
const CALM_MS: i64 = 1500;

/// Moments at which nothing had happened for a while: what a card says then does not depend on how quick the sources were.
fn calm_moments(scenario: &CapturedScenario) -> Vec<i64> {
    let hooks = scenario.hooks.iter().map(|h| h.t_ms);
    let mut all: Vec<i64> = hooks.chain(scenario.registry.iter().map(|r| r.t_ms)).collect();
    all.sort_unstable();
    let last = all.last().map(|t| t + CALM_MS);
    let between = all.windows(2).filter(|pair| pair[1] - pair[0] > CALM_MS).map(|pair| pair[0] + CALM_MS);
    between.chain(last).collect()
}

/// The board at that moment, with how slow each hook was and how late it was heard.
fn seen_at(scenario: &CapturedScenario, now: i64, late: &[(i64, i64)]) -> Vec<String> {
    let before: Vec<_> =
        scenario.hooks.iter().filter(|h| h.t_ms < now && !h.env.is_empty()).cloned().collect();
    let slow = before.iter().zip(late.iter().cycle()).map(|(hook, (slow, _))| {
        let is_async = HookName::parse(hook.name())
            .is_some_and(|name| matches!(name.info().form, HookForm::Async | HookForm::Held));
        HookRecord { t_ms: hook.t_ms + if is_async { *slow } else { 0 }, ..hook.clone() }
    });
    let slow: Vec<_> = slow.collect();
    let heard = |(_, delay_ms): &(i64, i64)| Mishap {
        delay_ms: *delay_ms,
        twice: false,
        no_clock: false,
        harm: Harm::None,
    };
    let heard: Vec<_> = late.iter().map(heard).collect();
    let registry: Vec<_> = scenario.registry.iter().filter(|r| r.t_ms < now).cloned().collect();
    let records = stamped([told_by_hooks(&slow, &heard), told_by_registry(&registry)].concat());
    let mut fleet = fold(&records);
    let now = Timestamp::from_millis(now);
    while let Some(due) = fleet.next_wake().filter(|due| *due <= now) {
        let _ = fleet.tick(due);
    }
    // Which of two requests came first, and which subagent, is told late too.
    let sorted = |card: &Card| {
        let read = script::read(card);
        let mut parts: Vec<_> =
            read.split(" · ").map(|part| part.split(": ").next().unwrap_or(part)).collect();
        parts[1..].sort_unstable();
        parts.join(" · ")
    };
    view::board(&fleet).iter().map(sorted).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mishap_leaves_a_valid_board_and_the_stored_log_gives_the_same(
        pick in any::<usize>(),
        mishaps in mishaps(),
        looks_ms in prop::collection::vec(0..3000_i64, 20),
        stays_s in 0..3000_i64,
    ) {
        let all = big_scenarios();
        let scenario = &all[pick % all.len()];
        let told = [told_by_hooks(&scenario.hooks, &mishaps), told_by_registry(&scenario.registry)].concat();
        let records = stamped(told);
        let log: Vec<String> = records.iter().map(stored).collect();
        let mut live = live(&records, &looks_ms);
        let mut replayed = fold(&log.iter().map(|line| read_back(line)).collect::<Vec<_>>());
        for moment in [Millis(0), Millis::seconds(stays_s)] {
            let now = live.now() + moment;
            while let Some(due) = live.next_wake().filter(|due| *due <= now) {
                let _ = live.tick(due);
            }
            let _ = (live.tick(now), replayed.tick(now));
            let cards = view::board(&live);
            assert_valid(&cards);
            let json = |fleet: &Fleet| serde_json::to_string(&view::board(fleet)).unwrap();
            prop_assert_eq!(json(&replayed), json(&live));
            prop_assert_eq!(json_of(&replayed), json_of(&live));
        }
    }

    #[test]
    fn a_snapshot_anywhere_and_the_rest_of_the_log_give_the_same_fleet(
        pick in any::<usize>(), cut in any::<usize>(), mishaps in mishaps(),
    ) {
        let all = big_scenarios();
        let records = arrivals(&all[pick % all.len()].hooks, &mishaps);
        let cut = cut % (records.len() + 1);
        let snapshot = json_of(&fold(&records[..cut]));
        let mut resumed = serde_json::from_str::<Fleet>(&snapshot).unwrap().with_settings(FoldSettings::default());
        records[cut..].iter().for_each(|r| drop(resumed.apply(&Event::from_record(r))));
        prop_assert_eq!(json_of(&resumed), json_of(&fold(&records)));
    }

    #[test]
    fn extra_ticks_between_events_change_nothing(pick in any::<usize>(), mishaps in mishaps()) {
        let all = big_scenarios();
        let records = arrivals(&all[pick % all.len()].hooks, &mishaps);
        let mut ticked = Fleet::new(FoldSettings::default());
        for record in &records {
            let _ = ticked.tick(record.received_at - Millis(3));
            let _ = ticked.tick(record.received_at);
            let _ = ticked.apply(&Event::from_record(record));
        }
        prop_assert_eq!(json_of(&ticked), json_of(&fold(&records)));
    }

    #[test]
    fn arriving_up_to_a_second_late_and_in_any_order_ends_at_the_same_board(
        pick in any::<usize>(), delays in prop::collection::vec(0..1000_i64, 60),
    ) {
        let all = big_scenarios();
        // Without the ends, so that there is a state left to compare.
        let told = |h: &&HookRecord| !h.env.is_empty() && h.name() != "SessionEnd";
        let hooks: Vec<_> = all[pick % all.len()].hooks.iter().filter(told).cloned().collect();
        let calm = |delay_ms: i64| Mishap { delay_ms, twice: false, no_clock: false, harm: Harm::None };
        let in_order = fold(&arrivals(&hooks, &[calm(0)]));
        let shuffled = fold(&arrivals(&hooks, &delays.iter().map(|d| calm(*d)).collect::<Vec<_>>()));
        let read = |fleet: &Fleet| view::board(fleet).iter().map(script::read).collect::<Vec<_>>();
        prop_assert_eq!(read(&shuffled), read(&in_order));
    }

    #[test]
    fn hooks_with_late_timestamps_end_at_the_same_board(
        pick in any::<usize>(), moment in any::<usize>(),
        late in prop::collection::vec((0..SLOW_MS_MAX, 0..HEARD_MS_MAX), 60),
    ) {
        let all = big_scenarios();
        let scenario = &all[pick % all.len()];
        let moments = calm_moments(scenario);
        let now = moments[moment % moments.len()];
        prop_assert_eq!(seen_at(scenario, now, &late), seen_at(scenario, now, &[(0, 0)]), "{} at {}", scenario.name, now);
    }

    #[test]
    fn any_json_object_with_a_session_is_taken(body in any_object(4), name in "[A-Za-z]{0,20}") {
        let mut payload = body;
        payload.insert("session_id".into(), json!("s"));
        let known = flightdeck_core::wire::hook_name::HookName::ALL;
        let name = known.get(name.len()).map_or(name.clone(), |info| info.name.to_string());
        payload.insert("hook_event_name".into(), json!(if name.is_empty() { "x".to_owned() } else { name }));
        let record = script::record(payload, Map::new(), 1, Timestamp::from_millis(script::NOON), Timestamp::default());
        let mut fleet = Fleet::new(FoldSettings::default());
        let _ = fleet.apply(&Event::from_record(&record));
        assert_valid(&view::board(&fleet));
    }
}

/// Objects that use the client's own field names with values of any type.
fn any_object(depth: u32) -> impl Strategy<Value = Map<String, Value>> {
    let key = prop::sample::select(vec![
        "tool_name",
        "tool_input",
        "tool_use_id",
        "prompt",
        "agent_id",
        "agent_type",
        "cwd",
        "source",
        "reason",
        "error",
        "tool_calls",
        "background_tasks",
        "notification_type",
        "message",
        "questions",
        "type",
        "status",
        "prompt_id",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(depth, 24, 4, move |inner| {
        let key =
            prop::sample::select(vec!["type", "status", "tool_name", "question", "questions", "tool_use_id"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    });
    prop::collection::vec((key, value), 0..10)
        .prop_map(|pairs| pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}
