use std::collections::BTreeMap;
use std::path::Path;

use super::graph::{Crates, Target, cycles, imports};
use super::source::read_crate;

/// The crate `a` with these files below `src`.
fn crates(files: &[(&str, &str)]) -> Crates {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let read = |path: &Path| files.get(path.to_str()?).map(|text| (*text).to_owned());
    [("a".to_owned(), read_crate(&read, Path::new("lib.rs")).unwrap())].into()
}

/// `one → two` for each import between modules.
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let name = |path: &[String]| if path.is_empty() { "lib".to_owned() } else { path.join("/") };
    let all = imports(&crates(files), Target::Definition);
    all.keys().map(|(from, to)| format!("{} → {}", name(&from.path), name(&to.path))).collect()
}

fn members(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let crates = crates(files);
    let found = cycles(&crates, &imports(&crates, Target::Definition));
    found.into_iter().map(|cycle| cycle.members.into_iter().collect()).collect()
}

#[test]
fn uses_paths_and_macros_are_imports() {
    let files = [
        ("lib.rs", "mod one; mod two; mod three;"),
        ("one.rs", "use crate::two::{self, B as C}; fn f() { println!(\"{}\", crate::three::D); }"),
        ("two.rs", "pub struct B; fn f() { super::three::g() }"),
        ("three.rs", "pub const D: u8 = 1; pub fn g() {}"),
    ];
    assert_eq!(arrows(&files), ["one → three", "one → two", "two → three"]);
}

#[test]
fn a_re_export_leads_to_the_module_that_defines_the_item() {
    let files = [
        ("lib.rs", "mod one; mod two;"),
        ("one.rs", "use crate::two::{Named, Globbed};"),
        ("two/mod.rs", "mod named; mod globbed; pub use named::Named; pub use globbed::*;"),
        ("two/named.rs", "pub struct Named;"),
        ("two/globbed.rs", "pub struct Globbed;"),
    ];
    let arrows = arrows(&files);
    assert!(arrows.contains(&"one → two/named".to_owned()), "{arrows:?}");
    assert!(arrows.contains(&"one → two/globbed".to_owned()), "{arrows:?}");
    let written = imports(&crates(&files), Target::Written);
    let of_one: Vec<_> =
        written.keys().filter(|(from, _)| from.path == ["one"]).map(|(_, to)| &to.path).collect();
    assert_eq!(of_one, [&["two"]], "a layer may re-export what is below it");
}

#[test]
fn code_for_tests_is_left_out() {
    let files = [
        ("lib.rs", "mod one; mod two; #[cfg(test)] mod helpers;"),
        (
            "one.rs",
            "#[cfg(test)] mod tests { use crate::two::B; } #[cfg(test)] use crate::two::B; #[cfg(any(test, feature = \"x\"))] fn f() { crate::two::g() }",
        ),
        ("two.rs", "pub struct B; pub fn g() {}"),
    ];
    assert!(arrows(&files).is_empty(), "{:?}", arrows(&files));
    let kept = [files[0], ("one.rs", "#[cfg(not(test))] use crate::two::B;"), files[2]];
    assert_eq!(arrows(&kept), ["one → two"]);
}

#[test]
fn siblings_that_import_each_other_are_a_cycle_and_a_parent_with_its_child_is_none() {
    let tops = [
        ("lib.rs", "mod one; mod two; mod three;"),
        ("one.rs", "use crate::two::B;"),
        ("two.rs", "pub struct B; use crate::three::D;"),
        ("three.rs", "pub struct D; fn f(_: crate::one::A) {}"),
    ];
    assert_eq!(members(&tops), [["one", "three", "two"]]);
    let folder = [
        ("lib.rs", "mod one;"),
        ("one/mod.rs", "mod x; mod y; use x::X; pub struct Shared;"),
        ("one/x.rs", "pub struct X; use super::Shared; use super::y::Y;"),
        ("one/y.rs", "pub struct Y; fn f(_: super::X) {}"),
    ];
    assert_eq!(members(&folder), [["x", "y"]]);
    let parent = [folder[0], folder[1], folder[2], ("one/y.rs", "pub struct Y; use super::Shared;")];
    assert!(members(&parent).is_empty(), "{:?}", members(&parent));
}
