//! What each hook does to a session, a row a test. `docs/events.md` tells the same as a table.

mod assignments;
mod away;
mod card;
mod intent;
mod life;
mod order;
mod processes;
mod queue;
mod seats;
mod subagents;
mod tools;
mod turns;
