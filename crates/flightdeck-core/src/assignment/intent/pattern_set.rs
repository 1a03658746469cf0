//! A set of patterns, one bit for each.

/// Most patterns, counting each alternative. A test builds them all.
const PATTERNS_MAX: usize = 1024;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PatternSet([u64; PATTERNS_MAX / 64]);

impl PatternSet {
    pub(super) fn insert(&mut self, pattern: u16) -> Result<(), &'static str> {
        let bits = self.0.get_mut(usize::from(pattern / 64)).ok_or("more patterns than PATTERNS_MAX")?;
        *bits |= 1 << (pattern % 64);
        Ok(())
    }

    /// Adds a pattern that another set took: it is below [`PATTERNS_MAX`].
    pub(super) fn add(&mut self, pattern: u16) {
        if let Some(bits) = self.0.get_mut(usize::from(pattern / 64)) {
            *bits |= 1 << (pattern % 64);
        }
    }

    pub(super) fn add_each(&mut self, patterns: &[u16]) {
        patterns.iter().for_each(|pattern| self.add(*pattern));
    }

    pub(super) fn contains(&self, pattern: u16) -> bool {
        self.0.get(usize::from(pattern / 64)).is_some_and(|bits| bits & 1 << (pattern % 64) != 0)
    }

    pub(super) fn intersection(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(bits, more)| *bits &= more);
        self
    }

    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(word, mut bits)| {
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                Some(word * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(patterns: &[u16]) -> PatternSet {
        let mut set = PatternSet::default();
        patterns.iter().for_each(|pattern| set.insert(*pattern).unwrap());
        set
    }

    #[test]
    fn what_is_in_both_sets_is_listed_in_order() {
        let both = set(&[0, 63, 64, 1023]).intersection(&set(&[1023, 64, 1, 0]));
        assert_eq!(both.iter().collect::<Vec<_>>(), [0, 64, 1023]);
        assert!(both.contains(64) && !both.contains(63));
        assert!(PatternSet::default().insert(1024).is_err());
    }
}
