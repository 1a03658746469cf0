//! Weighs the sentences of a message, the last ones most.

use super::IntentRule;
use super::answers::answer;
use super::prose::{FoundIntent, Sentence};
use super::questions::open_question;
use super::signs::Sign;

/// How many sentences from the end a request or an obstacle may stand.
const TAIL_SENTENCES_MAX: usize = 3;
/// How many sentences from the end the next step or a soft close may stand.
const LAST_SENTENCES_MAX: usize = 2;

/// The rule that decides, and the sentence it decided on. The order of the checks is the order of their weight. `changed_files`:
/// tools changed files in this turn, so a message that only describes the result reports finished work.
pub(super) fn decide<'a>(
    sentences: &'a [Sentence<'a>],
    changed_files: bool,
) -> (IntentRule, Option<&'a str>) {
    let checks = [question, request, obstacle, next_step, soft_close, done, answer];
    let found = checks.iter().find_map(|check| check(sentences, changed_files));
    let last = sentences.last();
    match (found, last) {
        (Some((rule, sentence)), _) => (rule, Some(sentence.written)),
        (None, Some(last)) if changed_files => (IntentRule::ChangedFiles, Some(last.written)),
        (None, _) => (IntentRule::NothingSaid, last.map(|s| s.written)),
    }
}

