//! From mentioned paths to imports between modules, and the cycles in them.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Module, ModulePath, Modules};

/// The crates of the workspace, by the name that code uses: `flightdeck_core`.
pub(super) type Crates = BTreeMap<String, Modules>;

/// A module of a crate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ModuleId {
    pub(super) krate: String,
    pub(super) path: ModulePath,
}

/// Why one module depends on another: `crates/flightdeck/src/engine.rs:12 crate::store::Store`.
pub(super) type Reason = String;

pub(super) type Imports = BTreeMap<(ModuleId, ModuleId), Reason>;

/// Which module a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The module that defines the item, behind any re-exports: nothing hides a cycle.
    Definition,
    /// The module that the code names: a layer may re-export a type of the layer below it.
    Written,
}

/// A chain of re-exports is shorter than this; a `use` that names itself would never end.
const RE_EXPORTS_MAX: usize = 16;

/// Every import from one module to another, each with its first reason.
pub(super) fn imports(crates: &Crates, target: Target) -> Imports {
    let paths = Paths { crates, target };
    let mut all = Imports::new();
    for (krate, modules) in crates {
        for (path, module) in modules {
            let from = ModuleId { krate: krate.clone(), path: path.clone() };
            for mention in &module.mentions {
                let Some(to) = paths.resolve(&from, &mention.path, 0) else { continue };
                if to != from {
                    let reason =
                        || format!("{}:{} {}", module.file.display(), mention.line, mention.path.join("::"));
                    all.entry((from.clone(), to)).or_insert_with(reason);
                }
            }
        }
    }
    all
}

struct Paths<'a> {
    crates: &'a Crates,
    target: Target,
}

impl Paths<'_> {
    fn module(&self, at: &ModuleId) -> Option<&Module> {
        self.crates.get(&at.krate)?.get(&at.path)
    }

    /// `None` if the path leads to no module of the workspace.
    fn resolve(&self, from: &ModuleId, path: &[String], depth: usize) -> Option<ModuleId> {
        if depth > RE_EXPORTS_MAX {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let module = self.module(from)?;
        let root_of = |krate: &str| ModuleId { krate: krate.to_owned(), path: Vec::new() };
        match first.as_str() {
            "crate" => self.walk(root_of(&from.krate), rest, depth),
            "self" => self.walk(from.clone(), rest, depth),
            "super" => {
                let parent = ModuleId { krate: from.krate.clone(), path: from.path.split_last()?.1.to_vec() };
                // `super::super` goes on from there.
                match rest.first().is_some_and(|next| next == "super") {
                    true => self.resolve(&parent, rest, depth),
                    false => self.walk(parent, rest, depth),
                }
            }
            name if module.children.contains(name) => self.walk(from.clone(), path, depth),
            name if self.crates.contains_key(name) => self.walk(root_of(name), rest, depth),
            name => self.follow(from, module.imports.get(name)?, rest, depth),
        }
    }

    /// Goes on with the path that an imported name stands for.
    fn follow(&self, at: &ModuleId, import: &[String], rest: &[String], depth: usize) -> Option<ModuleId> {
        let path: Vec<String> = import.iter().chain(rest).cloned().collect();
        self.resolve(at, &path, depth + 1)
    }

    fn walk(&self, mut at: ModuleId, path: &[String], depth: usize) -> Option<ModuleId> {
        let mut rest = path;
        while let Some((name, after)) = rest.split_first() {
            let module = self.module(&at)?;
            if module.children.contains(name) {
                at.path.push(name.clone());
            } else if module.items.contains(name) || self.target == Target::Written {
                return Some(at);
            } else if let Some(import) = module.imports.get(name) {
                return self.follow(&at, import, after, depth).or(Some(at));
            } else {
                return Some(self.behind_glob(&at, module, rest, depth).unwrap_or(at));
            }
            rest = after;
        }
        Some(at)
    }

    fn behind_glob(&self, at: &ModuleId, module: &Module, rest: &[String], depth: usize) -> Option<ModuleId> {
        let name = rest.first()?;
        let has = |place: &ModuleId| {
            self.module(place).is_some_and(|module| {
                module.items.contains(name)
                    || module.children.contains(name)
                    || module.imports.contains_key(name)
            })
        };
        let mut targets = module.globs.iter().filter_map(|glob| self.resolve(at, glob, depth + 1));
        self.walk(targets.find(|target| target != at && has(target))?, rest, depth + 1)
    }
}

/// Children of one module that import each other, directly or in a circle, and why.
#[derive(Debug)]
pub(super) struct Cycle {
    pub(super) parent: ModuleId,
    pub(super) members: BTreeSet<String>,
    pub(super) reasons: BTreeMap<(String, String), Reason>,
}

/// A module and its own children are one unit: only siblings can form a cycle.
pub(super) fn cycles(crates: &Crates, imports: &Imports) -> Vec<Cycle> {
    let parents = crates.iter().flat_map(|(krate, modules)| {
        let of = |path: &ModulePath| ModuleId { krate: krate.clone(), path: path.clone() };
        modules.iter().filter(|(_, module)| module.children.len() > 1).map(move |(path, _)| of(path))
    });
    parents.flat_map(|parent| cycles_below(&parent, &between_children(&parent, imports))).collect()
}

/// The imports between the children of a module, each with everything below it.
pub(super) fn between_children(parent: &ModuleId, imports: &Imports) -> BTreeMap<(String, String), Reason> {
    let child = |place: &ModuleId| {
        let is_below = place.krate == parent.krate && place.path.starts_with(&parent.path);
        is_below.then(|| place.path.get(parent.path.len()).cloned()).flatten()
    };
    let mut all = BTreeMap::new();
    for ((from, to), reason) in imports {
        if let (Some(from), Some(to)) = (child(from), child(to))
            && from != to
        {
            all.entry((from, to)).or_insert_with(|| reason.clone());
        }
    }
    all
}

fn cycles_below(parent: &ModuleId, edges: &BTreeMap<(String, String), Reason>) -> Vec<Cycle> {
    let reach = |start: &str| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![start.to_owned()]);
        while let Some(at) = left.pop() {
            let next = edges.keys().filter(|(from, _)| *from == at).map(|(_, to)| to);
            left.extend(next.filter(|to| seen.insert((*to).clone())).cloned());
        }
        seen
    };
    let names: BTreeSet<&String> = edges.keys().map(|(from, _)| from).collect();
    let reached: BTreeMap<&String, BTreeSet<String>> =
        names.iter().map(|name| (*name, reach(name))).collect();
    let mut found: Vec<Cycle> = Vec::new();
    for (name, ahead) in &reached {
        let is_known = found.iter().any(|cycle| cycle.members.contains(*name));
        if is_known || !ahead.contains(*name) {
            continue;
        }
        let comes_back = |other: &&String| reached.get(other).is_some_and(|theirs| theirs.contains(*name));
        let members: BTreeSet<String> = ahead.iter().filter(comes_back).cloned().collect();
        let inside = |(from, to): &(String, String)| members.contains(from) && members.contains(to);
        let reasons = edges.iter().filter(|(edge, _)| inside(edge));
        let reasons = reasons.map(|(edge, reason)| (edge.clone(), reason.clone())).collect();
        found.push(Cycle { parent: parent.clone(), members, reasons });
    }
    found
}
