//! Which sentences are questions, and which question of a message is still open at its end.

use super::prose::Sentence;
use super::signs::Sign;

/// How many sentences may follow an open question: options, reasons, a recommendation.
const SENTENCES_AFTER_QUESTION_MAX: usize = 3;

impl Sentence {
    /// Whether the sentence has the form of a question, in English and in languages that mark it in another way.
    pub(super) fn is_question(&self) -> bool {
        let bare =
            self.signs.text().trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？'));
        let ends = ["?", "？", "ですか", "ますか", "でしょうか", "ませんか", "吗", "呢", "いいか", "よいか"];
        ends.iter().any(|end| bare.ends_with(end))
    }

    /// Whether it reports that work is done, and not only a part of it.
    pub(super) fn says_done(&self) -> bool {
        let has = |sign| self.signs.has(sign);
        let describes = has(Sign::Explains) || has(Sign::EdAdjective);
        !has(Sign::PartlyDone)
            && (self.reports()
                || (has(Sign::State) && !describes)
                || (has(Sign::Participle) && !has(Sign::WholeSentence) && !describes))
    }

    /// Whether it tells what Claude did.
    fn reports(&self) -> bool {
        let did = self.signs.has(Sign::Past) && !self.signs.has(Sign::EdAdjective);
        self.signs.has(Sign::Done) || (did && !self.signs.has(Sign::NoResult))
    }

    /// Whether the person has to answer the question. False for a question that the text asks only to answer it itself.
    fn is_to_the_person(&self) -> bool {
        let asks = self.signs.has(Sign::Addressed) || self.signs.has(Sign::ToThePerson);
        asks && !self.signs.has(Sign::Rhetorical)
    }

    /// Whether the question only offers more work. A question that asks for a choice or for permission is not an offer.
    pub(super) fn is_offer(&self) -> bool {
        let asks_more = [Sign::Decision, Sign::WhQuestion].iter().any(|sign| self.signs.has(*sign));
        let asks_leave = self.signs.has(Sign::Permission) && !self.signs.has(Sign::OffersMore);
        self.signs.has(Sign::Offer) && !asks_more && !asks_leave
    }
}

/// The last question that the rest of the message leaves open.
pub(super) fn open_question(sentences: &[Sentence]) -> Option<(usize, &Sentence)> {
    let (index, question) = sentences.iter().enumerate().rev().find(|(_, s)| s.is_question())?;
    let after = sentences.get(index + 1..).unwrap_or_default();
    after_leaves_open(question, after).then_some((index, question))
}

/// Whether the question is still open after these sentences. List items and offers of help are not counted.
fn after_leaves_open(question: &Sentence, after: &[Sentence]) -> bool {
    let told: Vec<_> = after.iter().filter(|s| !s.item && !s.signs.has(Sign::SoftClose)).collect();
    let Some(first) = told.first() else { return true };
    let explains = |s: &&Sentence| s.signs.has(Sign::KeepsOpen) || s.signs.has(Sign::Request);
    if told.len() > SENTENCES_AFTER_QUESTION_MAX || first.signs.has(Sign::Answers) {
        return false;
    }
    told.iter().all(explains) || question.is_to_the_person() && !is_answered(question, &told)
}

/// Whether the sentences after a question to the person answer it. If the person has to choose, nothing that was done is an answer.
/// If only the person can know, a state is none.
fn is_answered(question: &Sentence, told: &[&Sentence]) -> bool {
    let state_answers = !question.signs.has(Sign::ToThePerson);
    let reported = told.iter().any(|s| s.reports());
    let described = told.first().is_some_and(|first| first.says_done());
    !question.signs.has(Sign::Decision) && (reported || state_answers && described)
}
