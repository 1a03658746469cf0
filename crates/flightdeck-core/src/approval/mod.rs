//! Requests for a person's decision: what is asked, how it can be answered, and the policy that answers by rules.

pub mod answer;
pub mod ask;
pub mod card;
pub mod caution;
pub mod form;
pub mod policy;
pub mod resolution;
pub mod tool_input;
pub mod verdict;
