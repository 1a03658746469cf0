//! Which sentences are questions, and which question of a message is still open at its end.

use super::prose::Sentence;
use super::signs::Sign;

/// How many sentences may follow an open question: options, reasons, a recommendation.
const SENTENCES_AFTER_QUESTION_MAX: usize = 5;

impl Sentence<'_> {
    /// Whether the sentence has the form of a question, in English and in languages that mark it in another way.
    pub(super) fn is_question(&self) -> bool {
        let bare =
            self.signs.text().trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？'));
        let ends = ["?", "？", "か", "吗", "呢"];
        ends.iter().any(|end| bare.ends_with(end)) || self.asks_for_list()
    }

    /// Whether a list of what the person is asked to do follows: "Could you now:".
    fn asks_for_list(&self) -> bool {
        let text = self.signs.text();
        let asks =
            |words: &&str| text.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words));
        text.ends_with(':') && ["could you ", "can you ", "would you ", "will you "].iter().any(asks)
    }

    /// Whether it reports that work is done, and not only a part of it.
    pub(super) fn says_done(&self) -> bool {
        let has = |sign| self.signs.has(sign);
        let describes = has(Sign::Explains) || has(Sign::EdAdjective);
        !self.is_question()
            && !has(Sign::PartlyDone)
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
            let signs = self.signs.of_clause(clause.trim());
            signs.has(Sign::Past) && !signs.has(Sign::NoResult) && !signs.has(Sign::EdAdjective)
        };
        clauses().nth(1).is_some() && clauses().any(reports)
    }

    /// Whether it has this sign of a request, and does not only use the same words.
    pub(super) fn requests(&self, sign: Sign) -> bool {
        self.signs.has(sign) && !self.signs.has(Sign::NoRequest)
    }

    /// Whether it asks the person to come back with a result or a wish. "I'll report back when it's done" has the same words.
    pub(super) fn asks_for_feedback(&self) -> bool {
        self.signs.has(Sign::Feedback) && !self.signs.has(Sign::OwnReport)
    }

    /// Whether the question only offers more work. A question that asks for a choice or for permission is not an offer.
    pub(super) fn is_offer(&self) -> bool {
        let asks_more = [Sign::Decision, Sign::WhQuestion].iter().any(|sign| self.signs.has(*sign));
        let asks_leave = self.signs.has(Sign::Permission) && !self.signs.has(Sign::OffersMore);
        self.signs.has(Sign::Offer) && !asks_more && !asks_leave
    }
}

/// The last question that the rest of the message leaves open.
pub(super) fn open_question<'a>(sentences: &'a [Sentence<'a>]) -> Option<(usize, &'a Sentence<'a>)> {
    let mut questions = sentences.iter().enumerate().rev().filter(|(_, sentence)| sentence.is_question());
    let (index, last) = questions.next()?;
    if leaves_question_open(sentences, index, last) {
        return Some((index, last));
    }
    // "What would you like?" stays open if an option in the list after it is written as a question too.
    let (index, before) = questions.find(|(_, sentence)| !sentence.item).filter(|_| last.item)?;
    leaves_question_open(sentences, index, before).then_some((index, before))
}

fn leaves_question_open(sentences: &[Sentence<'_>], index: usize, question: &Sentence<'_>) -> bool {
    let after = sentences.get(index + 1..).unwrap_or_default();
    let before = index.checked_sub(1).and_then(|before| sentences.get(before));
    after_leaves_open(question, before.is_some_and(Sentence::is_question), after)
}

/// Whether the question is still open after these sentences. List items and offers of help are not counted. `in_a_row`: another question
/// stands before it, and a text that answers its own questions asks one at a time.
fn after_leaves_open(question: &Sentence<'_>, in_a_row: bool, after: &[Sentence<'_>]) -> bool {
    let told = after.iter().filter(|s| !s.item && !s.signs.has(Sign::SoftClose));
    let told: Vec<_> = told.take(SENTENCES_AFTER_QUESTION_MAX + 1).collect();
    let Some(first) = told.first() else { return true };
    // The section below a title answers it, unless the title offers something.
    if question.heading {
        return question.signs.has(Sign::Offer);
    }
    let explains = |s: &&Sentence<'_>| s.signs.has(Sign::KeepsOpen) || s.signs.has(Sign::Request);
    if told.len() > SENTENCES_AFTER_QUESTION_MAX || first.signs.has(Sign::Answers) {
        return false;
    }
    told.iter().all(explains)
        || (in_a_row || !question.signs.has(Sign::Rhetorical)) && !is_answered(question, &told)
}

/// Whether the sentences after a question to the person answer it. If the person has to choose, nothing that was done is an answer.
/// If only the person can know, a state is none.
fn is_answered(question: &Sentence<'_>, told: &[&Sentence<'_>]) -> bool {
    let state_answers = !question.signs.has(Sign::ToThePerson);
    let reported = told.iter().any(|s| s.reports() && !s.signs.has(Sign::KeepsOpen));
    let described = told.first().is_some_and(|first| first.says_done());
    !question.signs.has(Sign::Decision) && (reported || state_answers && described)
}
