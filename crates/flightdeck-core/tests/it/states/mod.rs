//! What each hook does to a session, a row a test. `docs/events.md` tells the same as a table.

mod card;
mod life;
mod order;
mod subagents;
mod tools;
mod turns;
mod waiting;
