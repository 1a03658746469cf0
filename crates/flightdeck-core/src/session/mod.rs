//! One conversation: its main agent, its subagents, and what a card says about it.
//!
//! [`Session::apply`] in `apply.rs` is the whole path of an event. `processes.rs` chooses the process that the event belongs to,
//! if a session has several.

pub mod agent;
mod apply;
mod asks;
mod assignment_drivers;
mod assignment_tracker;
mod away;
mod child;
mod children;
mod data;
mod end;
mod event_order;
mod failure;
mod growth;
mod hook_stop;
mod interrupt;
pub mod ledger;
mod main_agent;
mod note_kind;
mod process;
mod processes;
mod registry;
mod registry_view;
mod seat;
mod show;
mod shown;
mod state;
pub mod state_history;
pub mod state_name;
mod turn;

pub use self::assignment_tracker::{AssignmentTracker, RefusedStep, SessionAssignment};
pub use self::child::Child;
pub use self::failure::Failure;
pub use self::main_agent::MainAgent;
pub use self::process::{PastProcess, Process};
pub use self::registry_view::RegistryView;
pub use self::seat::Seat;
pub(crate) use self::seat::replace_if_some;
pub use self::shown::{Shown, StateReason, Transition};
pub use self::state::{HostTerms, Parking, Session};
pub use self::turn::Turn;
