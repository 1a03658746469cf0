//! Every type that the table names: `use flightdeck_protocol::types::*` where a macro walks over it.

pub use flightdeck_core::approval::card::{AskCard, ResolutionCard};
pub use flightdeck_core::usage::numbers::Numbers;
pub use flightdeck_core::usage::totals::{Indexing, Report};
pub use flightdeck_core::view::assignment::AssignmentCard;
pub use flightdeck_core::view::card::Card;
pub use flightdeck_core::view::conversation::ConversationPage;
pub use flightdeck_core::view::effort::{EffortCard, WindowCard, WorkstreamCard};
pub use flightdeck_core::view::explain::Explanation;
pub use flightdeck_core::view::fleet_history::FleetHistory;
pub use flightdeck_core::view::policy_dry_run::PolicyReport;
pub use flightdeck_core::view::timeline::EventPage;

pub use crate::asks::*;
pub use crate::assignments::*;
pub use crate::changes::*;
pub use crate::daemon::*;
pub use crate::efforts::*;
pub use crate::engine_hooks::*;
pub use crate::fleet::*;
pub use crate::hooks::*;
pub use crate::hosts::*;
pub use crate::notify::*;
pub use crate::policy::*;
pub use crate::seats::*;
pub use crate::sessions::*;
pub use crate::supervise::*;
pub use crate::terminal::*;
pub use crate::usage::*;
