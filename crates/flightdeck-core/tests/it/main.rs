//! Stories about the core: each row of STATES.md, each captured scenario, and properties that hold in any order.

mod corpus;
mod properties;
mod registry;
mod states;
mod status_line;
mod story;
