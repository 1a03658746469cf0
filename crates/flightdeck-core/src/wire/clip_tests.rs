use proptest::prelude::*;

use super::*;
use crate::log::tool::ToolUse;

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { unreachable!() };
    map
}

fn big(tool: &str) -> Map<String, Value> {
    let input = json!({"file_path": "a", "content": "é".repeat(20_000)});
    object(json!({"tool_name": tool, "tool_input": input, "tool_response": {"l": vec![1; 200]}}))
}

fn clipped(name: HookName, payload: Value) -> Map<String, Value> {
    let mut payload = object(payload);
    let bytes = json_len(&payload);
    assert!(clip(Some(name), &mut payload, bytes));
    payload
}

#[test]
fn a_large_tool_result_is_cut_with_a_mark_and_keeps_its_digest() {
    let whole = big("Write");
    let mut cut = whole.clone();
    assert!(clip(Some(HookName::PostToolUse), &mut cut, 40_100));
    assert!(serde_json::to_string(&cut).unwrap().len() < 5_000);
    assert!(cut["tool_input"]["content"].as_str().unwrap().ends_with("bytes clipped]"));
    assert_eq!(cut[MARK]["bytes"], 40_100);
    assert_eq!(input_digest(&cut), input_digest(&whole));
}

#[test]
fn what_a_person_decides_on_is_never_cut() {
    let mut asked = big("Write");
    assert!(!clip(Some(HookName::PermissionRequest), &mut asked, 40_100));
    let mut plan = big("ExitPlanMode");
    clip(Some(HookName::PostToolUse), &mut plan, 40_100);
    assert_eq!(plan["tool_input"], big("ExitPlanMode")["tool_input"]);
}

#[test]
fn a_small_payload_stays_as_it_came() {
    let mut small = big("Write");
    assert!(!clip(Some(HookName::PostToolUse), &mut small, 100));
    assert_eq!(small, big("Write"));
}

#[test]
fn any_event_has_a_budget() {
    let text = "x".repeat(3_000_000);
    let cases = [
        (Some(HookName::PreToolUse), TOOL_PAYLOAD_BYTES_MAX),
        (Some(HookName::UserPromptSubmit), OTHER_PAYLOAD_BYTES_MAX),
        (Some(HookName::Stop), OTHER_PAYLOAD_BYTES_MAX),
        (None, OTHER_PAYLOAD_BYTES_MAX),
        (Some(HookName::PermissionRequest), PAYLOAD_BYTES_MAX),
    ];
    for (name, budget) in cases {
        let mut payload = object(json!({
            "session_id": "s", "tool_use_id": "t1", "prompt": text, "last_assistant_message": text, "tool_input": {"a": text},
            "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
        }));
        let suggestions = payload["permission_suggestions"].clone();
        assert!(clip(name, &mut payload, 9_000_000));
        assert!(json_len(&payload) <= budget, "{name:?}: {}", json_len(&payload));
        assert_eq!((&payload["session_id"], &payload["tool_use_id"]), (&json!("s"), &json!("t1")));
        assert_eq!(payload["permission_suggestions"], suggestions);
        assert!(payload["prompt"].as_str().unwrap().starts_with("xxxx"));
        assert_eq!(payload[MARK]["bytes"], 9_000_000);
    }
}

#[test]
fn an_input_is_shortened_for_the_card_to_its_bytes() {
    let mut input = object(json!({"file_path": "a", "content": "x\n".repeat(100_000), "k": vec!["y"; 9000]}));
    shorten(&mut input, 10_000);
    assert!(json_len(&input) <= 10_000);
    assert_eq!(input["file_path"], "a");
    assert!(input["content"].as_str().unwrap().ends_with("bytes clipped]"));
    let whole = input.clone();
    shorten(&mut input, 10_000);
    assert_eq!(input, whole);
}

#[test]
fn the_longest_text_goes_first() {
    let short = "the question a person answers ".repeat(20);
    let cut = clipped(
        HookName::PreToolUse,
        json!({"tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": short, "options": [{"label": "a"}]}], "annex": "x".repeat(900_000)}}),
    );
    assert_eq!(cut["tool_input"]["questions"][0], json!({"question": short, "options": [{"label": "a"}]}));
    assert!(cut["tool_input"]["annex"].as_str().unwrap().ends_with("bytes clipped]"));
}

