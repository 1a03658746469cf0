//! Reads the billed usage from a line of a transcript. The reports about the past read nothing else of a line. Reading is lenient: an
//! unknown type, a missing field or another shape is ignored.

use std::borrow::Cow;

use super::scan::{Scan, timestamp};
use super::tokens::{FAST, SYNTHETIC_MODEL, Usage};
use crate::time::Timestamp;

/// Identifies one message by the line's `message.id` and `requestId`, which a fork copies. 128 bits make a collision among a
/// billion messages improbable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKey(pub u128);

impl MessageKey {
    pub fn new(message_id: &[u8], request_id: &[u8]) -> Self {
        let mut sums = [0xcbf2_9ce4_8422_2325_u64, 0x9ae1_6a3b_2f90_404f];
        for bytes in [message_id, request_id] {
            add_field(&mut sums, bytes.len() as u64);
            for chunk in bytes.chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                add_field(&mut sums, u64::from_le_bytes(word));
            }
        }
        Self((u128::from(sums[0]) << 64) | u128::from(sums[1]))
    }
}

/// Mixes a number into both sums. The step is a bijection, so it loses nothing of a sum.
fn add_field(sums: &mut [u64; 2], word: u64) {
    sums[0] = (sums[0] ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    sums[1] = (sums[1] ^ word).wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(31);
}

/// The billed usage of an assistant line. The lines of one message repeat it; the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BilledUsage<'a> {
    pub key: MessageKey,
    pub model: &'a str,
    pub at: Option<Timestamp>,
    pub usage: Usage,
    /// Answered at the faster speed, which has a price of its own.
    pub fast: bool,
    pub cwd: Option<&'a [u8]>,
}

impl<'a> BilledUsage<'a> {
    /// The name of the model in the price table.
    pub fn charged_as(&self) -> Cow<'a, str> {
        if self.fast { Cow::Owned(format!("{}{FAST}", self.model)) } else { Cow::Borrowed(self.model) }
    }

    /// The working directory, unescaped.
    pub fn cwd(&self) -> Option<Cow<'a, str>> {
        let raw = String::from_utf8_lossy(self.cwd?);
        if !raw.contains('\\') {
            return Some(raw);
        }
        serde_json::from_str(&format!("\"{raw}\"")).ok().map(Cow::Owned)
    }
}

/// `Ok(None)`: the line has no usage. `Err`: the line is not whole JSON.
pub fn billed_usage(line: &[u8]) -> Result<Option<BilledUsage<'_>>, Unreadable> {
    let mut wire = AssistantWire::default();
    let mut other = false;
    let walked = Scan::new(line).members(|s, key| {
        match key {
            b"type" => {
                other = s.text()? != Some(b"assistant");
                return Some(!other);
            }
            // Only attachment lines have this field, and it is most of the line.
            b"attachment" => {
                other = true;
                return Some(false);
            }
            b"message" if s.first_byte()? == b'{' => wire.message(s)?,
            b"requestId" => wire.request_id = s.text()?,
            b"timestamp" => wire.timestamp = s.text()?,
            b"uuid" => wire.uuid = s.text()?,
            b"cwd" => wire.cwd = s.text()?,
            _ => s.skip()?,
        }
        Some(true)
    });
    match (other, walked) {
        (true, _) => Ok(None),
        (false, Some(())) => Ok(wire.billed_usage(line)),
        (false, None) => Err(Unreadable),
    }
}

/// The line is not whole JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the line is not whole JSON")]
pub struct Unreadable;

#[derive(Default)]
struct AssistantWire<'a> {
    message_id: Option<&'a [u8]>,
    model: Option<&'a [u8]>,
    usage: Option<Usage>,
    fast: bool,
    request_id: Option<&'a [u8]>,
    timestamp: Option<&'a [u8]>,
    uuid: Option<&'a [u8]>,
    cwd: Option<&'a [u8]>,
}

impl<'a> AssistantWire<'a> {
    fn message(&mut self, s: &mut Scan<'a>) -> Option<()> {
        s.members(|s, key| {
            match key {
                b"id" => self.message_id = s.text()?,
                b"model" => self.model = s.text()?,
                b"usage" if s.first_byte()? == b'{' => {
                    let (usage, fast) = usage(s)?;
                    (self.usage, self.fast) = (Some(usage), fast);
                }
                _ => s.skip()?,
            }
            Some(true)
        })
    }

    fn billed_usage(self, line: &'a [u8]) -> Option<BilledUsage<'a>> {
        let usage = self.usage.filter(|u| !u.is_zero())?;
        let model = std::str::from_utf8(self.model?).ok()?;
        if model == SYNTHETIC_MODEL {
            return None;
        }
        // A line without ids is its own message; copies have the same uuid.
        let id = self.message_id.or(self.uuid).unwrap_or(line);
        Some(BilledUsage {
            key: MessageKey::new(id, self.request_id.unwrap_or_default()),
            model,
            at: self.timestamp.and_then(timestamp),
            usage,
            fast: self.fast,
            cwd: self.cwd,
        })
    }
}

/// The usage of a message, and whether the model answered at its faster speed.
fn usage(s: &mut Scan<'_>) -> Option<(Usage, bool)> {
    let mut usage = Usage::default();
    let (mut written, mut fast) = (0, false);
    s.members(|s, key| {
        match key {
            b"input_tokens" => usage.input = s.count()?,
            b"output_tokens" => usage.output = s.count()?,
            b"cache_read_input_tokens" => usage.cache_read = s.count()?,
            b"cache_creation_input_tokens" => written = s.count()?,
            b"speed" => fast = s.value()? == b"\"fast\"",
            b"cache_creation" if s.first_byte()? == b'{' => s.members(|s, key| {
                match key {
                    b"ephemeral_5m_input_tokens" => usage.cache_write_5m = s.count()?,
                    b"ephemeral_1h_input_tokens" => usage.cache_write_1h = s.count()?,
                    _ => s.skip()?,
                }
                Some(true)
            })?,
            b"server_tool_use" if s.first_byte()? == b'{' => s.members(|s, key| {
                match key {
                    b"web_search_requests" => usage.web_searches = s.count()?,
                    _ => s.skip()?,
                }
                Some(true)
            })?,
            _ => s.skip()?,
        }
        Some(true)
    })?;
    // Older clients do not report the cache class: only five minutes existed.
    let classed = usage.cache_write_5m + usage.cache_write_1h;
    usage.cache_write_5m += written.saturating_sub(classed);
    Some((usage, fast))
}
