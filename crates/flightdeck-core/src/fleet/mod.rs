//! The fleet: all sessions that this daemon knows, as a pure fold over the log. The engine owns it.

mod apply;
mod asks;
mod assignments;
mod effects;
mod effort_index;
mod efforts;
mod forget;
mod hook_presence;
mod lookups;
mod notes;
mod past;
mod processes;
mod replace;
mod seats;
mod state;
mod tick;
mod timers;
mod twins;

pub use self::effects::Effect;
pub use self::lookups::FoundAsk;
pub use self::past::PastSession;
pub use self::processes::Occupant;
pub use self::seats::{ChosenBy, KnownSeat};
pub use self::state::Fleet;
