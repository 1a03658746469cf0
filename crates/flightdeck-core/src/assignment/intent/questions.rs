//! Which sentences are questions, and which question of a message is still open at its end.

use super::prose::Sentence;
use super::sentence_signs::SentenceSigns;
use super::signs::{Sign, Signs};

/// How many sentences may follow an open question: options, reasons, a recommendation.
const SENTENCES_AFTER_QUESTION_MAX: usize = 5;

impl Sentence {
    /// Whether the sentence has the form of a question, in English and in languages that mark it in another way.
    pub(super) fn is_question(&self) -> bool {
        let bare =
            self.signs.text().trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？'));
        let ends = ["?", "？", "か", "吗", "呢"];
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
        self.signs.has(Sign::Done)
            || (did && (!self.signs.has(Sign::NoResult) || self.has_clause_with_result()))
    }

    /// Whether one of several clauses reports a result: "read the log and restarted the worker".
    fn has_clause_with_result(&self) -> bool {
        let clauses = || self.signs.text().split([',', ';']).flat_map(|part| part.split(" and "));
        let reports = |clause: &str| {
            let signs = SentenceSigns::new(clause.trim(), Signs::default());
            signs.has(Sign::Past) && !signs.has(Sign::NoResult) && !signs.has(Sign::EdAdjective)
        };
        clauses().nth(1).is_some() && clauses().any(reports)
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
    let in_a_row =
        index.checked_sub(1).and_then(|before| sentences.get(before)).is_some_and(Sentence::is_question);
    after_leaves_open(question, in_a_row, after).then_some((index, question))
}

/// Whether the question is still open after these sentences. List items and offers of help are not counted. `in_a_row`: another question
/// stands before it, and a text that answers its own questions asks one at a time.
fn after_leaves_open(question: &Sentence, in_a_row: bool, after: &[Sentence]) -> bool {
    let told = after.iter().filter(|s| !s.item && !s.signs.has(Sign::SoftClose));
    let told: Vec<_> = told.take(SENTENCES_AFTER_QUESTION_MAX + 1).collect();
    let Some(first) = told.first() else { return true };
    let explains = |s: &&Sentence| s.signs.has(Sign::KeepsOpen) || s.signs.has(Sign::Request);
    if told.len() > SENTENCES_AFTER_QUESTION_MAX || first.signs.has(Sign::Answers) {
        return false;
    }
    told.iter().all(explains)
        || (in_a_row || !question.signs.has(Sign::Rhetorical)) && !is_answered(question, &told)
}

/// Whether the sentences after a question to the person answer it. If the person has to choose, nothing that was done is an answer.
/// If only the person can know, a state is none.
fn is_answered(question: &Sentence, told: &[&Sentence]) -> bool {
    let state_answers = !question.signs.has(Sign::ToThePerson);
    let reported = told.iter().any(|s| s.reports() && !s.signs.has(Sign::KeepsOpen));
    let described = told.first().is_some_and(|first| first.says_done());
    !question.signs.has(Sign::Decision) && (reported || state_answers && described)
}
