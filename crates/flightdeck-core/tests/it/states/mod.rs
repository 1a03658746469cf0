//! What each hook does to a session, a row a test. `docs/events.md` tells the same as a table.

mod away;
mod card;
mod intent;
mod life;
mod order;
mod processes;
mod queue;
mod subagents;
mod tools;
mod turns;
