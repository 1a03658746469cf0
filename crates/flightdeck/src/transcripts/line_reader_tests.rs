use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

struct Stage {
    _folder: tempfile::TempDir,
    path: PathBuf,
    place: ReadPosition,
    lines: Vec<String>,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        Self { _folder: folder, path, place: ReadPosition::default(), lines: Vec::new() }
    }
    fn append(&self, bytes: &[u8]) {
        OpenOptions::new().create(true).append(true).open(&self.path).unwrap().write_all(bytes).unwrap();
    }
    fn look(&mut self) -> ReadOutcome {
        let lines = &mut self.lines;
        let each = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
        let found = LineReader::default().read_new_lines(&self.path, self.place, each, || false).unwrap();
        if let ReadOutcome::Read(place) = found {
            self.place = place;
        }
        found
    }
}

#[test]
fn an_incomplete_line_is_read_when_it_is_complete() {
    let mut s = Stage::new();
    s.append(b"one\r\ntw");
    s.look();
    assert_eq!((s.lines.as_slice(), s.place.read_to), (&["one".to_owned()][..], 5));
    s.append(b"o\n");
    s.look();
    assert_eq!(s.lines, ["one", "two"]);
    let before = s.place;
    assert_eq!(s.look(), ReadOutcome::Read(before));
}

#[test]
fn a_truncated_a_rewritten_and_a_replaced_file_are_noticed() {
    let rewrites: [&dyn Fn(&Path); 3] = [
        &|p| fs::write(p, "one\n").unwrap(),
        &|p| fs::write(p, "other\nlines\nand more of them\n").unwrap(),
        &|p| {
            let new = p.with_extension("new");
            fs::copy(p, &new).unwrap();
            fs::rename(&new, p).unwrap();
        },
    ];
    for rewrite in rewrites {
        let mut s = Stage::new();
        s.append(b"one\ntwo\n");
        s.look();
        rewrite(&s.path);
        assert_eq!(s.look(), ReadOutcome::Replaced);
    }
}

#[test]
fn a_missing_file_a_removed_file_and_a_folder_are_gone() {
    let mut s = Stage::new();
    assert_eq!(s.look(), ReadOutcome::Gone);
    s.append(b"one\n");
    s.look();
    fs::remove_file(&s.path).unwrap();
    assert_eq!(s.look(), ReadOutcome::Gone);
    fs::create_dir(&s.path).unwrap();
    assert_eq!(s.look(), ReadOutcome::Gone);
}

#[test]
fn a_link_is_followed() {
    let mut s = Stage::new();
    let real = s.path.with_extension("real");
    fs::write(&real, "one\n").unwrap();
    std::os::unix::fs::symlink(&real, &s.path).unwrap();
    s.look();
    assert_eq!(s.lines, ["one"]);
}

#[test]
fn a_line_too_long_to_be_a_message_is_skipped_and_the_rest_is_read() {
    let mut s = Stage::new();
    s.append(b"one\n");
    s.append(&vec![b'x'; LINE_BYTES_MAX + CHUNK_BYTES]);
    s.append(b"\ntwo\n");
    s.look();
    assert_eq!(s.lines, ["one", "two"]);
    assert_eq!(s.place.read_to, fs::metadata(&s.path).unwrap().len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn lines_are_the_same_for_every_sequence_of_appends(
        lines in proptest::collection::vec("[a-zé\"]{0,30}", 1..30),
        cuts in proptest::collection::vec(0_usize..900, 0..8),
    ) {
        let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
        let mut cuts: Vec<_> = cuts.into_iter().map(|c| c % (text.len() + 1)).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let mut s = Stage::new();
        for pair in cuts.windows(2) {
            s.append(&text.as_bytes()[pair[0]..pair[1]]);
            prop_assert!(!matches!(s.look(), ReadOutcome::Replaced));
        }
        prop_assert_eq!(s.lines, lines);
    }
}
