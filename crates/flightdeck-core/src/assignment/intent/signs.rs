//! The signs by which the intent of a message is decided. Each is a property of one sentence.

/// A property of a sentence that a pattern recognises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Asks the person for a decision or for information, without a question mark.
    Request,
    /// Asks for something, but in words that are also usual in instructions after finished work: "please run `npm install`".
    WeakRequest,
    /// Has the words of a request, but asks for nothing: "please note".
    NoRequest,
    Blocked,
    /// Something was not possible for Claude. If nothing is reported as done, that is an obstacle.
    Unable,
    /// Offers help beyond the task.
    SoftClose,
    /// Says thanks. After finished work that is a soft close.
    Courtesy,
    /// Has the form of a soft close, but tells how to use the result: "if you need another limit, set …".
    UsageNote,
    /// Offers work on top of what was asked, and not only to be there for it.
    OffersWorkOnTop,
    /// Says what Claude does next.
    NextStep,
    /// Has the words of a next step, but names none: "I'm asking because".
    NotNext,
    Done,
    /// The result of an investigation. It ends the work only if nothing is asked after it.
    Finding,
    /// A past tense of Claude, which often reports what was done.
    Past,
    /// A past tense that reports no result: what Claude read, tried or started.
    NoResult,
    /// Begins with a participle that belongs to a noun: "failed invoices are".
    EdAdjective,
    /// A state of the work, which often reports what was done: "the page is updated".
    State,
    /// A past participle without its verb, as in a list of results: "docs updated, tests added".
    Participle,
    /// Begins like a whole sentence, so a participle in it may be its verb: "the user changed".
    WholeSentence,
    /// Describes how something works, or what was at another time, so a state in it is no result.
    Explains,
    /// Asks for feedback: an end after finished work, a question after a plan.
    Feedback,
    /// A part of the work is done, or only a preparation of it.
    PartlyDone,
    /// As a question: offers more work.
    Offer,
    /// As a question: offers work beyond what was asked.
    OffersMore,
    /// As a question: asks whether the person has questions or wishes, so it offers help.
    AsksForQuestions,
    /// As a question: asks the person to choose or to let the work continue, so it is more than an offer.
    Decision,
    /// As a question: addressed to the person.
    Addressed,
    /// As a question: only the person can answer it.
    ToThePerson,
    /// As a question: cannot be answered with yes or no, so it is not an offer.
    WhQuestion,
    /// As a question: asks to be allowed to do something.
    Permission,
    /// As a question: may be rhetorical, because the text can answer it itself.
    Rhetorical,
    /// After a question: explains it, and does not answer it.
    KeepsOpen,
    /// After a question: answers it.
    Answers,
    /// Begins with the answer to a question of the person: "Yes, …", "Neither. …".
    DirectAnswer,
    /// Gives a reason or a consequence, as an explanation does.
    Reason,
    /// Something failed, or its outcome is not known yet.
    Unfinished,
    /// Says what Claude would do, or what it waits for. A message with such a sentence is more than an explanation.
    Hesitates,
    /// Says when Claude reports. It asks for nothing, although the words are those of "report back when you have tried it".
    OwnReport,
    /// Announces something that the person has to decide: "open point: …".
    OpenPoint,
}

impl Sign {
    /// The number of signs.
    pub(super) const COUNT: usize = Self::OpenPoint as usize + 1;
}

/// The signs of one sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs(u64);

impl Signs {
    pub(super) fn has(self, sign: Sign) -> bool {
        self.0 & (1 << sign as u64) != 0
    }

    pub(super) fn with(self, sign: Sign) -> Self {
        Self(self.0 | 1 << sign as u64)
    }
}
