use flightdeck_core::ids::SessionId;

use super::super::follow_tests::{Stage, answer};
use super::*;

fn to_read(stage: &Stage, session: &str) -> SessionToRead {
    Stage::write(&stage.main(session), &answer(session, 1, 5));
    let live = LiveSession::new(&SessionId::from(session), &stage.main(session), None);
    SessionToRead { live, new: true, guessed: false, cwd: None, reported_at: Timestamp::default() }
}

#[test]
fn a_panic_in_one_session_does_not_stop_the_others() {
    let stage = Stage::new();
    let sessions = ["a", "bad", "c"].map(|session| Ok(Some(to_read(&stage, session))));
    let (mut reader, watch_list) = (LineReader::default(), WatchList::default());
    let read = read_each(sessions.into(), u64::MAX, |session, bytes| {
        let bad = session.live.session_id == "bad";
        let step = session.read_step(&mut reader, &watch_list, bytes);
        assert!(!bad, "this session cannot be read");
        step
    });
    let read: Vec<_> = read.iter().map(|read| read.as_ref().ok()?.as_ref().map(SessionStep::bytes)).collect();
    let line = Some(answer("a", 1, 5).len() as u64);
    assert_eq!(read, [line, None, line]);
}

#[test]
fn a_session_that_uses_more_than_its_part_leaves_a_little_to_the_next() {
    let stage = Stage::new();
    let sessions = ["long", "next"].map(|session| Ok(Some(to_read(&stage, session))));
    let (mut reader, watch_list) = (LineReader::default(), WatchList::default());
    // Less than one line.
    let read = read_each(sessions.into(), 2, |session, bytes| {
        assert_eq!(bytes, 1);
        session.read_step(&mut reader, &watch_list, bytes)
    });
    assert!(read.iter().all(|read| read.as_ref().unwrap().as_ref().unwrap().bytes() > 0));
}
