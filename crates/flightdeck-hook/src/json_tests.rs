use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use super::*;

/// Any JSON value: with all kinds of text as keys and strings.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".*", inner, 0..4)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

/// Text that is JSON in places.
fn near_json() -> impl Strategy<Value = Vec<u8>> {
    let pieces: [&[u8]; 28] = [
        b"{", b"}", b"[", b"]", b"\"", b",", b":", b" ", b"\n", b"\\", b"\\n", b"\\u00e4", b"\\ud83d",
        b"\\ude00", b"a", b"true", b"false", b"null", b"-", b"0", b"12", b".", b"e", b"+", b"E", b"\xff",
        b"\x01", b"\"k\":",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24).prop_map(|pieces| pieces.concat())
}

fn check_against_serde(text: &[u8]) {
    let accepted = serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
    assert_eq!(is_whole(text), accepted, "{}", String::from_utf8_lossy(text));
}

#[test]
fn numbers_and_nesting_are_checked_as_serde_json_does() {
    for text in [
        "0",
        "-0",
        "01",
        "-",
        "1.",
        ".5",
        "1.5e",
        "1e+5",
        "1E-5",
        "1e5.",
        "+1",
        "[]",
        "[,]",
        "[1,]",
        "{}",
        "{,}",
        "{\"a\":1,}",
        "{\"a\"}",
        "[}",
        "{]",
        "[[],{}]",
        "{\"a\":[]}",
        "",
        " ",
        "[1]x",
        "tru",
        "truex",
        "[1 2]",
        "{1:2}",
        "{\"a\" : {} , \"b\":[ ] }",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u12\"",
        "1e999",
    ] {
        check_against_serde(text.as_bytes());
    }
}

#[test]
fn an_object_may_nest_as_deep_as_serde_json_builds_one() {
    for arrays in [1, 125, 126, 127, 128] {
        for inner in ["1", "[]"] {
            let text = format!("{{\"a\":{}{inner}{}}}", "[".repeat(arrays), "]".repeat(arrays));
            let built = serde_json::from_str::<Value>(&text).is_ok();
            assert_eq!(whole_object(text.as_bytes()).is_some(), built, "{arrays} {inner}");
        }
    }
    assert!(is_whole(format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).as_bytes()));
}

#[test]
fn the_last_of_two_members_counts_and_a_key_may_be_escaped() {
    let object = br#"{"a":1, "b" : {"a":2} ,"\u0061": [ 3 ]}"#;
    assert_eq!(member(object, "a"), Some(&b"[ 3 ]"[..]));
    assert_eq!(member(object, "b"), Some(&br#"{"a":2}"#[..]));
    assert_eq!(member(object, "c"), None);
    assert_eq!(member(b"[1]", "a"), None);
    assert_eq!(member(b"{}", "a"), None);
}

#[test]
fn half_an_emoji_and_bytes_that_are_no_text_are_replaced_and_reported() {
    for (string, text, repaired) in [
        (&br"\ud83d"[..], "\u{fffd}", true),
        (br"\ude00 \ud83d\ude00 \ud83d\n", "\u{fffd} 😀 \u{fffd}\n", true),
        (br"\ud83d\ud83d\ude00", "\u{fffd}😀", true),
        (br"\u00e4\\ud83d\/\b\f", "ä\\ud83d/\u{8}\u{c}", false),
        (b"a\xff", "a\u{fffd}", true),
    ] {
        let read = unescaped(string);
        assert_eq!((read.text.as_str(), read.repaired), (text, repaired));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn strings_are_written_as_serde_json_writes_them(text in any::<String>()) {
        let mut out = Vec::new();
        write_string(&mut out, &text);
        prop_assert_eq!(out, serde_json::to_vec(&text).unwrap());
    }

    #[test]
    fn control_characters_are_written_as_serde_json_writes_them(text in "[\\x00-\\x20\\x7f\"\\\\/ä]*") {
        let mut out = Vec::new();
        write_string(&mut out, &text);
        prop_assert_eq!(out, serde_json::to_vec(&text).unwrap());
    }

    #[test]
    fn the_same_text_is_json_as_with_serde_json(text in near_json()) {
        check_against_serde(&text);
    }

    #[test]
    fn a_string_is_read_as_serde_json_reads_it(text in near_json()) {
        let quoted = [b"\"", text.as_slice(), b"\""].concat();
        let mut scanner = Scanner::new(&quoted);
        let read = scanner.string().filter(|_| scanner.peek().is_none()).map(unescaped);
        let exact = read.filter(|read| !read.repaired).map(|read| read.text);
        prop_assert_eq!(exact, serde_json::from_slice::<String>(&quoted).ok());
    }

    #[test]
    fn members_are_those_that_serde_json_finds(value in any_json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        prop_assert!(is_whole(text.as_bytes()));
        let mut found = Vec::new();
        members(text.as_bytes(), |key, value| found.push((unescaped(key).text, value.to_vec())));
        let raw: std::collections::BTreeMap<String, Box<RawValue>> = serde_json::from_str(&text).unwrap_or_default();
        let raw: Vec<_> = raw.into_iter().map(|(key, value)| (key, value.get().as_bytes().to_vec())).collect();
        found.sort();
        prop_assert_eq!(found, raw);
    }

    #[test]
    fn any_bytes_are_survived(bytes: Vec<u8>) {
        check_against_serde(&bytes);
        members(&bytes, |key, _| drop(unescaped(key)));
    }
}
