//! What holds whatever comes: any order within a second, any duplication, any unknown, any truncation.

use std::sync::LazyLock;

use flightdeck_core::board::{self, Card};
use flightdeck_core::event::Event;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::record::Record;
use flightdeck_core::rules::Rules;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_sim::corpus::{HookRecord, Scenario, scenarios};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::story;

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
    let mut arriving = Vec::new();
    for (hook, mishap) in hooks.iter().zip(mishaps.iter().cycle()) {
        let fired = Timestamp::from_millis(hook.t_ms);
        let mut env = hook.env.clone();
        if !mishap.no_clock {
            env.insert("fired_at".into(), fired.to_string().into());
        }
        let event = hurt(&hook.event, &mishap.harm);
        for copy in 0..=i64::from(mishap.twice) {
            arriving.push((fired + Millis(mishap.delay_ms * (copy + 1)), event.clone(), env.clone()));
        }
    }
    arriving.sort_by_key(|(at, ..)| *at);
    let mut last = Timestamp::default();
    let mut records = Vec::new();
    for (at, event, env) in arriving {
        // What the door refuses never reaches the log.
        if event.get("session_id").is_some_and(|id| id.is_string() && id != "")
            && event.get("hook_event_name").is_some_and(|n| n.is_string() && n != "")
        {
            let record = story::record(event, env, records.len() as u64 + 1, at, last);
            last = record.received_at;
            records.push(record);
        }
    }
    records
}

fn fold(records: &[Record]) -> Fleet {
    let mut fleet = Fleet::new(Rules::default());
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

fn big_scenarios() -> &'static [Scenario] {
    static ALL: LazyLock<Vec<Scenario>> =
        LazyLock::new(|| scenarios().into_iter().filter(|s| s.hooks.len() >= 8).collect());
    &ALL
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mishap_leaves_a_valid_board_and_a_replay_equal_to_it(pick in any::<usize>(), mishaps in mishaps()) {
        let all = big_scenarios();
        let records = arrivals(&all[pick % all.len()].hooks, &mishaps);
        let live = fold(&records);
        assert_valid(&board::board(&live));
        prop_assert_eq!(json_of(&fold(&records)), json_of(&live));
    }

    #[test]
    fn a_snapshot_anywhere_and_the_rest_of_the_log_give_the_same_fleet(
        pick in any::<usize>(), cut in any::<usize>(), mishaps in mishaps(),
    ) {
        let all = big_scenarios();
        let records = arrivals(&all[pick % all.len()].hooks, &mishaps);
        let cut = cut % (records.len() + 1);
        let snapshot = json_of(&fold(&records[..cut]));
        let mut resumed = serde_json::from_str::<Fleet>(&snapshot).unwrap().with_rules(Rules::default());
        records[cut..].iter().for_each(|r| drop(resumed.apply(&Event::from_record(r))));
        prop_assert_eq!(json_of(&resumed), json_of(&fold(&records)));
    }

    #[test]
    fn extra_ticks_between_events_change_nothing(pick in any::<usize>(), mishaps in mishaps()) {
        let all = big_scenarios();
        let records = arrivals(&all[pick % all.len()].hooks, &mishaps);
        let mut ticked = Fleet::new(Rules::default());
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
        let read = |fleet: &Fleet| board::board(fleet).iter().map(story::read).collect::<Vec<_>>();
        prop_assert_eq!(read(&shuffled), read(&in_order));
    }

    #[test]
    fn any_json_object_with_a_session_is_taken(body in any_object(4), name in "[A-Za-z]{0,20}") {
        let mut payload = body;
        payload.insert("session_id".into(), json!("s"));
        let known = flightdeck_core::wire::hook_name::HookName::ALL;
        let name = known.get(name.len()).map_or(name.clone(), |info| info.name.to_string());
        payload.insert("hook_event_name".into(), json!(if name.is_empty() { "x".to_owned() } else { name }));
        let record = story::record(payload, Map::new(), 1, Timestamp::from_millis(story::NOON), Timestamp::default());
        let mut fleet = Fleet::new(Rules::default());
        let _ = fleet.apply(&Event::from_record(&record));
        assert_valid(&board::board(&fleet));
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
