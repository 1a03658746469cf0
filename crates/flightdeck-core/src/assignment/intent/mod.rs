//! Detects the intent of a turn's last message: it asks the person something, it reports that the work is done, or neither.
//!
//! The rules are local and read the text outside code and quotes. [`prose`] cuts the message into sentences. [`matching`] finds
//! the [`signs`] of each sentence by [`patterns`] and [`shapes`]. [`decide`] chooses the intent from these signs, beginning at the
//! end of the message. `cargo xtask intents` measures the result on labelled messages.

mod answer_shapes;
mod answers;
mod automaton;
mod decide;
pub mod labelled;
mod matching;
mod message_shape;
mod pattern_set;
mod patterns;
mod prose;
mod questions;
mod required_words;
mod sentence_signs;
mod shapes;
mod signs;
mod work_budget;

use serde::{Deserialize, Serialize};

use crate::limits::INTENT_LINE_CHARS_MAX;
use crate::text::one_line;

/// The purpose of one message of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Intent {
    Command,
    Answer,
    Question,
    Completion,
    /// The task is finished, and the message ends with an offer such as "let me know if …".
    EndOfTask,
    Progress,
}

impl Intent {
    pub const ALL: [Intent; 6] =
        [Self::Command, Self::Answer, Self::Question, Self::Completion, Self::EndOfTask, Self::Progress];

    /// Whether a turn that ends so has done what was asked.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Completion | Self::EndOfTask)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Answer => "answer",
            Self::Question => "question",
            Self::Completion => "completion",
            Self::EndOfTask => "end_of_task",
            Self::Progress => "progress",
        }
    }
}

/// An intent with the reason for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct DetectedIntent {
    pub intent: Intent,
    /// From 0 to 1.
    pub confidence: f64,
    pub evidence: Evidence,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Evidence {
    pub rule: IntentRule,
    /// The sentence that decided, on one line; empty if none did.
    pub line: String,
}

macro_rules! intent_rules {
    ($($name:ident $intent:ident $percent:literal $sentence:literal;)*) => {
        /// Why a message was given its intent.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
        pub enum IntentRule { $($name),* }

        impl IntentRule {
            pub const ALL: &'static [IntentRule] = &[$(IntentRule::$name),*];

            /// The sentence that `flightdeck explain` gives as the reason.
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence),* }
            }

            fn intent(self) -> Intent {
                match self { $(Self::$name => Intent::$intent),* }
            }

            /// How sure the rule is, in percent.
            fn percent(self) -> u8 {
                match self { $(Self::$name => $percent),* }
            }
        }
    };
}

intent_rules! {
    AsksThePerson Question 95 "The message ends with a question to the person.";
    QuestionForm Question 85 "The message ends with a sentence in the form of a question.";
    RequestsInput Question 90 "The message ends with a request for a decision or for information.";
    Blocked Question 80 "Claude says that it cannot go on without the person.";
    OfferAfterCompletion Completion 85 "The work is reported as done; the question at the end offers more.";
    SaysDone Completion 90 "The message says that the work is done.";
    ChangedFiles Completion 70 "Tools changed files in this turn, and the message neither asks nor names a next step.";
    OpensWithDone Completion 75 "The message began by saying that the work is done.";
    SoftClose EndOfTask 85 "The message ends with an offer to help further.";
    DirectAnswer Completion 75 "The message answers a question of the person, and leaves nothing open.";
    Explains Completion 60 "The message explains or lists something, and leaves nothing open.";
    AnnouncesNextStep Progress 85 "The message ends with what Claude does next.";
    NothingSaid Progress 40 "The message neither asks nor says that the work is done.";
}

/// Prepares the detector, so that no event waits until its patterns are built.
pub fn prepare() {
    matching::build();
}

/// The intent of a turn's last message, for a turn that changed files and for one that did not. Both are kept, because a tool call
/// may be reported after the message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnIntent {
    /// Counts if no tool changed a file in the turn.
    read_only: DetectedIntent,
    changed_files: DetectedIntent,
}

impl TurnIntent {
    pub fn detect(message: &str) -> Self {
        let prose = prose::Prose::from_message(message);
        let decided = |changed_files| {
            let (rule, line) = decide::decide(&prose.sentences, changed_files);
            DetectedIntent {
                intent: rule.intent(),
                confidence: f64::from(rule.percent()) / 100.0,
                evidence: Evidence { rule, line: line.map(as_shown).unwrap_or_default() },
            }
        };
        Self { read_only: decided(false), changed_files: decided(true) }
    }

    pub fn for_turn(&self, changed_files: bool) -> &DetectedIntent {
        if changed_files { &self.changed_files } else { &self.read_only }
    }
}

/// The intent of an agent's message by its text alone.
pub fn detect(message: &str) -> DetectedIntent {
    TurnIntent::detect(message).read_only
}

/// A sentence as a card shows it: one line without emphasis and code marks.
fn as_shown(sentence: &str) -> String {
    one_line(&sentence.replace(['*', '`'], ""), INTENT_LINE_CHARS_MAX)
}

#[cfg(test)]
mod tests;
