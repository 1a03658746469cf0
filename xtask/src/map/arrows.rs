//! Which way imports may point: one table for the crates, one for the modules of the daemon.

use std::collections::BTreeSet;

use super::graph::{Imports, ModuleId};

/// A crate or module, and everything it may import. Lower rows may import higher ones, never the other way.
type Arrow = (&'static str, &'static [&'static str]);

/// Crates of the workspace. Cargo checks most of this; the table says what a `Cargo.toml` may not begin to allow.
const CRATES: &[Arrow] = &[
    ("flightdeck_core", &[]),
    ("flightdeck_hook", &[]),
    ("flightdeck_protocol", &["flightdeck_core"]),
    ("flightdeck_sim", &[]),
    ("flightdeck", &["flightdeck_core", "flightdeck_hook", "flightdeck_protocol", "flightdeck_sim"]),
    ("flightdeck_e2e", &["flightdeck_core", "flightdeck_hook", "flightdeck_protocol", "flightdeck_sim"]),
    ("xtask", &["flightdeck_core", "flightdeck_protocol", "flightdeck_e2e"]),
];

/// The crate whose top-level modules have arrows of their own.
const LAYERED: &str = "flightdeck";

/// Modules that every other module may import. They import none but each other.
const FOUNDATIONS: &[&str] = &["clock", "frame", "health", "process", "program", "log", "secret"];

/// Top-level modules of `flightdeck`, beside the foundations, from the inside to the outside.
const MODULES: &[Arrow] = &[
    ("store", &[]),
    ("settings", &[]),
    ("terminal", &[]),
    ("engine", &["store"]),
    // The panes that a person looks at need no note.
    ("notify", &["engine", "store", "terminal"]),
    ("hosts", &["engine", "store"]),
    // Each section of config.toml is a type of the module that it configures.
    ("config", &["hosts", "notify", "store", "settings", "terminal"]),
    ("usage", &["store"]),
    ("moment", &["usage"]),
    // A session without hooks is found in its tmux pane.
    ("ingest", &["engine", "terminal"]),
    ("pane_colours", &["engine", "terminal"]),
    // Skills and directives on disk.
    ("skills", &[]),
    ("transcripts", &["engine", "store", "usage"]),
    // `config`: settings are read again while the daemon runs. `ingest`: the number of spooled files is part of the status.
    (
        "app",
        &[
            "config",
            "engine",
            "hosts",
            "notify",
            "store",
            "terminal",
            "settings",
            "usage",
            "moment",
            "transcripts",
            "ingest",
            "skills",
        ],
    ),
    ("transport", &["app"]),
    (
        "daemon",
        &[
            "app",
            "transport",
            "ingest",
            "transcripts",
            "engine",
            "hosts",
            "notify",
            "store",
            "settings",
            "terminal",
            "config",
            "pane_colours",
        ],
    ),
    ("client", &[]),
    // `run` works without a daemon, and listens to one where there is one.
    ("supervisor", &["client"]),
    ("fleet", &[]),
    // Some commands work without a daemon: `doctor`, `usage`, `hosts join`. `demo` plays into the engine that it starts.
    (
        "cli",
        &[
            "client",
            "daemon",
            "settings",
            "config",
            "hosts",
            "usage",
            "ingest",
            "transcripts",
            "engine",
            "pane_colours",
            "supervisor",
            "fleet",
        ],
    ),
    // The status line without a command of the person; only `main` uses it.
    ("default_status_line", &[]),
];

/// Crates that a module of `flightdeck` must not import although others do.
const NOT_IN: &[Arrow] = &[
    ("client", &["flightdeck_sim", "flightdeck_hook"]),
    ("store", &["flightdeck_protocol", "flightdeck_sim"]),
    ("transport", &["flightdeck_sim"]),
];

/// One line for each import in the wrong direction, and for each module that has no row.
pub(super) fn violations(imports: &Imports) -> Vec<String> {
    let mut found = BTreeSet::new();
    for ((from, to), reason) in imports {
        if from.krate != to.krate {
            if !may_import(CRATES, &from.krate, &to.krate) {
                found.insert(format!("{} may not import {}: {reason}", from.krate, to.krate));
            }
            if from.krate == LAYERED && listed(NOT_IN, top(from), &to.krate) {
                found.insert(format!("{} may not import {}: {reason}", top(from), to.krate));
            }
        } else if from.krate == LAYERED && !from.path.is_empty() && !to.path.is_empty() {
            found.extend(between_modules(top(from), top(to), reason));
        }
    }
    found.into_iter().collect()
}

fn between_modules(from: &str, to: &str, reason: &str) -> Option<String> {
    if from == to {
        return None;
    }
    let is_foundation = |name: &str| FOUNDATIONS.contains(&name);
    if !is_foundation(from) && !MODULES.iter().any(|(name, _)| *name == from) {
        return Some(format!("{from} has no row in the table of arrows (xtask/src/map/arrows.rs)"));
    }
    let allowed = is_foundation(to) || may_import(MODULES, from, to);
    (!allowed).then(|| format!("{from} may not import {to}: {reason}"))
}

fn top(place: &ModuleId) -> &str {
    place.path.first().map_or("", String::as_str)
}

fn may_import(table: &[Arrow], from: &str, to: &str) -> bool {
    // The binary of a crate is named after it and may import what the library may, and the library.
    let from = from.trim_end_matches(" (main)");
    from == to || listed(table, from, to)
}

fn listed(table: &[Arrow], from: &str, to: &str) -> bool {
    table.iter().any(|(name, allowed)| *name == from && allowed.contains(&to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_no_way_back() {
        for (place, (name, allowed)) in MODULES.iter().enumerate() {
            let before = MODULES[..place].iter().map(|(name, _)| *name).collect::<Vec<_>>();
            let upward: Vec<_> = allowed.iter().filter(|to| !before.contains(*to)).collect();
            assert!(upward.is_empty(), "{name} may import {upward:?}, which stand below it");
        }
    }
}
