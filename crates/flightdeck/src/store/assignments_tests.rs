//! What every backend must do with assignments, and that a large table answers quickly.

use std::future::Future;
use std::time::{Duration, Instant};

use flightdeck_core::assignment::intent::Intent;
use flightdeck_core::assignment::transition::{Actor, AssignmentState, Completion};
use flightdeck_core::assignment::{Assignment, AssignmentMessage, Opening};
use flightdeck_core::ids::{AgentId, HostId};
use flightdeck_core::project::Project;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::usage::enrichment::CountedMessage;
use flightdeck_core::usage::price::Usage;
use flightdeck_core::wire::billed_usage::MessageKey;

use super::*;

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn on_every_backend(test: impl Fn(&Store)) {
    test(&Store::in_memory().unwrap());
    let folder = tempfile::tempdir().unwrap();
    test(&Store::open(&folder.path().join("flightdeck.db")).unwrap().store);
}

fn at_minute(minute: i64) -> Timestamp {
    Timestamp::from_millis(1_794_744_000_000) + Millis::minutes(minute)
}

/// An assignment of session `s{n % 7}` in project `p{n % 3}`: opened at minute 10 n, at work for two minutes, then waiting for
/// three, then at work for one.
fn row(n: i64) -> SessionAssignment {
    let opening = Opening {
        id: format!("a-{n:08}").into(),
        seq: 1,
        at: at_minute(10 * n),
        prompt: Some(format!("ask {n}")),
    };
    let mut assignment = Assignment::open(opening);
    assignment.step(Actor::Agent, Intent::Question, at_minute(10 * n + 2)).unwrap();
    assignment.step(Actor::User, Intent::Answer, at_minute(10 * n + 5)).unwrap();
    assignment.step(Actor::Agent, Intent::Completion, at_minute(10 * n + 6)).unwrap();
    SessionAssignment {
        session_id: format!("s{}", n % 7).into(),
        seat: None,
        host: HostId::this_machine(),
        project: Project { path: Some(format!("/w/p{}", n % 3)), certain: true },
        assignment,
    }
}

fn ended(n: i64, outcome: Completion) -> SessionAssignment {
    let mut row = row(n);
    let opening =
        Opening { id: row.assignment.id.clone(), seq: 1, at: at_minute(10 * n), prompt: Some("x".into()) };
    row.assignment = Assignment::open(opening);
    row.assignment.end(outcome, at_minute(10 * n + 1));
    row
}

async fn ids(store: &Store, wanted: AssignmentsWanted) -> Vec<String> {
    let limit = if wanted.limit == 0 { 100 } else { wanted.limit };
    let page = store.assignments(AssignmentsWanted { limit, ..wanted }).await.unwrap();
    page.assignments.iter().map(|row| row.assignment.title.clone()).collect()
}

#[test]
fn assignments_are_listed_newest_first_by_their_filters() {
    on_every_backend(|store| {
        block_on(async {
            store.put_assignments((1..=6).map(row).collect()).await.unwrap();
            let all = AssignmentsWanted::default;
            assert_eq!(ids(store, all()).await, ["ask 6", "ask 5", "ask 4", "ask 3", "ask 2", "ask 1"]);
            let project = |name: &str| AssignmentsWanted { project: Some(name.into()), ..all() };
            assert_eq!(ids(store, project("p0")).await, ["ask 6", "ask 3"]);
            assert_eq!(ids(store, project("/w/p1")).await, ["ask 4", "ask 1"]);
            assert_eq!(ids(store, project("/elsewhere/p1")).await, Vec::<String>::new());
            let state = |state| AssignmentsWanted { state: Some(state), ..all() };
            assert_eq!(ids(store, state(AssignmentState::AwaitingInput)).await, Vec::<String>::new());
            assert_eq!(ids(store, state(AssignmentState::Complete)).await.len(), 6);
            // The second was completed at minute 26, and the fifth was opened at minute 50.
            let between =
                AssignmentsWanted { since: Some(at_minute(26)), until: Some(at_minute(50)), ..all() };
            assert_eq!(ids(store, between).await, ["ask 4", "ask 3", "ask 2"]);
        });
    });
}

