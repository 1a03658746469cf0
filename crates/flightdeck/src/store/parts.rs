//! Many bytes in parts of equal size: no caller needs them contiguous, and freed parts can be reused.

use std::borrow::Cow;
use std::io::{self, Write};

/// Small enough that the allocator does not map each part separately, and a multiple of the word size.
const PART_BYTES: usize = 64 * 1024;

#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Every part except the last has the maximum size.
    full_then_last: Vec<Vec<u8>>,
}

impl Parts {
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.full_then_last.iter().map(Vec::as_slice)
    }

    pub fn len(&self) -> usize {
        self.iter().map(<[u8]>::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.full_then_last.is_empty()
    }

    /// Copies only if there are several parts.
    pub fn joined(&self) -> Cow<'_, [u8]> {
        match &self.full_then_last[..] {
            [] => Cow::Borrowed(&[]),
            [one] => Cow::Borrowed(one),
            several => Cow::Owned(several.concat()),
        }
    }
}

impl PartialEq for Parts {
    fn eq(&self, other: &Self) -> bool {
        self.joined() == other.joined()
    }
}

impl Eq for Parts {}

/// Bytes in one piece: for reading only, not for appending.
impl From<Vec<u8>> for Parts {
    fn from(bytes: Vec<u8>) -> Self {
        Self { full_then_last: if bytes.is_empty() { Vec::new() } else { vec![bytes] } }
    }
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.full_then_last.last().is_none_or(|last| last.len() >= PART_BYTES) {
            self.full_then_last.push(Vec::with_capacity(PART_BYTES));
        }
        let Some(last) = self.full_then_last.last_mut() else { return Ok(0) };
        let fits = bytes.len().min(PART_BYTES - last.len());
        last.extend_from_slice(&bytes[..fits]);
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_of_any_length_give_the_same_bytes_in_parts_of_equal_size() {
        let text: Vec<u8> = (0..3 * PART_BYTES + 5).map(|n| n as u8).collect();
        for stride in [1, 1000, PART_BYTES, text.len()] {
            let mut parts = Parts::default();
            text.chunks(stride).for_each(|piece| parts.write_all(piece).unwrap());
            assert_eq!((parts.len(), parts.joined()), (text.len(), Cow::from(&text)));
            assert!(parts.iter().all(|part| part.len() <= PART_BYTES) && parts.iter().count() == 4);
            assert_eq!(parts, Parts::from(text.clone()));
        }
    }
}
