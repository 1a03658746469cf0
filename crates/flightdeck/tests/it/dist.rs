//! The packages of `cargo xtask dist`, made of the binary under test.

use std::path::Path;

use flightdeck_e2e::dist;

#[test]
fn the_packages_are_complete_and_the_hooks_of_the_plugin_work_or_stay_silent() {
    let folder = tempfile::tempdir().unwrap();
    let packages = dist::make(Path::new(env!("CARGO_BIN_EXE_flightdeck")), folder.path()).unwrap();
    dist::check_packages(&packages).unwrap();
}
