//! How many scenarios and checks passed.

use std::fmt;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScenarioTally {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) screens: usize,
    pub(super) boards: usize,
    /// Board checks that were skipped because a recorder has no board.
    pub(super) unjudged: usize,
}

impl ScenarioTally {
    pub(super) fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.screens += other.screens;
        self.boards += other.boards;
        self.unjudged += other.unjudged;
    }
}

impl ScenarioTally {
    /// Reads the tally that another process printed.
    pub(super) fn read(text: &str) -> Option<Self> {
        let line = text.lines().rev().find(|line| line.contains("scenarios passed"))?;
        let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
        let mut number = || numbers.next();
        Some(Self {
            passed: number()?,
            failed: number()?,
            screens: number()?,
            boards: number()?,
            unjudged: 0,
        })
    }
}

impl fmt::Display for ScenarioTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} scenarios passed, {} failed; ", self.passed, self.failed)?;
        write!(f, "{} screens read as expected, {} boards agreed", self.screens, self.boards)?;
        if self.unjudged > 0 {
            write!(f, "\nSKIPPED {} board checks: a recorder stands in for the daemon", self.unjudged)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_read_as_it_is_printed() {
        let tally = ScenarioTally { passed: 3, failed: 1, screens: 12, boards: 9, unjudged: 0 };
        let read = ScenarioTally::read(&format!("  it passed in 9 s\n\n{tally}\n")).unwrap();
        assert_eq!((read.passed, read.failed, read.screens, read.boards), (3, 1, 12, 9));
        assert!(ScenarioTally::read("it broke").is_none());
    }
}
