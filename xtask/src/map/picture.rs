//! The graph as text: for a person, and as the picture in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::graph::{Crates, Imports, ModuleId, between_children};

/// Each name with the names that it imports.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// For each crate: the imports between its top-level modules with an example of each, then every file with its imports.
pub(super) fn full(crates: &Crates, imports: &Imports) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for (krate, modules) in crates {
        let _ = writeln!(text, "\n{krate}: {} modules", modules.len());
        let root = ModuleId { krate: krate.clone(), path: Vec::new() };
        for ((from, to), reason) in between_children(&root, imports) {
            let _ = writeln!(text, "  {from} → {to}    {reason}");
        }
        for path in modules.keys() {
            let from = ModuleId { krate: krate.clone(), path: path.clone() };
            let imported =
                imports.keys().filter(|(importer, _)| *importer == from).map(|(_, to)| name(&from, to));
            let imported: Vec<String> = imported.collect();
            if !imported.is_empty() {
                let _ = writeln!(text, "    {} → {}", name(&root, &from), imported.join(", "));
            }
        }
    }
    text
}

/// The name of a module as another one reads it: with its crate only if that is another crate.
fn name(from: &ModuleId, to: &ModuleId) -> String {
    let path = if to.path.is_empty() { "lib".to_owned() } else { to.path.join("/") };
    if from.krate == to.krate { path } else { format!("{}:{path}", to.krate) }
}

/// The crates, then the top-level modules of each library that has more than one. Inner layers come first.
pub(super) fn compact(crates: &Crates, imports: &Imports) -> String {
    let between = |(from, to): &(ModuleId, ModuleId)| {
        (from.krate != to.krate).then(|| (crate_name(from), crate_name(to)))
    };
    let mut text = "```text\n".to_owned();
    let names = crates.keys().filter(|name| !name.contains(' ')).cloned();
    layers(&mut text, "crates", names.collect(), imports.keys().filter_map(between));
    for (krate, modules) in crates {
        let Some(root) = modules.get(&Vec::new()) else { continue };
        if root.children.len() > 1 && !krate.contains(' ') {
            let place = ModuleId { krate: krate.clone(), path: Vec::new() };
            let edges = between_children(&place, imports).into_keys();
            text.push('\n');
            layers(&mut text, krate, root.children.clone(), edges);
        }
    }
    text + "```\n"
}

/// The name of the module's crate. A binary counts as the library beside it.
fn crate_name(place: &ModuleId) -> String {
    place.krate.trim_end_matches(" (main)").to_owned()
}

/// Writes a line for each name, below the lines of everything that it imports.
fn layers(
    text: &mut String,
    title: &str,
    names: BTreeSet<String>,
    edges: impl Iterator<Item = (String, String)>,
) {
    let mut all: Edges = names.into_iter().map(|name| (name, BTreeSet::new())).collect();
    for (from, to) in edges.filter(|(from, to)| from != to) {
        all.entry(from).or_default().insert(to);
    }
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{title}");
    let mut layer = 0;
    let mut done = BTreeSet::new();
    while done.len() < all.len() {
        let is_next =
            |(name, to): &(&String, &BTreeSet<String>)| !done.contains(*name) && to.is_subset(&done);
        let mut next: Vec<String> = all.iter().filter(is_next).map(|(name, _)| name.clone()).collect();
        if next.is_empty() {
            // A cycle. The step `map` fails on it; the picture shows the remaining names in one layer.
            next = all.keys().filter(|name| !done.contains(*name)).cloned().collect();
        }
        for name in &next {
            let to: Vec<String> = direct_only(&all, &all[name]);
            let arrow = if to.is_empty() { String::new() } else { format!(" → {}", to.join(", ")) };
            let _ = writeln!(text, "{layer:>3}  {name:<22}{arrow}",);
        }
        done.extend(next);
        layer += 1;
    }
}

/// The imports in `to` that no other import in `to` reaches, so that the picture has as few arrows as possible.
fn direct_only(all: &Edges, to: &BTreeSet<String>) -> Vec<String> {
    let is_reached =
        |name: &String| to.iter().any(|other| other != name && reaches(all, other, name, all.len()));
    to.iter().filter(|name| !is_reached(name)).cloned().collect()
}

/// Whether `from` imports `to`, directly or over at most `steps` imports. The bound ends the search in a cycle.
fn reaches(all: &Edges, from: &str, to: &str, steps: usize) -> bool {
    let next = all.get(from).into_iter().flatten();
    steps > 0 && next.into_iter().any(|name| name == to || reaches(all, name, to, steps - 1))
}
