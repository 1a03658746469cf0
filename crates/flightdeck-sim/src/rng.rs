//! A small random source that gives the same numbers on every machine (SplitMix64).

#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next_u64() % (high.saturating_sub(low) + 1)
    }

    /// True in `percent` of a hundred draws.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }

    /// A number in `low..=high`, short ones more often than long ones, as waiting times are.
    pub fn skewed(&mut self, low: u64, high: u64) -> u64 {
        let unit = self.between(0, 1_000_000) as f64 / 1e6;
        let (low, high) = (low.max(1) as f64, high.max(1) as f64);
        (low * (high / low).powf(unit)).round() as u64
    }

    /// One of a slice that is not empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.between(0, from.len() as u64 - 1) as usize]
    }

    pub fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from_digit((self.next_u64() >> 60) as u32, 16).unwrap_or('0')).collect()
    }

    /// Shaped like the client's ids (version 4).
    pub fn uuid(&mut self) -> String {
        let variant = ["8", "9", "a", "b"][self.between(0, 3) as usize];
        format!("{}-{}-4{}-{variant}{}-{}", self.hex(8), self.hex(4), self.hex(3), self.hex(3), self.hex(12))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_ids() {
        assert_eq!(Rng::new(7).uuid(), Rng::new(7).uuid());
        assert_ne!(Rng::new(7).uuid(), Rng::new(8).uuid());
        assert_eq!(Rng::new(7).uuid().len(), 36);
    }

    #[test]
    fn a_skewed_number_stays_within_its_bounds() {
        let mut rng = Rng::new(1);
        assert!((0..1000).all(|_| (5..=90).contains(&rng.skewed(5, 90))));
    }
}
