//! How many events of each name were ever appended.

use std::collections::BTreeMap;

use flightdeck_core::log::record::Record;

use super::Appended;

/// Totals by event name. Bounded: a sender that invents names must not grow the table.
#[derive(Clone, Debug, Default)]
pub(super) struct StoredCounts(pub(super) BTreeMap<String, u64>);

/// Claude Code has 33 events and we add a few; the rest is room for new ones.
const COUNTED_NAMES_MAX: usize = 256;
/// The name under which all further names are counted.
const OTHER_NAMES: &str = "(other)";

impl StoredCounts {
    /// How many of each name the newly appended records add, under the name they count as.
    pub(super) fn count_batch(&self, records: &[Record], appended: &[Appended]) -> BTreeMap<String, u64> {
        let new = records.iter().zip(appended).filter(|(_, a)| !a.duplicate);
        self.count_names(new.map(|(record, _)| record.name.as_str()))
    }

    pub(super) fn count_names<'a>(&self, names: impl Iterator<Item = &'a str>) -> BTreeMap<String, u64> {
        let mut added = BTreeMap::<String, u64>::new();
        for name in names {
            let name = self.counted_as(name, &added);
            match added.get_mut(name) {
                Some(count) => *count += 1,
                None => drop(added.insert(name.to_owned(), 1)),
            }
        }
        added
    }

    fn counted_as<'a>(&self, name: &'a str, added: &BTreeMap<String, u64>) -> &'a str {
        let known = self.0.contains_key(name) || added.contains_key(name);
        if known || self.0.len() + added.len() < COUNTED_NAMES_MAX { name } else { OTHER_NAMES }
    }

    pub(super) fn add(&mut self, added: BTreeMap<String, u64>) {
        for (name, count) in added {
            *self.0.entry(name).or_default() += count;
        }
    }
}
