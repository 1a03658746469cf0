//! The settings of notes apply while the daemon runs.

use std::fs;

use flightdeck_e2e::testkit::until;

use super::programs::{end_a_turn, lines, up_with};
use super::script;
use crate::home::test_home;

#[test]
fn a_target_that_is_added_or_changed_while_the_daemon_runs_gets_the_next_note() {
    let home = test_home();
    let told = |name: &str| home.path().join(name);
    let teller = |name: &str| {
        let tell = format!("echo \"$FLIGHTDECK_NOTE_SESSION\" >> {}", told(name).display());
        script(home.path(), &format!("tell-{name}"), &tell).display().to_string()
    };
    let config = |program: &str| {
        let text = format!(
            "[notify]\nsettle_ms = 20\ntargets = [{{ name = \"teller\", kind = \"command\", command = \"{program}\" }}]\n"
        );
        fs::write(home.paths().config, text).unwrap();
    };
    let target = || home.run(&["status", "--json"]).json()["notify"][0]["name"].clone();
    let daemon = up_with(&home, "", |_| {});
    end_a_turn(&daemon, "before");

    config(&teller("first"));
    until("the target is known", || (target() == "teller").then_some(()));
    end_a_turn(&daemon, "added");
    until("the note has come", || (lines(&told("first")) == ["added"]).then_some(()));

    config(&teller("second"));
    // One session after the other, until the change is used: each goes to exactly one of the two programs.
    let mut sent = vec!["added".to_owned()];
    until("the other program runs", || {
        let session = format!("changed{}", sent.len());
        end_a_turn(&daemon, &session);
        sent.push(session.clone());
        until("its note has come", || {
            [lines(&told("first")), lines(&told("second"))].concat().contains(&session).then_some(())
        });
        (!lines(&told("second")).is_empty()).then_some(())
    });
    assert_eq!(
        [lines(&told("first")), lines(&told("second"))].concat(),
        sent,
        "a note came twice, or to both"
    );

    fs::write(home.paths().config, "").unwrap();
    until("there is no target", || target().is_null().then_some(()));
}
