use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::*;

struct TranscriptOnDisk {
    folder: tempfile::TempDir,
}

impl TranscriptOnDisk {
    fn new(lines: &[u8]) -> Self {
        let file = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(file.path(), lines).unwrap();
        file
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("s.jsonl")
    }

    fn page(&self, before: Option<u64>, limit: usize) -> ConversationPage {
        read_page(&self.path(), before, limit).unwrap().unwrap()
    }

    /// All pages, from the newest to the oldest.
    fn pages(&self, limit: usize) -> Vec<ConversationPage> {
        let mut pages = vec![self.page(None, limit)];
        while let Some(before) = pages.last().unwrap().next_before {
            pages.push(self.page(Some(before), limit));
        }
        pages
    }

    fn texts_of_pages(&self, limit: usize) -> Vec<String> {
        texts_of_pages(&self.pages(limit))
    }
}

fn texts_of_pages(pages: &[ConversationPage]) -> Vec<String> {
    pages.iter().rev().flat_map(|page| &page.messages).map(|message| message.text.clone()).collect()
}

fn answer(text: &str) -> String {
    json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}).to_string() + "\n"
}

fn noise(bytes: usize) -> String {
    json!({"type": "attachment", "attachment": "x".repeat(bytes)}).to_string() + "\n"
}

fn numbered(count: usize) -> (String, Vec<String>) {
    let said: Vec<String> = (0..count).map(|n| format!("message {n}")).collect();
    (said.iter().map(|text| answer(text)).collect(), said)
}

#[test]
fn pages_of_any_size_have_every_message_once_in_the_order_of_the_file() {
    let (lines, said) = numbered(40);
    let file = TranscriptOnDisk::new(lines.as_bytes());
    for limit in [1, 3, 39, 40, 41, usize::MAX] {
        let pages = file.pages(limit);
        assert_eq!(texts_of_pages(&pages), said, "{limit}");
        assert!(pages.iter().all(|page| page.messages.len() <= limit));
    }
    assert_eq!(file.page(None, 0).messages[0].text, "message 39");
    assert_eq!(file.page(Some(0), 5), ConversationPage::default());
    assert_eq!(TranscriptOnDisk::new(b"").page(None, 5), ConversationPage::default());
}

#[test]
fn lines_longer_than_a_chunk_and_empty_lines_are_read() {
    let long = answer(&"y".repeat(3 * CHUNK_BYTES));
    let lines = [&answer("first"), "\n\r\n", &long, &noise(CHUNK_BYTES), &answer("last")].concat();
    let file = TranscriptOnDisk::new(lines.as_bytes());
    for limit in [1, 10] {
        let read: Vec<_> =
            file.texts_of_pages(limit).iter().map(|text| text.chars().take(5).collect::<String>()).collect();
        assert_eq!(read, ["first", "yyyyy", "last"]);
    }
}

#[test]
fn a_last_line_without_its_end_is_read_once_it_is_whole() {
    let (lines, said) = numbered(3);
    for cut in 1..answer("message 2").len() - 1 {
        assert_eq!(
            TranscriptOnDisk::new(&lines.as_bytes()[..lines.len() - 1 - cut]).texts_of_pages(2),
            said[..2],
            "{cut}"
        );
    }
    assert_eq!(TranscriptOnDisk::new(&lines.as_bytes()[..lines.len() - 1]).texts_of_pages(2), said);
}

#[test]
fn a_line_over_the_limit_is_passed_over_in_bounded_pages() {
    let lines = [answer("first"), answer(&"z".repeat(2 * LINE_BYTES_MAX)), answer("last")].concat();
    let file = TranscriptOnDisk::new(lines.as_bytes());
    let pages = file.pages(10);
    assert_eq!(texts_of_pages(&pages), ["first", "last"]);
    assert!(pages.len() > 1, "the line is longer than a page");
}

#[test]
fn a_page_ends_at_its_byte_limit_and_the_next_one_goes_on() {
    let megabyte = noise(1024 * 1024);
    let lines = [&answer("first"), &*megabyte.repeat(20), &answer("last")].concat();
    let pages = TranscriptOnDisk::new(lines.as_bytes()).pages(10);
    assert_eq!(pages.len(), 2);
    assert_eq!(texts_of_pages(&pages), ["first", "last"]);
}

#[test]
fn a_position_after_the_end_is_not_a_cursor_and_a_folder_is_not_a_transcript() {
    let (lines, _) = numbered(3);
    let file = TranscriptOnDisk::new(lines.as_bytes());
    let end = lines.len() as u64;
    assert!(matches!(read_page(&file.path(), Some(end + 1), 5), Err(PageError::NotACursor)));
    assert_eq!(file.page(Some(end), 5), file.page(None, 5));
    assert!(read_page(file.folder.path(), None, 5).unwrap().is_none());
    assert!(read_page(&file.folder.path().join("gone.jsonl"), None, 5).unwrap().is_none());
}
