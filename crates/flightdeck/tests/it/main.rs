//! Tests of the whole daemon: hooks, HTTP, the socket, the store, streams and the command line.
//!
//! A test runs the built binary ([`home`]) or a daemon inside its own process with its own clock ([`in_process`]). Neither
//! reads or writes anything outside a throw-away folder.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test stops where it goes wrong"
)]

mod answer_command;
mod asks;
mod assignments;
mod board;
mod cli;
mod conversation;
mod corpus;
mod deep;
mod demo;
mod dist;
mod doctor;
mod efforts;
mod fleet;
mod home;
mod hook_commands;
mod in_process;
mod intruders;
mod kill;
mod large;
mod live_settings;
mod liveness;
mod notify;
mod openapi;
mod policy;
mod registration;
mod registry;
mod replay;
mod run;
mod safety;
mod screen;
mod scripts;
mod service;
mod start;
mod status_line;
mod stream;
mod terminal;
mod tmux;
mod tmux_install;
mod trouble;
mod tui;
mod upgrade;
mod viewers;
