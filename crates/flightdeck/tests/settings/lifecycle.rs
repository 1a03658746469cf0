//! A registration from install to uninstall, with changes by other programs in between.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use flightdeck::settings::{BACKUPS_MAX, Lifetime, SettingsError, SettingsOutcome, Version, Via};

use crate::fixture::SettingsFixture;

#[test]
fn uninstall_keeps_later_changes_by_other_programs() {
    let fixture = SettingsFixture::with(b"{\n  \"model\": \"opus\"\n}\n");
    fixture.install().unwrap();
    let edited = String::from_utf8(fixture.bytes()).unwrap().replace("\"opus\"", "\"sonnet\"");
    fs::write(fixture.settings(), edited).unwrap();
    fixture.uninstall().unwrap();
    assert_eq!(String::from_utf8(fixture.bytes()).unwrap(), "{\n  \"model\": \"sonnet\"\n}\n");
}

#[test]
fn a_file_that_install_created_is_removed_unless_another_program_uses_it() {
    let fixture = SettingsFixture::empty();
    fixture.install().unwrap();
    let rewritten = String::from_utf8(fixture.bytes()).unwrap().replace("  ", "\t");
    fs::write(fixture.settings(), rewritten).unwrap();
    fixture.uninstall().unwrap();
    assert!(!fixture.settings().exists());

    fixture.install().unwrap();
    let used = String::from_utf8(fixture.bytes()).unwrap().replacen('{', "{\"model\": \"opus\",", 1);
    fs::write(fixture.settings(), used).unwrap();
    fixture.uninstall().unwrap();
    assert_eq!(fixture.bytes(), b"{\"model\": \"opus\"\n}\n");
}

#[test]
fn switching_between_transports_and_uninstalling_restores_the_file() {
    let before = b"{\n  \"hooks\": {},\n  \"model\": \"opus\"\n}\n";
    let mut fixture = SettingsFixture::with(before);
    for via in [Via::Shim, Via::Http, Via::Curl, Via::Shim] {
        fixture.registration.via = via;
        fixture.install().unwrap();
        assert_eq!(fixture.status().via, Some(via));
        assert!(fixture.status().in_order());
    }
    fixture.uninstall().unwrap();
    assert_eq!(fixture.bytes(), before);
}

#[test]
fn the_handlers_of_tool_calls_change_with_an_effort_and_go_back() {
    let before = b"{\n  \"model\":\"opus\"\n}\n";
    let mut fixture = SettingsFixture::with(before);
    fixture.install().unwrap();
    let usual = fixture.bytes();
    for (effort_active, expected) in [(true, None), (false, Some(&usual))] {
        fixture.registration.tool_verdicts = effort_active;
        let status = fixture.status();
        assert_eq!(status.stale, ["PreToolUse", "PostToolUse", "SubagentStart"]);
        assert!(status.drift && status.missing.is_empty());
        assert_eq!(fixture.repair().unwrap().outcome, SettingsOutcome::Repaired);
        assert!(fixture.status().in_order());
        assert!(expected.is_none_or(|usual| fixture.bytes() == *usual));
    }
    fixture.registration.tool_verdicts = true;
    fixture.repair().unwrap();
    fixture.uninstall().unwrap();
    assert_eq!(fixture.bytes(), before);
}

#[test]
fn drift_is_noticed_and_repaired() {
    let mut fixture = SettingsFixture::with(b"{}\n");
    assert!(!fixture.status().drift, "never registered is no drift");
    fixture.install().unwrap();
    fs::write(fixture.settings(), "{\"model\": \"opus\"}\n").unwrap();
    assert!(fixture.status().drift, "another tool dropped everything");
    fixture.repair().unwrap();
    assert!(fixture.status().in_order());

    fixture.registration.binary = "/elsewhere/flightdeck".into();
    let status = fixture.status();
    assert_eq!((status.drift, status.registered.len(), status.stale.len()), (true, 0, 30));
    fixture.repair().unwrap();
    let old_client = fixture.knowing(Version(2, 0, 40));
    let status = old_client.status();
    assert!(status.stale.iter().any(|name| name == "Setup"), "a name the client does not know: {status}");
    old_client.repair().unwrap();
    assert!(old_client.status().in_order());
    old_client.uninstall().unwrap();
    assert_eq!(old_client.bytes(), b"{\"model\": \"opus\"}\n");
}

