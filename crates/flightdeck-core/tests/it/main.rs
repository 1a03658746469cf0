//! Stories about the core: each row of STATES.md, each captured scenario, and properties that hold in any order.

mod corpus;
mod enriched;
mod properties;
mod states;
mod story;
