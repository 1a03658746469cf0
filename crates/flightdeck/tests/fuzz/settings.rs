//! The client's settings file: refused and unchanged, or every foreign value survives and uninstalling restores the file.

use crate::fixture::{SettingsFixture, meaning_without_ours};
use crate::fuzz;

#[test]
fn settings() {
    fuzz("settings", Vec::new(), |before| {
        let fixture = SettingsFixture::with(before);
        let foreign = meaning_without_ours(before);
        if fixture.install().is_err() {
            assert_eq!(fixture.bytes(), before, "a refused file was touched");
            return;
        }
        let merged = fixture.bytes();
        assert_eq!(meaning_without_ours(&merged), foreign, "a foreign value changed");
        assert!(fixture.status().in_order(), "registered, and yet not in order");
        fixture.install().unwrap();
        assert_eq!(fixture.bytes(), merged, "a second install changed something");
        fixture.uninstall().unwrap();
        let after = fixture.bytes();
        assert_eq!(meaning_without_ours(&after), foreign, "a foreign value did not come back");
        let ours_were_there = before.windows(15).any(|w| w == b"flightdeck-hook");
        if !ours_were_there {
            assert_eq!(after, before, "the file did not come back to the byte");
        }
    });
}