/// The file as 0.1.0 wrote it: every handler has our name as its message.
fn with_old_messages(fixture: &SettingsFixture) -> String {
    let text = String::from_utf8(fixture.bytes()).unwrap();
    text.replace(r#""statusMessage": " ""#, r#""statusMessage": "Flightdeck""#)
}

#[test]
fn handlers_with_the_message_of_an_older_version_are_in_order_until_a_repair_updates_them() {
    for via in [Via::Shim, Via::Http, Via::Curl] {
        let mut fixture = SettingsFixture::with(b"{\n  \"model\": \"opus\"\n}\n");
        fixture.registration.via = via;
        fixture.install().unwrap();
        let new = fixture.bytes();
        let old = with_old_messages(&fixture);
        assert_ne!(new, old.as_bytes());
        fs::write(fixture.settings(), &old).unwrap();
        let status = fixture.status();
        assert!(status.in_order() && !status.drift, "{status}");
        assert_eq!((status.via, status.registered.len()), (Some(via), 30));

        assert_eq!(fixture.repair().unwrap().outcome, SettingsOutcome::Repaired);
        let updated = String::from_utf8(fixture.bytes()).unwrap();
        let held = if via == Via::Curl { 0 } else { 1 };
        assert_eq!(updated.matches("\"Flightdeck\"").count(), held, "{updated}");
        assert_eq!(fixture.repair().unwrap().outcome, SettingsOutcome::Unchanged);
    }
}

#[test]
fn uninstall_removes_handlers_with_the_message_of_an_older_version() {
    let before = b"{\n  \"model\": \"opus\"\n}\n";
    let fixture = SettingsFixture::with(before);
    fixture.install().unwrap();
    fs::write(fixture.settings(), with_old_messages(&fixture)).unwrap();
    fixture.uninstall().unwrap();
    assert_eq!(fixture.bytes(), before);
}

#[test]
fn a_handler_that_differs_in_more_than_its_message_is_drift() {
    let fixture = SettingsFixture::with(b"{}\n");
    fixture.install().unwrap();
    let edited = String::from_utf8(fixture.bytes()).unwrap().replacen("\"timeout\": 5", "\"timeout\": 6", 1);
    fs::write(fixture.settings(), edited).unwrap();
    assert_eq!((fixture.status().drift, fixture.status().stale.len()), (true, 1));
}

#[test]
fn a_stopping_daemon_removes_only_a_registration_that_is_not_permanent() {
    let fixture = SettingsFixture::with(b"{}\n");
    let outcomes = |lifetimes: &[Lifetime]| {
        for lifetime in lifetimes {
            fixture.file().install(&fixture.registration, *lifetime).unwrap();
        }
        let outcome = fixture.file().release(&fixture.registration.home).unwrap().outcome;
        fixture.uninstall().unwrap();
        assert_eq!(fixture.bytes(), b"{}\n");
        outcome
    };
    assert_eq!(outcomes(&[Lifetime::WhileDaemonRuns]), SettingsOutcome::Removed);
    assert_eq!(outcomes(&[Lifetime::Permanent]), SettingsOutcome::Kept);
    assert_eq!(outcomes(&[Lifetime::Permanent, Lifetime::WhileDaemonRuns]), SettingsOutcome::Kept);
    assert_eq!(outcomes(&[Lifetime::WhileDaemonRuns, Lifetime::Permanent]), SettingsOutcome::Kept);
    assert_eq!(outcomes(&[]), SettingsOutcome::Unchanged);
}

#[test]
fn the_last_twenty_backups_are_kept_readable_by_the_owner_only() {
    let fixture = SettingsFixture::empty();
    for round in 0..25 {
        fs::write(fixture.settings(), format!("{{\"round\": {round}}}")).unwrap();
        fixture.install().unwrap();
    }
    let backups: Vec<_> = fixture.backups();
    assert_eq!(backups.len(), BACKUPS_MAX);
    for (backup, round) in backups.iter().zip(5..) {
        assert_eq!(fs::read_to_string(backup).unwrap(), format!("{{\"round\": {round}}}"));
        assert_eq!(fs::metadata(backup).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn nothing_is_changed_if_no_backup_can_be_made() {
    let fixture = SettingsFixture::with(b"{\"a\": 1}");
    fs::write(fixture.backups_folder(), "in the way").unwrap();
    let refusal = fixture.install().unwrap_err();
    assert!(matches!(refusal, SettingsError::Io { .. }), "{refusal}");
    assert_eq!(fixture.bytes(), b"{\"a\": 1}");
}
