//! Our lines in the person's tmux configuration, as bytes: they are added at the end and taken away exactly.

/// The first line of the block. It says how the file looked before, so that removing the block restores it byte for byte.
const BEGIN: &str = "# >>> flightdeck tmux";
const END: &str = "# <<< flightdeck tmux\n";
/// The text before the block did not end with a newline, so one was added.
const ADDED_NEWLINE: &str = " (added a newline before this)";
/// There was no file.
const CREATED: &str = " (created this file)";

/// The file with the block at its end. An earlier block is replaced. `None` as `before`: there is no file.
pub(super) fn with_block(before: Option<&[u8]>, lines: &str) -> Vec<u8> {
    let original = before.map(|text| without_block(text).unwrap_or_else(|| Some(text.to_owned())));
    let (mut text, note) = match original.flatten() {
        None => (Vec::new(), CREATED),
        Some(text) if text.is_empty() || text.ends_with(b"\n") => (text, ""),
        Some(mut text) => {
            text.push(b'\n');
            (text, ADDED_NEWLINE)
        }
    };
    text.extend(format!("{BEGIN}{note}\n{lines}{END}").bytes());
    text
}

/// The file as it was before the block was added; the inner `None` means that there was no file. The outer `None` means that
/// the file has no block.
pub(super) fn without_block(text: &[u8]) -> Option<Option<Vec<u8>>> {
    let begin = line_start(text, BEGIN.as_bytes())?;
    let end = begin + find(&text[begin..], END.as_bytes())? + END.len();
    let first_line = text[begin..end].split(|byte| *byte == b'\n').next().unwrap_or_default();
    let note = first_line.strip_prefix(BEGIN.as_bytes()).unwrap_or_default();
    let mut head = text[..begin].to_vec();
    let tail = &text[end..];
    // If the person has written more behind the block, the newline in front of it has become theirs.
    if note == ADDED_NEWLINE.as_bytes() && tail.is_empty() {
        head.pop();
    }
    head.extend_from_slice(tail);
    Some(if note == CREATED.as_bytes() && head.is_empty() { None } else { Some(head) })
}

/// Whether the block has exactly these lines.
pub(super) fn has_block_with(text: &[u8], lines: &str) -> bool {
    let block = line_start(text, BEGIN.as_bytes()).map(|begin| &text[begin..]);
    let block = block.and_then(|block| Some(&block[..find(block, END.as_bytes())?]));
    block.is_some_and(|block| block.ends_with(format!("\n{lines}").as_bytes()))
}

fn line_start(text: &[u8], line: &[u8]) -> Option<usize> {
    if text.starts_with(line) {
        return Some(0);
    }
    find(text, &[b"\n", line].concat()).map(|at| at + 1)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "source-file -q '/h/tmux.conf'\n";

    #[test]
    fn removing_the_block_restores_every_byte() {
        for before in
            ["", "set -g mouse on\n", "set -g mouse on", "\r\n", "\n\n", "ü \u{0}x", "a\n# >>> flightdeck\n"]
        {
            let with = with_block(Some(before.as_bytes()), LINES);
            assert!(String::from_utf8_lossy(&with).contains(LINES));
            assert_eq!(without_block(&with), Some(Some(before.as_bytes().to_vec())), "{before:?}");
        }
        let not_utf8 = [0xff, 0xfe, b'x'];
        assert_eq!(without_block(&with_block(Some(&not_utf8), LINES)), Some(Some(not_utf8.to_vec())));
        assert_eq!(without_block(&with_block(None, LINES)), Some(None));
    }

    #[test]
    fn a_second_install_changes_nothing_and_keeps_what_is_known_of_the_original() {
        for before in [None, Some(&b"x"[..]), Some(b"x\n")] {
            let once = with_block(before, LINES);
            assert_eq!(with_block(Some(&once), LINES), once);
        }
    }

    #[test]
    fn lines_that_the_person_added_behind_the_block_stay() {
        let mut text = with_block(Some(b"a"), LINES);
        text.extend(b"b\n");
        assert_eq!(without_block(&text), Some(Some(b"a\nb\n".to_vec())));
        let mut created = with_block(None, LINES);
        created.extend(b"b\n");
        assert_eq!(without_block(&created), Some(Some(b"b\n".to_vec())));
    }

    #[test]
    fn a_block_with_the_file_of_another_home_is_not_ours() {
        let text = with_block(Some(b"a\n"), LINES);
        assert!(has_block_with(&text, LINES));
        assert!(!has_block_with(&text, "source-file -q '/other/tmux.conf'\n"));
        assert!(!has_block_with(LINES.as_bytes(), LINES), "outside of the block");
    }

    #[test]
    fn a_file_without_the_block_is_not_ours() {
        assert_eq!(without_block(b"set -g mouse on\n"), None);
        assert_eq!(without_block(b"echo '# >>> flightdeck tmux'\n"), None);
        assert_eq!(without_block(b"# >>> flightdeck tmux\nhalf of it"), None);
    }
}
