//! JSON that the client may well write and our parser refuses: text cut inside a character.
//!
//! JavaScript cuts strings between the halves of an emoji and then writes the lone half as `\ud83d`.

/// The same JSON with `U+FFFD` for each lone surrogate and each byte that is not UTF-8, or `None` if there is neither.
pub(super) fn repaired(json: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(json);
    let mut out = Vec::with_capacity(text.len());
    let mut changed = matches!(text, std::borrow::Cow::Owned(_));
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|b| *b == b'\\') {
        let (before, escape) = rest.split_at(at);
        out.extend_from_slice(before);
        let len = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => 0,
            // A backslash hides the next byte, which may be another backslash.
            _ => escape.len().min(2),
        };
        if len == 0 {
            out.extend_from_slice(b"\\ufffd");
            changed = true;
        }
        out.extend_from_slice(&escape[..len]);
        rest = &escape[if len == 0 { 6 } else { len }..];
    }
    out.extend_from_slice(rest);
    changed.then_some(out)
}

/// The number in `\uXXXX`, if that is what stands here.
fn unit(escape: &[u8]) -> Option<u16> {
    let hex = escape.strip_prefix(b"\\u")?.get(..4)?;
    // `from_str_radix` would take a sign.
    let hex = std::str::from_utf8(hex).ok().filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u16::from_str_radix(hex, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(json: &[u8], expected: Option<&str>) {
        assert_eq!(repaired(json).map(|b| String::from_utf8(b).unwrap()).as_deref(), expected);
    }

    #[test]
    fn halves_become_a_mark_and_whole_characters_stay() {
        check(br#""\ud83d""#, Some(r#""\ufffd""#));
        check(br#""\ude00 \ud83d\ude00 \ud83d\n""#, Some(r#""\ufffd \ud83d\ude00 \ufffd\n""#));
        check(br#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#));
        check(br#""\ud83d\ude00 \u00e4""#, None);
    }

    #[test]
    fn a_backslash_that_was_written_itself_starts_no_escape() {
        check(br#""C:\\ud83d""#, None);
        check(br#""\\\ud83d""#, Some(r#""\\\ufffd""#));
    }

    #[test]
    fn bytes_that_are_no_text_become_a_mark() {
        check(b"\"\xff\"", Some("\"\u{fffd}\""));
    }

    proptest! {
        #[test]
        fn once_repaired_nothing_is_left_to_repair(
            bytes in prop::collection::vec(prop::sample::select(b"\\ud83e0 \"\xffx".to_vec()), 0..60)
        ) {
            if let Some(once) = repaired(&bytes) {
                prop_assert_eq!(repaired(&once), None);
            }
        }
    }
}
