//! Prices of tokens: a dated table, in whole nano-dollars per token, summed exactly and rounded once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::wire::tokens::FAST;
pub use crate::wire::tokens::Usage;

/// The shipped table: what the client itself was measured to charge.
const SHIPPED: &str = include_str!("../../data/prices.json");

/// An amount in nano-dollars. A price of $1 per million tokens is 1000 nano-dollars per token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The amount in micro-dollars, rounded half up. No earlier step rounds.
    pub fn micros(self) -> u64 {
        self.0.saturating_add(500) / 1000
    }
}

/// What one model charges for a token of each class, in nano-dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    pub context_window: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceTable {
    /// Where the numbers are from and when.
    pub source: String,
    models: BTreeMap<String, Price>,
    web_search: u64,
}

/// A price as a person writes it: dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DollarsPerMillion {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write_5m: f64,
    pub cache_write_1h: f64,
    pub context_window: Option<u64>,
}

#[derive(Deserialize)]
struct PriceFile {
    source: String,
    models: BTreeMap<String, DollarsPerMillion>,
    /// Prices of models at their faster speed. A model that is not listed here costs its usual price.
    #[serde(default)]
    fast: BTreeMap<String, DollarsPerMillion>,
    web_search_usd_per_request: f64,
    #[serde(default)]
    retired_public_list_prices: BTreeMap<String, DollarsPerMillion>,
}

#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    #[error("the price table is not understood: {0}")]
    Table(#[from] serde_json::Error),
    #[error(
        "the price of {model} is {dollars} dollars per million tokens: give a number from 0 to 1,000,000"
    )]
    Absurd { model: String, dollars: f64 },
}

static SHIPPED_TABLE: LazyLock<PriceTable> =
    // The file is compiled in, and a test parses it. If parsing failed here, every price would be unknown, never zero.
    LazyLock::new(|| PriceTable::parse(SHIPPED).unwrap_or_else(|_| PriceTable::empty()));

impl PriceTable {
    pub fn shipped() -> &'static Self {
        &SHIPPED_TABLE
    }

    pub fn empty() -> Self {
        Self { source: String::new(), models: BTreeMap::new(), web_search: 0 }
    }

    pub fn parse(json: &str) -> Result<Self, PriceError> {
        let table: PriceFile = serde_json::from_str(json)?;
        let mut prices = Self { source: table.source, ..Self::empty() };
        prices.web_search = nanos("web search", table.web_search_usd_per_request * 1e6)?;
        prices.set_all(&table.retired_public_list_prices)?;
        prices.set_all(&table.models)?;
        prices.set_all(&table.fast.into_iter().map(|(model, d)| (model + FAST, d)).collect())?;
        Ok(prices)
    }

    /// The table with a person's own prices for some models.
    pub fn with_own_prices(&self, own: &BTreeMap<String, DollarsPerMillion>) -> Result<Self, PriceError> {
        let mut prices = self.clone();
        prices.set_all(own)?;
        Ok(prices)
    }

    fn set_all(&mut self, models: &BTreeMap<String, DollarsPerMillion>) -> Result<(), PriceError> {
        for (model, dollars) in models {
            let mut price = Price::from_dollars(model, dollars)?;
            // A person's price may omit the window.
            price.context_window = price.context_window.or(self.price(model).and_then(|p| p.context_window));
            self.models.insert(model.clone(), price);
        }
        Ok(())
    }

    /// The price of a model. A dated or qualified id (`claude-sonnet-4-5-20250929`, `us.anthropic.claude-…-v1:0`) has the price
    /// of its plain name.
    pub fn price(&self, model: &str) -> Option<&Price> {
        if let Some(price) = self.models.get(model) {
            return Some(price);
        }
        if let Some(usual) = model.strip_suffix(FAST) {
            let fast = self.models.get(&format!("{}{FAST}", plain_name(usual)));
            return fast.or_else(|| self.price(usual));
        }
        let plain = plain_name(model);
        self.models.get(plain).or_else(|| self.models.get(&format!("{plain}-0")))
    }

    /// What the usage of a model costs. `None` if the price of the model is unknown.
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<Nanos> {
        let price = self.price(model)?;
        let parts = [
            (usage.input, price.input),
            (usage.output, price.output),
            (usage.cache_read, price.cache_read),
            (usage.cache_write_5m, price.cache_write_5m),
            (usage.cache_write_1h, price.cache_write_1h),
            (usage.web_searches, self.web_search),
        ];
        Some(Nanos(parts.iter().fold(0, |sum: u64, (n, each)| sum.saturating_add(n.saturating_mul(*each)))))
    }

    pub fn context_window(&self, model: &str) -> Option<u64> {
        // The client adds this suffix to a model that has two windows, if the longer one is used.
        if model.ends_with("[1m]") {
            return Some(1_000_000);
        }
        self.price(model)?.context_window
    }
}

impl Price {
    fn from_dollars(model: &str, d: &DollarsPerMillion) -> Result<Self, PriceError> {
        Ok(Self {
            input: nanos(model, d.input)?,
            output: nanos(model, d.output)?,
            cache_read: nanos(model, d.cache_read)?,
            cache_write_5m: nanos(model, d.cache_write_5m)?,
            cache_write_1h: nanos(model, d.cache_write_1h)?,
            context_window: d.context_window,
        })
    }
}

fn nanos(model: &str, dollars: f64) -> Result<u64, PriceError> {
    if !(0.0..=1e6).contains(&dollars) {
        return Err(PriceError::Absurd { model: model.to_owned(), dollars });
    }
    Ok((dollars * 1000.0).round() as u64)
}

