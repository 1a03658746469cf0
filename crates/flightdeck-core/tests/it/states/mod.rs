//! STATES.md §1 and §3, a row a test.

mod card;
mod life;
mod order;
mod subagents;
mod tools;
mod turns;