#[test]
fn every_call_of_a_large_batch_is_still_known_with_the_digest_of_its_input() {
    let call = |n: usize| json!({"tool_name": "Write", "tool_use_id": format!("t{n}"), "tool_input": {"content": n.to_string().repeat(9_000)}, "tool_response": "y".repeat(5_000)});
    let calls: Vec<Value> = (10..60).map(call).collect();
    let cut = clipped(HookName::PostToolBatch, json!({"session_id": "s", "tool_calls": calls}));
    assert!(json_len(&cut) <= TOOL_PAYLOAD_BYTES_MAX);
    let read = |list: &[Value]| {
        let uses = list.iter().map(|c| ToolUse::from_payload(c.as_object().unwrap()));
        uses.map(|u| (u.id, u.name, u.digest)).collect::<Vec<_>>()
    };
    assert_eq!(read(lenient::list(&cut, "tool_calls")), read(&calls));
}

#[test]
fn long_keys_and_deep_nests_are_bounded_too() {
    let mut deep = json!("end");
    for _ in 0..90 {
        deep = json!([deep]);
    }
    let cut = clipped(HookName::Stop, json!({"k".repeat(100_000): 1, "deep": deep, "session_id": "s"}));
    assert!(json_len(&cut) < 1000, "{}", json_len(&cut));
    assert!(cut.keys().any(|k| k.starts_with("kkk") && k.ends_with("bytes clipped]")));
    assert!(Value::Object(cut).to_string().contains("nested too deep"));
}

/// The worst that fits no level: only the bones are left, and they are bounded.
#[test]
fn what_no_level_can_hold_keeps_what_the_fold_reads() {
    let nest = |leaf: Value| json!(vec![vec![vec![vec![leaf; 20]; 20]; 20]; 20]);
    let calls: Vec<Value> = (0..500)
        .map(|n| json!({"tool_use_id": format!("t{n}"), "tool_name": "\u{1}".repeat(5000), "type": "\u{1}".repeat(5000)}))
        .collect();
    let mut payload =
        object(json!({"tool_calls": calls, "background_tasks": calls, "x": nest(json!("\u{1}".repeat(30)))}));
    for key in KEPT {
        payload.insert(key.to_owned(), json!("\u{1}".repeat(10_000)));
    }
    payload.insert("tool_use_id".into(), json!("t1"));
    assert!(clip(Some(HookName::PostToolBatch), &mut payload, 50_000_000));
    assert!(json_len(&payload) <= PAYLOAD_BYTES_MAX, "{}", json_len(&payload));
    assert_eq!(payload["tool_use_id"], "t1");
    assert_eq!(payload["tool_calls"][63]["tool_use_id"], "t63");
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<f64>().prop_map(Value::from),
        ("[\u{1}a\"é]{0,4}", 0..20_000_usize).prop_map(|(s, n)| Value::from(s.repeat(n))),
        (0..2000_usize).prop_map(|n| json!(vec![1e15; n])),
    ];
    leaf.prop_recursive(4, 8, 3, |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..4), 1..100_usize)
                .prop_map(|(items, n)| Value::from(items.into_iter().cycle().take(n).collect::<Vec<_>>())),
            prop::collection::vec(("[\u{1}k]{1,9}", 1..200_usize, inner), 0..5).prop_map(|fields| {
                fields.into_iter().map(|(k, n, v)| (k.repeat(n), v)).collect::<Map<_, _>>().into()
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_payload_is_ever_stored_over_the_limit(
        fields in prop::collection::vec((prop::sample::select(vec!["tool_input", "tool_calls", "cwd", "x", "y"]), anything()), 0..5),
        name in prop::sample::select(HookName::ALL.iter().map(|info| info.name).collect::<Vec<_>>()),
    ) {
        let mut payload: Map<String, Value> = fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        payload.insert("session_id".into(), json!("s"));
        let bytes = json_len(&payload);
        let was = clip(Some(name), &mut payload, bytes);
        prop_assert!(json_len(&payload) <= PAYLOAD_BYTES_MAX);
        prop_assert_eq!(was, payload.contains_key(MARK));
        prop_assert_eq!(&payload["session_id"], "s");
    }
}
