//! Hashes that are the same in every version of the program: FNV-1a, and a quicker one. The hash of the standard library may change between
//! versions. Neither is for secrets.

#[derive(Clone, Copy, Debug)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    pub fn hash_bytes(bytes: &[u8]) -> u64 {
        let mut hash = Self::default();
        hash.add(bytes);
        hash.finish()
    }

    pub fn finish(self) -> u64 {
        self.0
    }

    pub fn add(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// A quick hash that reads eight bytes at a time, so that hashing every event costs little.
#[derive(Clone, Copy, Debug)]
pub struct QuickHash(u64);

impl Default for QuickHash {
    fn default() -> Self {
        // Not zero: an empty text must change it too.
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl QuickHash {
    /// Adds a text and its length. So the hash of two texts differs from the hash of the two texts joined.
    pub fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let last = rest.iter().fold(bytes.len() as u64, |last, byte| (last << 8) | u64::from(*byte));
        self.mix(last);
    }

    pub fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    pub fn finish(self) -> u64 {
        self.0
    }
}

impl std::io::Write for Fnv {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_hash() {
        assert_eq!(Fnv::hash_bytes(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fnv::hash_bytes(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_quick_hash_tells_texts_apart_and_where_they_end() {
        let of = |texts: &[&str]| {
            let mut hash = QuickHash::default();
            texts.iter().for_each(|text| hash.add(text.as_bytes()));
            hash.finish()
        };
        let all = [
            of(&[]),
            of(&[""]),
            of(&["toolu_1"]),
            of(&["toolu_2"]),
            of(&["toolu_12"]),
            of(&["toolu_1", "2"]),
            of(&["toolu_123456789"]),
            of(&["toolu_123456780"]),
        ];
        let different: std::collections::BTreeSet<u64> = all.into_iter().collect();
        assert_eq!(different.len(), all.len());
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
    }
}
