//! The log: what is stored (records) and what the fold reads (events).

pub mod approvals;
pub mod common_facts;
pub mod effort_facts;
pub mod event;
pub mod from_hook;
pub mod from_registry;
pub mod from_transcript;
pub mod hold_rules;
pub mod hook_presence;
pub mod hook_question;
pub mod record;
pub mod refusal;
pub mod subject;
pub mod todo;
pub mod tool;
