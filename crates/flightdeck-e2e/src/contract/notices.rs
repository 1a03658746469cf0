//! Checks that the client still has the texts by which its own notices are recognised.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use flightdeck_core::wire::client_notices::CLIENT_NOTICES;

/// Bytes read at once; the program has some hundred megabytes.
const READ_BYTES: usize = 4 << 20;

/// One sentence for each text of the list that the client's program does not contain.
pub(super) fn gone(client: &Path) -> Result<Vec<String>> {
    let program = File::open(client).with_context(|| format!("cannot read {}", client.display()))?;
    let texts = CLIENT_NOTICES.iter().flat_map(|notice| [notice.begins, notice.then]);
    let missing = missing(program, texts.filter(|text| !text.is_empty()).collect())?;
    let sentence = |text: &str| {
        format!("the client's program has no text {text:?} any more: see core/wire/client_notices.rs")
    };
    Ok(missing.into_iter().map(sentence).collect())
}

/// The program is a script inside a binary: its texts stand in it as they are written.
fn missing(mut program: impl Read, mut texts: BTreeSet<&'static str>) -> Result<BTreeSet<&'static str>> {
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
    let mut window = Vec::new();
    let mut piece = vec![0; READ_BYTES];
    loop {
        let read = program.read(&mut piece)?;
        if read == 0 || texts.is_empty() {
            return Ok(texts);
        }
        window.extend_from_slice(&piece[..read]);
        texts.retain(|text| !contains(&window, text));
        // A text may lie across two pieces.
        window.drain(..window.len().saturating_sub(longest));
    }
}

/// A quote inside a text is escaped where the script quotes it.
fn contains(bytes: &[u8], text: &str) -> bool {
    let escaped = text.replace('"', "\\\"");
    let find = |needle: &[u8]| {
        let Some(first) = needle.first() else { return true };
        let mut from = 0;
        while let Some(at) = bytes[from..].iter().position(|byte| byte == first) {
            if bytes[from + at..].starts_with(needle) {
                return true;
            }
            from += at + 1;
        }
        false
    };
    find(text.as_bytes()) || (escaped != text && find(escaped.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_gone_is_named_and_one_across_two_reads_is_found() {
        let texts = BTreeSet::from(["<wake", "\" was stopped by the user."]);
        let program = [vec![b'x'; READ_BYTES - 3], b"<wake up".to_vec()].concat();
        assert_eq!(
            missing(program.as_slice(), texts.clone()).unwrap(),
            BTreeSet::from(["\" was stopped by the user."])
        );
        let escaped = br#"a<wake b \" was stopped by the user. c"#;
        assert!(missing(escaped.as_slice(), texts).unwrap().is_empty());
    }
}
