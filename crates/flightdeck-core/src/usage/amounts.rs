//! Tokens, cost, context and prompt cache of a session, as cards and reports show them.

use serde::{Deserialize, Serialize};

use super::price::{Bill, Usage};
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_creation_5m: u64,
    pub cache_creation_1h: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Cost {
    pub usd_micros: u64,
    pub client_usd_micros: Option<u64>,
    pub unpriced_models: Vec<String>,
    pub by_model: Vec<ModelCost>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ModelCost {
    pub model: String,
    pub usd_micros: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Context {
    pub tokens: u64,
    pub window: Option<u64>,
    pub percent: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Cache {
    pub status: CacheStatus,
    pub expires_at: Option<Timestamp>,
}

/// Whether the prompt cache is warm. In the order of the board: sessions that can still be answered cheaply come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum CacheStatus {
    Warm,
    Unknown,
    Cold,
}

impl Tokens {
    pub fn sum_usage<'a>(usage: impl IntoIterator<Item = &'a Usage>) -> Self {
        let mut sum = Usage::default();
        usage.into_iter().for_each(|u| sum.add(u));
        Self {
            input: sum.input,
            output: sum.output,
            cache_read: sum.cache_read,
            cache_creation_5m: sum.cache_write_5m,
            cache_creation_1h: sum.cache_write_1h,
        }
    }

    pub fn sum(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_creation_5m + self.cache_creation_1h
    }
}

impl Cost {
    pub fn from_bill(bill: &Bill) -> Self {
        let by_model = bill.by_model.iter();
        Self {
            usd_micros: bill.total.micros(),
            client_usd_micros: None,
            unpriced_models: bill.unpriced.clone(),
            by_model: by_model.map(|(m, n)| ModelCost { model: m.clone(), usd_micros: n.micros() }).collect(),
        }
    }
}