fn question<'a>(sentences: &'a [Sentence<'a>], changed_files: bool) -> FoundIntent<'a> {
    let (index, question) = open_question(sentences)?;
    let before = sentences.get(..index).unwrap_or_default();
    let after = sentences.get(index + 1..).unwrap_or_default();
    let insists = after.iter().any(|s| s.requests(Sign::Request));
    let offers = question.is_offer() && !insists && !before.iter().any(Sentence::is_question);
    let closes = question.signs.has(Sign::AsksForQuestions) && is_finished(sentences, changed_files);
    let rule = match () {
        _ if closes => IntentRule::SoftClose,
        _ if offers && (is_done(before) || changed_files && question.signs.has(Sign::OffersMore)) => {
            IntentRule::OfferAfterCompletion
        }
        _ if question.signs.has(Sign::Addressed) => IntentRule::AsksThePerson,
        _ => IntentRule::QuestionForm,
    };
    Some((rule, question))
}

/// A sentence near the end that asks without a question mark. A list may follow it. If the work is not done, the first sentence may ask
/// too, and the others give its reasons.
fn request<'a>(sentences: &'a [Sentence<'a>], changed_files: bool) -> FoundIntent<'a> {
    let tail = || prose(sentences).rev().take(TAIL_SENTENCES_MAX);
    let is_finished = || is_finished(sentences, changed_files);
    let is_request = |s: &&Sentence<'_>| match s.asks_for_feedback() {
        true => !s.signs.has(Sign::NoRequest) && (!is_finished() || leaves_a_point_open(sentences)),
        false => s.requests(Sign::Request),
    };
    let weak = || tail().find(|s| s.requests(Sign::WeakRequest)).filter(|_| !is_finished());
    let first = || sentences.first().filter(|s| s.requests(Sign::Request) && !is_finished());
    let request = tail().find(is_request).or_else(weak).or_else(first)?;
    Some((IntentRule::RequestsInput, request))
}

fn obstacle<'a>(sentences: &'a [Sentence<'a>], _: bool) -> FoundIntent<'a> {
    let is_blocked = |s: &&Sentence<'_>| s.signs.has(Sign::Blocked) || s.requests(Sign::Unable);
    let blocked = prose(sentences).rev().take(TAIL_SENTENCES_MAX).find(is_blocked)?;
    (!is_done(sentences)).then_some((IntentRule::Blocked, blocked))
}

/// A next step does not count if a soft close follows it: "It is running on port 80. Let me know if …".
fn next_step<'a>(sentences: &'a [Sentence<'a>], _: bool) -> FoundIntent<'a> {
    let last = prose(sentences).rev().take(LAST_SENTENCES_MAX);
    let mut open = last.take_while(|s| !s.signs.has(Sign::SoftClose) && !s.asks_for_feedback());
    open.find(|s| s.signs.has(Sign::NextStep) && !s.signs.has(Sign::NotNext))
        .map(|s| (IntentRule::AnnouncesNextStep, s))
}

fn soft_close<'a>(sentences: &'a [Sentence<'a>], changed_files: bool) -> FoundIntent<'a> {
    let mut last = prose(sentences).rev().take(LAST_SENTENCES_MAX);
    let is_close = |s: &Sentence<'_>| s.signs.has(Sign::SoftClose) && !s.signs.has(Sign::UsageNote);
    let is_thanks = |s: &Sentence<'_>| s.signs.has(Sign::Courtesy) && is_finished(sentences, changed_files);
    let closes = |s: &&Sentence<'_>| is_close(s) || s.asks_for_feedback() || is_thanks(s);
    let close = last.find(closes)?;
    // "I can also do the other one" offers what "shall I also do the other one?" offers.
    let rule = match close.signs.has(Sign::OffersWorkOnTop) && is_finished(sentences, changed_files) {
        true => IntentRule::OfferAfterCompletion,
        false => IntentRule::SoftClose,
    };
    Some((rule, close))
}

/// A report near the end. Without one, the opening may say it, unless the message ends with a part of the work or lists open tasks.
fn done<'a>(sentences: &'a [Sentence<'a>], _: bool) -> FoundIntent<'a> {
    let is_part = |s: &Sentence<'_>| s.signs.has(Sign::PartlyDone);
    if sentences.last().is_some_and(|s| !s.item && is_part(s)) {
        return None;
    }
    let says_done = |(index, s): &(usize, &Sentence<'_>)| {
        (s.says_done() || s.signs.has(Sign::Finding)) && !is_option(sentences, *index)
    };
    let numbered = || sentences.iter().enumerate();
    if let Some((_, last)) = numbered().rev().take(TAIL_SENTENCES_MAX).find(says_done) {
        return Some((IntentRule::SaysDone, last));
    }
    let (_, first) = numbered().filter(|(_, s)| s.opening).find(says_done)?;
    let has_open_task = sentences.iter().any(|s| s.item && is_part(s));
    (!has_open_task).then_some((IntentRule::OpensWithDone, first))
}

/// Whether the sentence is in a list of options or of what is missing. Its verbs report nothing: "split off the mailer".
fn is_option(sentences: &[Sentence<'_>], index: usize) -> bool {
    let mut before = sentences.iter().take(index + 1).rev();
    let introduced = before.next().is_some_and(|s| s.item).then(|| before.find(|s| !s.item)).flatten();
    introduced.is_some_and(|s| s.requests(Sign::Request) || s.requests(Sign::WeakRequest))
}

/// Whether the message says that the work is done, and not only a part of it.
fn is_done(sentences: &[Sentence<'_>]) -> bool {
    let says_done =
        |s: &Sentence<'_>| s.says_done() && !s.signs.has(Sign::Blocked) && !s.signs.has(Sign::Unable);
    let reported =
        sentences.iter().enumerate().any(|(index, s)| says_done(s) && !is_option(sentences, index));
    reported && !sentences.iter().any(|s| s.signs.has(Sign::PartlyDone))
}

/// Whether the message announces something that the person has to decide. What was done meanwhile does not decide it.
fn leaves_a_point_open(sentences: &[Sentence<'_>]) -> bool {
    sentences.iter().any(|s| s.signs.has(Sign::OpenPoint))
}

/// Whether the work is done by what the message says or by what the tools did, and nothing stands in its way.
fn is_finished(sentences: &[Sentence<'_>], changed_files: bool) -> bool {
    let is_open = |s: &Sentence<'_>| s.signs.has(Sign::PartlyDone) || s.signs.has(Sign::Blocked);
    is_done(sentences) || changed_files && !sentences.iter().any(is_open)
}

/// The sentences outside lists.
fn prose<'a>(sentences: &'a [Sentence<'a>]) -> impl DoubleEndedIterator<Item = &'a Sentence<'a>> {
    sentences.iter().filter(|s| !s.item)
}
