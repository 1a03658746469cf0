//! Property test: install and uninstall keep all foreign settings of any file, in any formatting.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::fixture::{SettingsFixture, meaning_without_ours};

fn any_handler() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => "[a-z é🛫\"\\\\{}]{0,12}".prop_map(|command| json!({"type": "command", "command": command})),
        1 => Just(json!({"type": "command", "command": "old # flightdeck-hook", "timeout": 1})),
        1 => Just(json!({"type": "http", "url": "http://127.0.0.1:9/?via=flightdeck-hook"})),
        1 => any_json(),
    ]
}

fn any_entry() -> impl Strategy<Value = Value> {
    let group = prop::collection::vec(any_handler(), 0..4).prop_map(|handlers| json!({"hooks": handlers}));
    let matched = prop::collection::vec(any_handler(), 0..4)
        .prop_map(|handlers| json!({"matcher": "Bash", "hooks": handlers, "x": [1]}));
    prop_oneof![2 => group, 2 => matched, 1 => any_handler()]
}

fn any_hooks() -> impl Strategy<Value = Value> {
    let name = prop_oneof![Just("Stop"), Just("PreToolUse"), Just("SessionStart"), Just("Unheard")];
    let events = prop::collection::btree_map(name, prop::collection::vec(any_entry(), 0..4), 0..4);
    events.prop_map(|events| json!(events))
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
        let object = prop::collection::btree_map("[a-z]{1,3}", inner, 0..4).prop_map(|map| json!(map));
        prop_oneof![list, object]
    })
}

fn any_root() -> impl Strategy<Value = Value> {
    let keys = prop::collection::btree_map("[a-z]{1,4}", any_json(), 0..4);
    (keys, prop::option::of(any_hooks()), any::<bool>()).prop_map(|(keys, hooks, hooks_first)| {
        let mut root = Map::new();
        let mut rest: Vec<(String, Value)> = keys.into_iter().filter(|(key, _)| key != "hooks").collect();
        if let Some(hooks) = hooks {
            rest.insert(if hooks_first { 0 } else { rest.len() }, ("hooks".into(), hooks));
        }
        root.extend(rest);
        Value::Object(root)
    })
}

fn written(root: &Value, style: u8) -> String {
    match style {
        0 => root.to_string(),
        1 => format!("{root:#}\n"),
        2 => format!("{root:#}").lines().map(|line| tabbed(line) + "\n").collect(),
        _ => format!("\u{feff}{root:#}").replace('\n', "\r\n"),
    }
}

fn tabbed(line: &str) -> String {
    let text = line.trim_start_matches(' ');
    "\t".repeat((line.len() - text.len()) / 2) + text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_settings_survive_install_and_uninstall(root in any_root(), style in 0..4_u8) {
        let before = written(&root, style);
        let fixture = SettingsFixture::with(before.as_bytes());
        let foreign = meaning_without_ours(before.as_bytes());
        fixture.install().unwrap();
        let merged = fixture.bytes();
        prop_assert_eq!(meaning_without_ours(&merged), foreign.clone());
        prop_assert!(fixture.status().in_order());
        fixture.install().unwrap();
        prop_assert_eq!(fixture.bytes(), merged.clone());

        let elsewhere = SettingsFixture::with(&merged);
        elsewhere.uninstall().unwrap();
        prop_assert_eq!(meaning_without_ours(&elsewhere.bytes()), foreign);

        fixture.uninstall().unwrap();
        if !before.contains("flightdeck-hook") {
            prop_assert_eq!(String::from_utf8(fixture.bytes()).unwrap(), before);
        }
    }
}
