//! Which sentences are questions, and which question of a message is still open at its end.

use super::prose::Sentence;
use super::signs::Sign;

/// How many sentences may follow an open question: options, reasons, a recommendation.
const SENTENCES_AFTER_QUESTION_MAX: usize = 3;

impl Sentence {
    /// Whether the sentence has the form of a question, in English and in languages that mark it in another way.
    pub(super) fn is_question(&self) -> bool {
        let bare = self.text.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？'));
        let ends = ["?", "？", "ですか", "ますか", "でしょうか", "ませんか", "吗", "呢", "いいか", "よいか"];
        ends.iter().any(|end| bare.ends_with(end))
    }

    /// Whether it reports that work is done.
    pub(super) fn says_done(&self) -> bool {
        self.signs.has(Sign::Done)
            || (self.signs.has(Sign::Past) && !self.signs.has(Sign::NoResult))
            || (self.signs.has(Sign::State) && !self.signs.has(Sign::Explains))
            || (self.signs.has(Sign::Participle)
                && !self.signs.has(Sign::WholeSentence)
                && !self.signs.has(Sign::Explains))
    }

    /// Whether the question is for the person to answer, and not one that a text asks in order to answer it itself.
    fn is_to_the_person(&self) -> bool {
        self.signs.has(Sign::Addressed) && !self.signs.has(Sign::Rhetorical)
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
    if told.iter().all(|s| s.signs.has(Sign::KeepsOpen) || s.signs.has(Sign::Request)) {
        return told.len() <= SENTENCES_AFTER_QUESTION_MAX;
    }
    // A few sentences may explain a question to the person. A result after it is an answer, unless the person has to choose.
    let chooses = question.signs.has(Sign::Decision);
    question.is_to_the_person()
        && told.len() < SENTENCES_AFTER_QUESTION_MAX
        && (chooses || !first.says_done())
}
