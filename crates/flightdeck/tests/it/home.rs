//! The throw-away home of a test, for the binary that cargo built.

use flightdeck_e2e::testkit::TestHome;

pub(crate) fn test_home() -> TestHome {
    test_home_named("fd")
}

/// `name` is the name of Flightdeck's own folder.
pub(crate) fn test_home_named(name: &str) -> TestHome {
    TestHome::new(env!("CARGO_BIN_EXE_flightdeck").as_ref(), name)
}
