//! Reads what is new in one file: whole lines only, from where the last reading stopped, in bounded memory.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use flightdeck_core::fnv::Fnv;

/// Bytes asked for at a time: large enough to be quick, small enough to stay in the processor's cache.
const CHUNK_BYTES: usize = 256 * 1024;
/// Longest line that is read. A larger one is passed over: it cannot be a message.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes before the place that are compared: enough to know a file again, since every line has its own id and time.
const MARK_BYTES: u64 = 96;

/// Where reading stopped, and in which file: always just after a line end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub dev: u64,
    pub inode: u64,
    pub read_to: u64,
    pub mark: u64,
}

/// What a look at a file found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Read on to here; equal to the old place if there was nothing new.
    Read(Place),
    /// It is another file now, or its beginning was rewritten: read everything again.
    Replaced,
    Gone,
}

/// A buffer for lines that is used again and again, so that a thousand small files cost one allocation.
#[derive(Debug, Default)]
pub struct Reader {
    buffer: Vec<u8>,
}

impl Reader {
    /// Calls `each` with every whole line after `from`, without its line end. `enough` is asked between chunks; the place
    /// that comes back is where it stopped.
    pub fn read_on(
        &mut self,
        path: &Path,
        from: Place,
        mut each: impl FnMut(&[u8]),
        mut enough: impl FnMut() -> bool,
    ) -> io::Result<Found> {
        let mut file = match open(path)? {
            Some(file) => file,
            None => return Ok(Found::Gone),
        };
        let about = file.metadata()?;
        if from.read_to > 0 && !is_the_same(&file, &about, from)? {
            return Ok(Found::Replaced);
        }
        let mut read_to = from.read_to;
        if about.len() > read_to {
            file.seek(SeekFrom::Start(read_to))?;
            read_to += self.lines(&mut file, &mut each, &mut enough)?;
        }
        let mark = if read_to == from.read_to { from.mark } else { mark(&file, read_to)? };
        Ok(Found::Read(Place { dev: about.dev(), inode: about.ino(), read_to, mark }))
    }

    /// How many bytes of whole lines there were.
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
                // The end of a line whose beginning was given up is no line.
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
        // One long line must not keep its room for ever.
        self.buffer.truncate(CHUNK_BYTES);
        self.buffer.shrink_to(CHUNK_BYTES);
        Ok(done)
    }
}

/// `None` if it is not there, or is no file (a folder called `x.jsonl`).
fn open(path: &Path) -> io::Result<Option<File>> {
    // A pipe in the place of a transcript would wait for ever at opening; a link is followed.
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

fn is_the_same(file: &File, about: &Metadata, from: Place) -> io::Result<bool> {
    let same_file = (about.dev(), about.ino()) == (from.dev, from.inode);
    Ok(same_file && about.len() >= from.read_to && mark(file, from.read_to)? == from.mark)
}

/// A sum of the last bytes before `read_to`.
fn mark(file: &File, read_to: u64) -> io::Result<u64> {
    let mut bytes = [0; MARK_BYTES as usize];
    let len = read_to.min(MARK_BYTES);
    let bytes = &mut bytes[..len as usize];
    match file.read_exact_at(bytes, read_to - len) {
        Ok(()) => {}
        // Cut off while we looked: no file has this mark, so the next look finds it replaced.
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(0),
        Err(e) => return Err(e),
    }
    Ok(Fnv::of(bytes).max(1))
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
