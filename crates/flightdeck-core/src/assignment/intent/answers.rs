//! Answers, explanations and lists: the end of a turn in which the person asked something and no file had to be changed.

use super::IntentRule;
use super::prose::{FoundIntent, Sentence};
use super::signs::Sign;

/// The fewest sentences of a message that explains something without a word such as "because". A single sentence may as well be a remark.
const ACCOUNT_SENTENCES_MIN: usize = 2;

/// The message answers, explains or lists something. It comes last: what the message asks or reports weighs more. If files were changed,
/// it describes the result.
pub(super) fn answer<'a>(sentences: &'a [Sentence<'a>], changed_files: bool) -> FoundIntent<'a> {
    let (first, last) = (sentences.first()?, sentences.last()?);
    if changed_files || sentences.iter().any(leaves_open) {
        return None;
    }
    if first.opening && first.signs.has(Sign::DirectAnswer) && !first.is_question() {
        return Some((IntentRule::DirectAnswer, first));
    }
    let told = || sentences.iter().filter(|s| !s.is_question());
    let explains =
        told().any(|s| s.signs.has(Sign::Reason)) || told().nth(ACCOUNT_SENTENCES_MIN - 1).is_some();
    explains.then_some((IntentRule::Explains, last))
}

/// Whether the sentence says that something is not finished, or hints at something that the person has to do.
fn leaves_open(sentence: &Sentence<'_>) -> bool {
    let open = [Sign::Unfinished, Sign::Hesitates, Sign::OpenPoint, Sign::Blocked];
    let asks = [Sign::Request, Sign::WeakRequest, Sign::Unable];
    let has = |sign: &Sign| sentence.signs.has(*sign);
    open.iter().any(has)
        || sentence.item && has(&Sign::PartlyDone)
        || asks.iter().any(|sign| sentence.requests(*sign))
}
