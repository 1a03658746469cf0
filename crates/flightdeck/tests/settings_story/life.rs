//! A registration from install to uninstall, with what others do in between.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use flightdeck::claude_settings::{BACKUPS_MAX, Keep, Outcome, SettingsError, Version, Via};

use crate::world::World;

#[test]
fn uninstall_keeps_what_others_changed_since() {
    let world = World::with(b"{\n  \"model\": \"opus\"\n}\n");
    world.install().unwrap();
    let edited = String::from_utf8(world.bytes()).unwrap().replace("\"opus\"", "\"sonnet\"");
    fs::write(world.settings(), edited).unwrap();
    world.uninstall().unwrap();
    assert_eq!(String::from_utf8(world.bytes()).unwrap(), "{\n  \"model\": \"sonnet\"\n}\n");
}

#[test]
fn a_file_we_made_goes_again_unless_somebody_else_uses_it() {
    let world = World::empty();
    world.install().unwrap();
    let rewritten = String::from_utf8(world.bytes()).unwrap().replace("  ", "\t");
    fs::write(world.settings(), rewritten).unwrap();
    world.uninstall().unwrap();
    assert!(!world.settings().exists());

    world.install().unwrap();
    let used = String::from_utf8(world.bytes()).unwrap().replacen('{', "{\"model\": \"opus\",", 1);
    fs::write(world.settings(), used).unwrap();
    world.uninstall().unwrap();
    assert_eq!(world.bytes(), b"{\"model\": \"opus\"\n}\n");
}

#[test]
fn going_from_one_way_to_another_and_back_leaves_no_trace() {
    let before = b"{\n  \"hooks\": {},\n  \"model\": \"opus\"\n}\n";
    let mut world = World::with(before);
    for via in [Via::Shim, Via::Http, Via::Curl, Via::Shim] {
        world.registration.via = via;
        world.install().unwrap();
        assert_eq!(world.status().via, Some(via));
        assert!(world.status().in_order());
    }
    world.uninstall().unwrap();
    assert_eq!(world.bytes(), before);
}

#[test]
fn drift_is_noticed_and_repaired() {
    let mut world = World::with(b"{}\n");
    assert!(!world.status().drift, "never registered is no drift");
    world.install().unwrap();
    fs::write(world.settings(), "{\"model\": \"opus\"}\n").unwrap();
    assert!(world.status().drift, "another tool dropped everything");
    world.repair().unwrap();
    assert!(world.status().in_order());

    world.registration.binary = "/elsewhere/flightdeck".into();
    let status = world.status();
    assert_eq!((status.drift, status.registered.len(), status.stale.len()), (true, 0, 30));
    world.repair().unwrap();
    let old_client = world.knowing(Version(2, 0, 40));
    let status = old_client.status();
    assert!(status.stale.iter().any(|name| name == "Setup"), "a name the client does not know: {status}");
    old_client.repair().unwrap();
    assert!(old_client.status().in_order());
    old_client.uninstall().unwrap();
    assert_eq!(old_client.bytes(), b"{\"model\": \"opus\"}\n");
}

#[test]
fn a_daemon_that_stops_takes_out_only_what_was_not_installed_for_good() {
    let world = World::with(b"{}\n");
    let outcomes = |keep: &[Keep]| {
        for keep in keep {
            world.file().install(&world.registration, *keep).unwrap();
        }
        let outcome = world.file().release(&world.registration.home).unwrap().outcome;
        world.uninstall().unwrap();
        assert_eq!(world.bytes(), b"{}\n");
        outcome
    };
    assert_eq!(outcomes(&[Keep::WhileRunning]), Outcome::Removed);
    assert_eq!(outcomes(&[Keep::ForGood]), Outcome::Kept);
    assert_eq!(outcomes(&[Keep::ForGood, Keep::WhileRunning]), Outcome::Kept);
    assert_eq!(outcomes(&[Keep::WhileRunning, Keep::ForGood]), Outcome::Kept);
    assert_eq!(outcomes(&[]), Outcome::Unchanged);
}

#[test]
fn the_last_twenty_backups_are_kept_for_the_owner_only() {
    let world = World::empty();
    for round in 0..25 {
        fs::write(world.settings(), format!("{{\"round\": {round}}}")).unwrap();
        world.install().unwrap();
    }
    let backups: Vec<_> = world.backups();
    assert_eq!(backups.len(), BACKUPS_MAX);
    for (backup, round) in backups.iter().zip(5..) {
        assert_eq!(fs::read_to_string(backup).unwrap(), format!("{{\"round\": {round}}}"));
        assert_eq!(fs::metadata(backup).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn where_no_backup_can_be_made_nothing_is_changed() {
    let world = World::with(b"{\"a\": 1}");
    fs::write(world.backups_folder(), "in the way").unwrap();
    let refusal = world.install().unwrap_err();
    assert!(matches!(refusal, SettingsError::Io { .. }), "{refusal}");
    assert_eq!(world.bytes(), b"{\"a\": 1}");
}
