//! Reads the new lines of one file: whole lines only, from the last read position, in bounded memory.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use flightdeck_core::fnv::Fnv;

/// Bytes per read: large enough to be fast, small enough for the processor's cache.
const CHUNK_BYTES: usize = 256 * 1024;
/// Longest line that is read. A longer one is skipped: it cannot be a message.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes before the position that are hashed: enough to recognise a file, because every line has its own id and time.
const MARK_BYTES: u64 = 96;

/// Where reading stopped, and in which file. The position is always just after a line end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadPosition {
    pub dev: u64,
    pub inode: u64,
    pub read_to: u64,
    pub mark: u64,
}

/// The result of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// Read up to this position, which is the old one if there was nothing new.
    Read(ReadPosition),
    /// The path names another file now, or the content was rewritten: read everything again.
    Replaced,
    Gone,
}

/// Keeps its buffer between files, so that a thousand small files cost one allocation.
#[derive(Debug, Default)]
pub struct LineReader {
    buffer: Vec<u8>,
}

impl LineReader {
    /// Calls `each` with every whole line after `from`, without its line end. Stops after a chunk if `enough` returns true. The
    /// returned position is where it stopped.
    pub fn read_new_lines(
        &mut self,
        path: &Path,
        from: ReadPosition,
        mut each: impl FnMut(&[u8]),
        mut enough: impl FnMut() -> bool,
    ) -> io::Result<ReadOutcome> {
        let mut file = match open(path)? {
            Some(file) => file,
            None => return Ok(ReadOutcome::Gone),
        };
        let about = file.metadata()?;
        if from.read_to > 0 && !is_same_file(&file, &about, from)? {
            return Ok(ReadOutcome::Replaced);
        }
        let mut read_to = from.read_to;
        if about.len() > read_to {
            file.seek(SeekFrom::Start(read_to))?;
            read_to += self.lines(&mut file, &mut each, &mut enough)?;
        }
        let mark = if read_to == from.read_to { from.mark } else { hash_before(&file, read_to)? };
        Ok(ReadOutcome::Read(ReadPosition { dev: about.dev(), inode: about.ino(), read_to, mark }))
    }

    /// Returns the number of bytes of whole lines.
    fn lines(
        &mut self,
        file: &mut File,
        each: &mut impl FnMut(&[u8]),
        enough: &mut impl FnMut() -> bool,
    ) -> io::Result<u64> {
        let (mut filled, mut done, mut skipping) = (0, 0_u64, 0_u64);
        self.buffer.resize(self.buffer.len().max(CHUNK_BYTES), 0);
        loop {
            let read = match file.read(&mut self.buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => read,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            let (searched, end) = (filled, filled + read);
            let mut start = 0;
            for newline in memchr::memchr_iter(b'\n', &self.buffer[searched..end]) {
                let stop = searched + newline;
                let line = &self.buffer[start..stop];
                // The rest of a line that was too long is not a line.
                if skipping == 0 {
                    each(line.strip_suffix(b"\r").unwrap_or(line));
                }
                done += std::mem::take(&mut skipping) + (stop + 1 - start) as u64;
                start = stop + 1;
            }
            self.buffer.copy_within(start..end, 0);
            filled = end - start;
            if start > 0 && enough() {
                break;
            }
            if filled >= LINE_BYTES_MAX {
                skipping += filled as u64;
                filled = 0;
            }
            if filled == self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        // The space for one long line is released.
        self.buffer.truncate(CHUNK_BYTES);
        self.buffer.shrink_to(CHUNK_BYTES);
        Ok(done)
    }
}

/// `None` if it does not exist, or is not a file (a folder called `x.jsonl`).
pub(super) fn open(path: &Path) -> io::Result<Option<File>> {
    // Opening a pipe would block for ever. A link is followed.
    match std::fs::metadata(path) {
        Ok(about) if about.is_file() => {}
        Ok(_) => return Ok(None),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(e) => return Err(e),
    }
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

fn is_same_file(file: &File, about: &Metadata, from: ReadPosition) -> io::Result<bool> {
    let same_file = (about.dev(), about.ino()) == (from.dev, from.inode);
    Ok(same_file && about.len() >= from.read_to && hash_before(file, from.read_to)? == from.mark)
}

/// A hash of the last bytes before `read_to`.
fn hash_before(file: &File, read_to: u64) -> io::Result<u64> {
    let mut bytes = [0; MARK_BYTES as usize];
    let len = read_to.min(MARK_BYTES);
    let bytes = &mut bytes[..len as usize];
    match file.read_exact_at(bytes, read_to - len) {
        Ok(()) => {}
        // The file was truncated meanwhile. No file has the mark 0, so the next read finds it replaced.
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(0),
        Err(e) => return Err(e),
    }
    Ok(Fnv::hash_bytes(bytes).max(1))
}

#[cfg(test)]
#[path = "line_reader_tests.rs"]
mod tests;
