//! The client's settings file: refused and untouched, or every foreign value survives us and we leave no trace.

use crate::fuzz;
use crate::world::{World, meaning_without_ours};

#[test]
fn settings() {
    fuzz("settings", Vec::new(), |before| {
        let world = World::with(before);
        let foreign = meaning_without_ours(before);
        if world.install().is_err() {
            assert_eq!(world.bytes(), before, "a refused file was touched");
            return;
        }
        let merged = world.bytes();
        assert_eq!(meaning_without_ours(&merged), foreign, "a foreign value changed");
        assert!(world.status().in_order(), "registered, and yet not in order");
        world.install().unwrap();
        assert_eq!(world.bytes(), merged, "a second install changed something");
        world.uninstall().unwrap();
        let after = world.bytes();
        assert_eq!(meaning_without_ours(&after), foreign, "a foreign value did not come back");
        let ours_were_there = before.windows(15).any(|w| w == b"flightdeck-hook");
        if !ours_were_there {
            assert_eq!(after, before, "the file did not come back to the byte");
        }
    });
}