/// The model's name without provider, version, window and date.
fn plain_name(model: &str) -> &str {
    let name = model.rsplit_once('/').map_or(model, |(_, name)| name);
    let name = name.find("claude-").map_or(name, |at| &name[at..]);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    let name = name.split_once("-v1:").map_or(name, |(name, _)| name);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    match name.rsplit_once('-') {
        Some((plain, date)) if date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()) => plain,
        _ => name,
    }
}

/// The cost of some usage: in total, by model, and the models without a known price. The sums are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    pub total: Nanos,
    pub by_model: Vec<(String, Nanos)>,
    pub unpriced: Vec<String>,
}

impl Bill {
    pub fn for_usage<'a>(prices: &PriceTable, usage: impl IntoIterator<Item = (&'a str, &'a Usage)>) -> Self {
        let mut bill = Self::default();
        for (model, usage) in usage.into_iter().filter(|(_, u)| !u.is_zero()) {
            match prices.cost(model, usage) {
                Some(cost) => {
                    bill.total.0 = bill.total.0.saturating_add(cost.0);
                    bill.by_model.push((model.to_owned(), cost));
                }
                None => bill.unpriced.push(model.to_owned()),
            }
        }
        bill
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_reads_and_every_price_is_a_whole_number_of_nano_dollars() {
        let table: PriceFile = serde_json::from_str(SHIPPED).unwrap();
        for (model, d) in table.models.iter().chain(&table.retired_public_list_prices).chain(&table.fast) {
            for dollars in [d.input, d.output, d.cache_read, d.cache_write_5m, d.cache_write_1h] {
                let exact = dollars * 1000.0;
                assert!((exact - exact.round()).abs() < 1e-9, "{model}: {dollars}");
            }
        }
        assert!(PriceTable::shipped().models.len() > 15);
        assert!(PriceTable::shipped().source.contains("2026-11-15"));
    }

    #[test]
    fn a_dated_or_qualified_model_costs_what_the_plain_one_does() {
        let table = PriceTable::shipped();
        for (model, plain) in [
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("claude-3-5-haiku-20241022", "claude-3-5-haiku"),
            ("claude-sonnet-4-20250514", "claude-sonnet-4-0"),
            ("claude-opus-4-20250514", "claude-opus-4"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
            ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
            ("anthropic/claude-opus-5-5", "claude-opus-5-5"),
            ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
        ] {
            assert_eq!(table.price(model), table.models.get(plain), "{model}");
            assert!(table.price(model).is_some(), "{model}");
        }
        assert_eq!(table.context_window("claude-sonnet-4-5[1m]"), Some(1_000_000));
    }

    #[test]
    fn a_fast_answer_costs_what_the_client_charges_for_it() {
        let table = PriceTable::shipped();
        let cost = |model: &str| table.cost(model, &Usage { output: 1, ..Usage::default() }).map(|n| n.0);
        assert_eq!((cost("claude-opus-5-5"), cost("claude-opus-5-5 (fast)")), (Some(20_000), Some(40_000)));
        assert_eq!(cost("claude-opus-4-6-20260101 (fast)"), Some(150_000));
        // The client knows no other price for these.
        assert_eq!(cost("claude-haiku-4-5 (fast)"), cost("claude-haiku-4-5"));
        assert_eq!(cost("gpt-x (fast)"), None);
    }

    #[test]
    fn an_unknown_model_is_named_and_never_free() {
        let usage = Usage { input: 10, ..Usage::default() };
        let bill = Bill::for_usage(PriceTable::shipped(), [("gpt-x", &usage), ("claude-opus-5-5", &usage)]);
        assert_eq!(bill.unpriced, ["gpt-x"]);
        assert_eq!(bill.total, Nanos(40_000));
    }

    #[test]
    fn every_class_of_tokens_has_its_price_and_the_sum_is_rounded_once() {
        let usage = Usage {
            input: 5,
            output: 57,
            cache_read: 12_000,
            cache_write_5m: 600,
            cache_write_1h: 200,
            web_searches: 1,
        };
        let cost = PriceTable::shipped().cost("claude-opus-5-5", &usage).unwrap();
        assert_eq!(cost.0, 5 * 4000 + 57 * 20_000 + 12_000 * 200 + 600 * 5000 + 200 * 8000 + 10_000_000);
        assert_eq!(Nanos(1_499).micros(), 1);
        assert_eq!(Nanos(1_500).micros(), 2);
    }

    #[test]
    fn a_person_may_set_prices_but_no_absurd_ones() {
        let own = |model: &str, input| {
            let d = DollarsPerMillion {
                input,
                output: 1.0,
                cache_read: 0.0,
                cache_write_5m: 0.0,
                cache_write_1h: 0.0,
                context_window: None,
            };
            BTreeMap::from([(model.to_owned(), d)])
        };
        let table = PriceTable::shipped().with_own_prices(&own("mine", 2.0)).unwrap();
        assert_eq!(table.cost("mine", &Usage { input: 3, ..Usage::default() }), Some(Nanos(6000)));
        assert!(PriceTable::shipped().with_own_prices(&own("mine", -1.0)).is_err());
        assert!(PriceTable::shipped().with_own_prices(&own("mine", f64::NAN)).is_err());
        let dear = PriceTable::shipped().with_own_prices(&own("claude-opus-5-5", 2.0)).unwrap();
        assert_eq!(dear.price("claude-opus-5-5").unwrap().input, 2000);
        assert_eq!(dear.context_window("claude-opus-5-5"), Some(1_000_000));
    }
}
