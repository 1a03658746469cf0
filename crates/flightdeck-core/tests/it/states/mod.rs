//! What each event does to a session, one behaviour per test. `docs/events.md` shows the same as a table.

mod assignments;
mod away;
mod card;
mod intent;
mod life;
mod order;
mod own_hooks;
mod processes;
mod queue;
mod seats;
mod subagents;
mod tools;
mod turns;
mod waiting;
