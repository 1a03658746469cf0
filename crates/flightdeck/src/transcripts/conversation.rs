//! Reads a conversation from its transcript, a page at a time, from the end to the beginning.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use flightdeck_core::view::conversation::{ConversationPage, messages_of_line};

use super::line_reader::open;

/// Bytes of the first read; each further read for the same line doubles what is known of it.
const CHUNK_BYTES: usize = 256 * 1024;
/// Longest line that is parsed: a prompt with a few pictures. A longer line is passed over.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes after which a page ends even if it has few messages: most bytes of a transcript are no messages. The page may be
/// longer by one line.
const PAGE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Why a page could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("`before` is not a cursor of this conversation")]
    NotACursor,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The last `limit` messages before the cursor (without one: before the end), or a few more if their line has more. `None` if
/// there is no such file.
pub fn read_page(
    path: &Path,
    before: Option<u64>,
    limit: usize,
) -> Result<Option<ConversationPage>, PageError> {
    let Some(file) = open(path)? else { return Ok(None) };
    let bytes = file.metadata()?.len();
    let end = before.unwrap_or(bytes);
    if end > bytes {
        return Err(PageError::NotACursor);
    }
    let mut lines = LinesBackwards::new(&file, end);
    let mut newest_first = Vec::new();
    while newest_first.len() < limit.max(1) && end - lines.at < PAGE_BYTES_MAX {
        let Some(line) = lines.next()? else { break };
        newest_first.extend(messages_of_line(&line, lines.at).into_iter().rev());
    }
    newest_first.reverse();
    let next_before = Some(lines.at).filter(|at| *at > 0);
    Ok(Some(ConversationPage { messages: newest_first, next_before, missing: None }))
}

/// The lines of a file before a position, the last one first. If the position is inside a line, the first line is cut there.
struct LinesBackwards<'f> {
    file: &'f File,
    /// Where the last line that was returned begins: the bytes before it are left.
    at: u64,
    /// The bytes just before `at` that were read already.
    read: Vec<u8>,
}

impl<'f> LinesBackwards<'f> {
    fn new(file: &'f File, at: u64) -> Self {
        Self { file, at, read: Vec::new() }
    }

    /// The next line, with its line end. Empty where a line longer than [`LINE_BYTES_MAX`] was passed over. `None` at the
    /// beginning of the file.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.at == 0 {
            return Ok(None);
        }
        // The line's own end does not count.
        let mut searched = 1;
        loop {
            let unsearched = &self.read[..self.read.len().saturating_sub(searched)];
            let newline = memchr::memrchr(b'\n', unsearched);
            if newline.is_some() || self.read.len() as u64 == self.at {
                return Ok(Some(self.take_line(newline.map_or(0, |at| at + 1))));
            }
            if self.read.len() > LINE_BYTES_MAX {
                self.drop_read();
                return Ok(Some(Vec::new()));
            }
            searched = self.read.len().max(1);
            self.read_more()?;
        }
    }

    fn take_line(&mut self, from: usize) -> Vec<u8> {
        let line = self.read.split_off(from);
        self.at -= line.len() as u64;
        line
    }

    /// Passes over the end of a line that is too long. What is left of the line is not whole JSON, so it is no message.
    fn drop_read(&mut self) {
        self.at -= self.read.len() as u64;
        self.read.clear();
    }

    fn read_more(&mut self) -> io::Result<()> {
        let from = self.at - self.read.len() as u64;
        let bytes = from.min(self.read.len().max(CHUNK_BYTES) as u64);
        let mut longer = vec![0; bytes as usize];
        self.file.read_exact_at(&mut longer, from - bytes)?;
        longer.append(&mut self.read);
        self.read = longer;
        Ok(())
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
