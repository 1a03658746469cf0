//! Stories of the whole way of an event: hooks, HTTP, the socket, the store, streams and the command line.
//!
//! A story runs the built binary ([`stage`]) or a daemon's insides under a clock of its own ([`deck`]). Either way nothing
//! outside a throw-away folder is read or written.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a story stops where it goes wrong"
)]

mod asks;
mod board;
mod cli;
mod corpus;
mod deck;
mod deep;
mod demo;
mod http;
mod intruders;
mod kill;
mod large;
mod liveness;
mod openapi;
mod policy;
mod registration;
mod registry;
mod replay;
mod safety;
mod screen;
mod shim;
mod socket;
mod stage;
mod start;
mod status_line;
mod stream;
mod terminal;
mod tmux;
mod trouble;
mod viewers;
