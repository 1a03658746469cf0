//! Seeded damage to JSON: as bad disks, killed writers, other versions and manual edits cause it.

use flightdeck_sim::rng::Rng;
use serde_json::{Map, Value, json};

/// Larger inputs only slow each try down.
const INPUT_BYTES_MAX: usize = 64 * 1024;

pub(crate) fn damaged(samples: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut input = rng.pick(samples).clone();
    input.truncate(INPUT_BYTES_MAX);
    if rng.percent(60)
        && let Ok(mut value) = serde_json::from_slice::<Value>(&input)
    {
        for _ in 0..rng.skewed(1, 8) {
            damage_value(&mut value, rng, 0);
        }
        input = value.to_string().into_bytes();
    }
    if rng.percent(60) {
        for _ in 0..rng.skewed(1, 6) {
            damage_bytes(&mut input, samples, rng);
        }
    }
    input
}

fn random_position(input: &[u8], rng: &mut Rng) -> usize {
    rng.between(0, input.len() as u64) as usize
}

fn stretch(input: &[u8], rng: &mut Rng) -> std::ops::Range<usize> {
    let from = random_position(input, rng);
    from..(from + rng.skewed(1, 200) as usize).min(input.len())
}

fn damage_bytes(input: &mut Vec<u8>, samples: &[Vec<u8>], rng: &mut Rng) {
    let at = random_position(input, rng);
    match rng.between(0, 10) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << rng.between(0, 7);
            }
        }
        1 => input.truncate(at),
        2 => drop(input.drain(stretch(input, rng))),
        3 => {
            let piece = input[stretch(input, rng)].to_vec();
            input.splice(at..at, piece);
        }
        4 => {
            let other = rng.pick(samples);
            let piece = other[stretch(other, rng)].to_vec();
            input.splice(at..at, piece);
        }
        5 => drop(input.splice(at..at, rng.pick(&INVALID_UTF8).iter().copied())),
        6 => drop(input.splice(at..at, rng.pick(&NUMBERS).bytes())),
        7 => drop(input.splice(at..at, rng.pick(&SYNTAX).bytes())),
        8 => {
            let depth = rng.skewed(1, 5_000) as usize;
            let bracket = *rng.pick(&["[", "{\"a\":", "]", "}"]);
            input.splice(at..at, bracket.repeat(depth).bytes());
        }
        // A duplicate key with another value.
        9 => {
            let again = b"{\"session_id\":\"other\",\"type\":1,\"cmd\":\"ping\",\"hooks\":{},";
            if input.first() == Some(&b'{') {
                input.splice(0..1, again.iter().copied());
            }
        }
        _ => {
            let gap = *rng.pick(&[" ", "\n", "\r\n", "\u{feff}", "\0"]);
            input.splice(at..at, gap.bytes());
        }
    }
    input.truncate(2 * INPUT_BYTES_MAX);
}

const INVALID_UTF8: [&[u8]; 5] = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\x80\x80"];
const NUMBERS: [&str; 9] = [
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "9223372036854775807",
    "1e308",
    "1e999",
    "-0.0",
    "4294967296",
    "0.1e-400",
];
const SYNTAX: [&str; 12] =
    ["\"", "\\", "\\u", "\\ud83d", "\\ud83d\\ude00", "{", "}", "[", "]", ":", ",", "//"];

/// Changes the type, size or shape of a random value in the tree.
fn damage_value(value: &mut Value, rng: &mut Rng, depth: usize) {
    let deeper = depth < 12 && rng.percent(75);
    match value {
        Value::Object(map) if deeper && !map.is_empty() => {
            let n = rng.between(0, map.len() as u64 - 1) as usize;
            if let Some(inner) = map.values_mut().nth(n) {
                damage_value(inner, rng, depth + 1);
            }
        }
        Value::Array(list) if deeper && !list.is_empty() => {
            let n = rng.between(0, list.len() as u64 - 1) as usize;
            damage_value(&mut list[n], rng, depth + 1);
        }
        Value::Object(map) => damage_map(map, rng),
        other => *other = strange(other, rng),
    }
}

fn damage_map(map: &mut Map<String, Value>, rng: &mut Rng) {
    let key = map.keys().nth(rng.between(0, map.len().max(1) as u64 - 1) as usize).cloned();
    match (rng.between(0, 3), key) {
        (0, Some(key)) => drop(map.shift_remove(&key)),
        (1, Some(key)) => {
            let value = map.shift_remove(&key).unwrap_or_default();
            map.insert(format!("{key}X"), value);
        }
        (2, Some(key)) => {
            let value = map.get(&key).cloned().unwrap_or_default();
            map.insert(key, strange(&value, rng));
        }
        _ => drop(map.insert(rng.hex(4), json!({"deep": [1, {"er": null}]}))),
    }
}

fn strange(was: &Value, rng: &mut Rng) -> Value {
    match rng.between(0, 12) {
        0 => Value::Null,
        1 => json!(u64::MAX),
        2 => json!(i64::MIN),
        3 => json!(f64::MAX),
        4 => json!(true),
        5 => json!(""),
        6 => json!("x".repeat(rng.skewed(1, 20_000) as usize)),
        7 => json!(["\u{1b}[31m", "\u{0}", "<script>", "\u{202e}", "👩‍👩‍👧"][rng.between(0, 4) as usize]),
        8 => json!([was]),
        9 => json!({ "value": was }),
        10 => (0..rng.skewed(1, 200)).fold(was.clone(), |inner, _| json!([inner])),
        11 => json!(vec![was.clone(); rng.skewed(1, 100) as usize]),
        _ => json!(-1),
    }
}