#[test]
fn a_search_finds_the_rows_with_all_of_its_words_in_any_case() {
    on_every_backend(|store| {
        block_on(async {
            let mut rows: Vec<_> = (1..=6).map(row).collect();
            rows[1].assignment.title = "Fix the Köln \"login\" page".to_owned();
            rows[3].assignment.last_message = Some("The LOGIN page is fixed.".to_owned());
            rows[4].seat = Some("backend".to_owned());
            store.put_assignments(rows).await.unwrap();
            let words = |text: &str| AssignmentsWanted {
                words: text.split_whitespace().map(str::to_owned).collect(),
                ..AssignmentsWanted::default()
            };
            let cologne = "Fix the Köln \"login\" page";
            assert_eq!(ids(store, words("login")).await, ["ask 4", cologne]);
            assert_eq!(ids(store, words("page köln")).await, [cologne]);
            assert_eq!(ids(store, words("\"login\"")).await, [cologne]);
            assert_eq!(ids(store, words("backend")).await, ["ask 5"]);
            assert_eq!(ids(store, words("p0 ask")).await, ["ask 6", "ask 3"]);
            // A field of the stored row is not a text of the log.
            assert_eq!(ids(store, words("session_id")).await, Vec::<String>::new());
            let p1 = AssignmentsWanted { project: Some("p1".into()), ..words("login") };
            assert_eq!(ids(store, p1).await, ["ask 4"]);
        });
    });
}

#[test]
fn a_search_reads_the_table_in_pages_also_if_a_page_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("flightdeck.db")).unwrap().store;
    block_on(async {
        let mut rows: Vec<_> = (0..4_200).map(row).collect();
        rows[5].assignment.title = "the oldest xy".to_owned();
        rows[4_190].assignment.title = "the newest xy".to_owned();
        store.put_assignments(rows).await.unwrap();
        let (mut before, mut told) = (None, Vec::new());
        // A word of two letters is not in the index.
        for word in ["xy", "xy", "ol", "ol"] {
            let words = vec![word.to_owned()];
            let wanted = AssignmentsWanted { words, before, limit: 100, ..AssignmentsWanted::default() };
            let page = store.assignments(wanted).await.unwrap();
            told.push(page.assignments.iter().map(|row| row.assignment.title.clone()).collect::<Vec<_>>());
            before = page.next_before;
        }
        assert_eq!(told, [vec!["the newest xy"], vec!["the oldest xy"], vec![], vec!["the oldest xy"]]);
    });
}

#[test]
fn a_search_for_longer_words_reads_only_the_rows_that_have_them() {
    on_every_backend(|store| {
        block_on(async {
            let mut rows: Vec<_> = (0..4_200).map(row).collect();
            rows[5].assignment.title = "the oldest Needle".to_owned();
            rows[4_190].assignment.last_message = Some("ein nEEdle, größer".to_owned());
            store.put_assignments(rows).await.unwrap();
            let search = async |text: &str, limit: usize, before: Option<AssignmentCursor>| {
                let words = text.split_whitespace().map(str::to_owned).collect();
                let wanted = AssignmentsWanted { words, before, limit, ..AssignmentsWanted::default() };
                let page = store.assignments(wanted).await.unwrap();
                let ids =
                    page.assignments.iter().map(|row| row.assignment.id.to_string()).collect::<Vec<_>>();
                (ids, page.next_before)
            };
            let (newest, oldest) = ("a-00004190".to_owned(), "a-00000005".to_owned());
            assert_eq!(search("nowhere", 100, None).await, (vec![], None));
            assert_eq!(search("needle", 100, None).await, (vec![newest.clone(), oldest.clone()], None));
            assert_eq!(search("needl größe", 100, None).await, (vec![newest.clone()], None));
            assert_eq!(search("needle xy", 100, None).await, (vec![], None));
            let (first, before) = search("needle", 1, None).await;
            assert_eq!((first, before.is_some()), (vec![newest], true));
            assert_eq!(search("needle", 1, before).await, (vec![oldest], None));
        });
    });
}

#[test]
fn a_row_that_is_written_again_is_found_by_its_present_words() {
    on_every_backend(|store| {
        block_on(async {
            let mut of_one = row(1);
            of_one.assignment.last_message = Some("the first words".to_owned());
            store.put_assignments(vec![of_one.clone(), row(2)]).await.unwrap();
            of_one.assignment.last_message = Some("the second words".to_owned());
            store.put_assignments(vec![of_one]).await.unwrap();
            let words = |text: &str| AssignmentsWanted {
                words: vec![text.to_owned()],
                ..AssignmentsWanted::default()
            };
            assert_eq!(ids(store, words("first")).await, Vec::<String>::new());
            assert_eq!(ids(store, words("second")).await, ["ask 1"]);
        });
    });
}

