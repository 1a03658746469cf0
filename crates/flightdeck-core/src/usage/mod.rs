//! Tokens, cost and other data from transcripts and the status line. None of it changes a state.

pub mod amounts;
pub mod enrichment;
pub mod numbers;
pub mod price;
mod prompt_queue;
pub mod session_files;
pub mod status_line;
pub mod taken_back;
pub mod totals;
mod turn_marks;