#[test]
fn assignments_of_one_moment_are_found_page_by_page() {
    on_every_backend(|store| {
        block_on(async {
            let at_once = |n: i64| {
                let mut row = row(n);
                row.assignment.opened_at = at_minute(0);
                row.session_id = format!("s{n}").into();
                row
            };
            // The order in which they were written is not the order of their ids.
            store.put_assignments([3, 1, 5, 2, 4].map(at_once).to_vec()).await.unwrap();
            let (mut before, mut told) = (None, Vec::new());
            loop {
                let words = vec!["ask".to_owned()];
                let wanted = AssignmentsWanted { words, before, limit: 2, ..AssignmentsWanted::default() };
                let page = store.assignments(wanted).await.unwrap();
                told.extend(page.assignments.iter().map(|row| row.assignment.title.clone()));
                before = page.next_before;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(told, ["ask 5", "ask 4", "ask 3", "ask 2", "ask 1"]);
        });
    });
}

#[test]
fn pages_follow_each_other() {
    on_every_backend(|store| {
        block_on(async {
            store.put_assignments((1..=5).map(row).collect()).await.unwrap();
            let (mut before, mut told) = (None, Vec::new());
            loop {
                let wanted = AssignmentsWanted { before, limit: 2, ..AssignmentsWanted::default() };
                let page = store.assignments(wanted).await.unwrap();
                told.push(page.assignments.len());
                before = page.next_before.map(|cursor| AssignmentCursor::parse(&cursor.to_string()).unwrap());
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(told, [2, 2, 1]);
        });
    });
}

#[test]
fn a_row_replaces_itself_and_keeps_its_messages() {
    on_every_backend(|store| {
        block_on(async {
            let mut row = row(1);
            store.put_assignments(vec![row.clone()]).await.unwrap();
            let said =
                AssignmentMessage::certain(9, at_minute(11), Actor::Agent, Intent::Question, "which?".into());
            row.assignment.messages.push(said);
            store.put_assignments(vec![row.clone(), row.clone()]).await.unwrap();
            let messages = store.messages_of(&"a-00000001".into()).await.unwrap().unwrap();
            assert_eq!(messages, row.assignment.messages);
            assert_eq!(ids(store, AssignmentsWanted::default()).await, ["ask 1"]);
            let back = store.assignment(&"a-00000001".into()).await.unwrap().unwrap();
            assert_eq!(
                (back.assignment.messages.len(), back.assignment.spans.sum(true)),
                (0, Millis::minutes(3))
            );
            assert_eq!(store.assignment(&"a-2".into()).await.unwrap(), None);
            assert_eq!(store.messages_of(&"a-2".into()).await.unwrap(), None);
        });
    });
}

#[test]
fn the_second_half_of_an_assignment_is_not_another_one() {
    on_every_backend(|store| {
        block_on(async {
            store.put_assignments(vec![row(1)]).await.unwrap();
            let mut half = row(1);
            half.assignment.id = "a-half".into();
            half.assignment.opened_at = at_minute(13);
            let mut next = row(1);
            next.assignment.id = "a-next".into();
            next.assignment.opened_at = at_minute(16);
            let mut elsewhere = half.clone();
            elsewhere.assignment.id = "a-other".into();
            elsewhere.session_id = "another".into();
            store.put_assignments(vec![half, next, elsewhere]).await.unwrap();
            assert!(store.assignment(&"a-half".into()).await.unwrap().is_none());
            assert!(store.assignment(&"a-next".into()).await.unwrap().is_some());
            assert!(store.assignment(&"a-other".into()).await.unwrap().is_some());
        });
    });
}

#[test]
fn counts_are_by_project_and_quarter_of_an_hour() {
    on_every_backend(|store| {
        block_on(async {
            let rows = vec![row(3), row(6), ended(9, Completion::Died), ended(4, Completion::Ended)];
            store.put_assignments(rows).await.unwrap();
            let mut counts = store.completed_counts(at_minute(36)).await.unwrap();
            counts.sort_by(|a, b| (&a.project, a.from).cmp(&(&b.project, b.from)));
            let told: Vec<_> =
                counts.iter().map(|c| (c.project.as_str(), c.from, c.completed, c.ended, c.died)).collect();
            assert_eq!(
                told,
                [
                    ("p0", at_minute(30), 1, 0, 0),
                    ("p0", at_minute(60), 1, 0, 0),
                    ("p0", at_minute(90), 0, 0, 1),
                    ("p1", at_minute(30), 0, 1, 0),
                ]
            );
            assert_eq!(store.completed_counts(at_minute(92)).await.unwrap(), []);
        });
    });
}

#[test]
fn times_are_the_spans_that_ended_later() {
    on_every_backend(|store| {
        block_on(async {
            store.put_assignments(vec![row(3), row(3), row(6)]).await.unwrap();
            let times = store.assignment_times(at_minute(35)).await.unwrap();
            let told: Vec<_> = times.iter().map(|t| (t.span.waits, t.span.from, t.span.to)).collect();
            assert_eq!(
                told,
                [
                    (false, at_minute(35), at_minute(36)),
                    (false, at_minute(60), at_minute(62)),
                    (true, at_minute(62), at_minute(65)),
                    (false, at_minute(65), at_minute(66)),
                ]
            );
            assert!(times.iter().all(|time| time.project == "p0"));
        });
    });
}

#[test]
fn usage_is_read_by_its_time() {
    on_every_backend(|store| {
        block_on(async {
            let counted = |n: i64| CountedMessage {
                key: MessageKey(n as u128),
                model: "m".to_owned(),
                agent: AgentId::default(),
                at: at_minute(n),
                usage: Usage { output: 1, ..Usage::default() },
            };
            let session = SessionRead { session_id: "s1".into(), ..SessionRead::default() };
            let batch = TranscriptBatch {
                session,
                counted: (0..5).map(counted).collect(),
                ..TranscriptBatch::default()
            };
            store.put_transcripts(vec![batch]).await.unwrap();
            let stretch =
                |id: &str| SessionStretch { session_id: id.into(), from: at_minute(1), to: at_minute(3) };
            let usage = store.usage_between(vec![stretch("s1"), stretch("unread")]).await.unwrap();
            let times: Vec<_> = usage[0].as_ref().unwrap().iter().map(|c| c.at).collect();
            assert_eq!((times, usage[1].as_ref()), (vec![at_minute(1), at_minute(2)], None));
        });
    });
}

/// How many assignments a person may have after years.
const MANY: i64 = 100_000;
/// The promise for the log and the digest.
const ANSWER_TIME_MAX: Duration = Duration::from_millis(100);

#[test]
#[ignore = "writes a hundred thousand rows; run it with --ignored when a query or an index changes"]
fn a_hundred_thousand_assignments_are_listed_and_summed_within_the_promise() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("flightdeck.db")).unwrap().store;
    block_on(async {
        for chunk in (0..MANY).collect::<Vec<_>>().chunks(5_000) {
            // A row is compared with the earlier rows of its session, of which a person has few.
            let of_many_sessions =
                |n: &i64| SessionAssignment { session_id: format!("s{}", n / 50).into(), ..row(*n) };
            store.put_assignments(chunk.iter().map(of_many_sessions).collect()).await.unwrap();
        }
        let wanted = |change: fn(&mut AssignmentsWanted)| {
            let mut wanted = AssignmentsWanted { limit: 100, ..AssignmentsWanted::default() };
            change(&mut wanted);
            wanted
        };
        for wanted in [
            wanted(|_| {}),
            wanted(|w| w.project = Some("p1".into())),
            wanted(|w| w.project = Some("/nowhere/p1".into())),
            wanted(|w| w.state = Some(AssignmentState::AwaitingInput)),
            wanted(|w| w.since = Some(at_minute(10 * MANY - 60))),
            wanted(|w| w.until = Some(at_minute(600))),
            wanted(|w| w.words = vec!["nowhere".into()]),
            wanted(|w| w.words = vec!["ask".into()]),
            wanted(|w| (w.words, w.project) = (vec!["ask".into()], Some("/nowhere/p1".into()))),
            wanted(|w| w.words = vec!["xy".into()]),
            // Every row has this word in its JSON, and none in its texts.
            wanted(|w| w.words = vec!["session_id".into()]),
            wanted(|w| w.words = vec!["99".into()]),
        ] {
            let begun = Instant::now();
            store.assignments(wanted.clone()).await.unwrap();
            assert!(begun.elapsed() < ANSWER_TIME_MAX, "{wanted:?} took {:?}", begun.elapsed());
        }
        // Digests of a person who asks every ten minutes: of the last seven days, and of a year.
        for days in [7, 366] {
            let (begun, since) = (Instant::now(), at_minute(10 * MANY - days * 24 * 60));
            let (counts, times) =
                (store.completed_counts(since).await.unwrap(), store.assignment_times(since).await.unwrap());
            let took = begun.elapsed();
            let read = format!("{} counts and {} times of {days} days", counts.len(), times.len());
            assert!(took < ANSWER_TIME_MAX, "{read} took {took:?}");
        }
    });
}
