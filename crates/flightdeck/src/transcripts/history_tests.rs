//! When the history reader runs, what it finds, and how every backend stores it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::follow::WatchList;
use super::follow_tests::{PATIENCE, Stage, answer, block_on};
use super::history::{History, index};
use crate::store::{SessionRead, Store, Title, TitledBy, TranscriptBatch};

#[test]
fn a_paused_reader_reports_what_is_left() {
    block_on(async {
        let stage = Stage::new();
        Stage::write(&stage.main("s"), &answer("a", 1, 5));
        let store = Store::in_memory().unwrap();
        let history = Arc::<History>::default();
        history.pause(true);
        let task =
            tokio::spawn(index(Arc::clone(&history), stage.projects(), store.clone(), WatchList::default()));
        let began = Instant::now();
        while history.files_left() == 0 && began.elapsed() < PATIENCE {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(history.progress().files_left, 1);
        // The paused pass has listed the files already, so this request waits for the next pass.
        Stage::write(&stage.main("later"), &answer("b", 1, 5));
        history.pause(false);
        history.refresh(PATIENCE).await;
        assert_eq!(history.progress().files_left, 0);
        let files = async || store.transcript_files().await.unwrap().len();
        assert_eq!(files().await, 2);
        // A page that asks every minute does not list the disk unless a file changed.
        Stage::write(&stage.main("unnoticed"), &answer("c", 1, 5));
        history.refresh_if_unread(PATIENCE).await;
        assert_eq!(files().await, 2);
        history.mark_unread();
        history.refresh_if_unread(PATIENCE).await;
        assert_eq!(files().await, 3);
        task.abort();
    });
}

#[test]
fn growth_of_a_transcript_that_is_not_followed_is_noticed() {
    block_on(async {
        let stage = Stage::new();
        Stage::write(&stage.main("old"), &answer("a", 1, 5));
        let daemon = stage.daemon().await;
        // The follower runs, so the folder is watched.
        daemon.hook(&stage, "known", "SessionStart").await;
        daemon.until("known", |c| !c.is_null()).await;
        daemon.history.refresh(PATIENCE).await;
        Stage::write(&stage.main("old"), &answer("b", 2, 5));
        let began = Instant::now();
        while daemon.store.usage_of(vec!["old".into()]).await.unwrap()[0].counted.len() < 2 {
            assert!(began.elapsed() < PATIENCE, "the growth was never noticed");
            daemon.history.refresh_if_unread(PATIENCE).await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        daemon.stop().await;
    });
}

#[test]
fn every_backend_stores_transcripts_alike() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::new();
    Stage::write(&stage.main("s"), &(answer("a", 1, 5) + &answer("b", 2, 6)));
    let mut stored = Vec::new();
    for store in
        [Store::in_memory().unwrap(), Store::open(&folder.path().join("flightdeck.db")).unwrap().store]
    {
        block_on(async {
            let mut live = super::live_session::LiveSession::new(&"s".into(), &stage.main("s"), None);
            let mut reader = super::line_reader::LineReader::default();
            let batch = live.step(&mut reader, u64::MAX).unwrap().unwrap().batch;
            assert!(batch.anew);
            for _ in 0..2 {
                store.put_transcripts(vec![batch.clone()]).await.unwrap();
            }
            let later = TranscriptBatch {
                anew: false,
                files: Vec::new(),
                counted: batch.counted[..1].to_vec(),
                ..batch.clone()
            };
            store.put_transcripts(vec![later.clone()]).await.unwrap();
            let mut names = Vec::new();
            for (text, by) in [
                ("first", TitledBy::FirstPrompt),
                ("second", TitledBy::FirstPrompt),
                ("model", TitledBy::Model),
                ("third", TitledBy::FirstPrompt),
                ("model again", TitledBy::Model),
                ("mine", TitledBy::Person),
                ("model at last", TitledBy::Model),
            ] {
                let title = Some(Title { text: text.to_owned(), by });
                let session = SessionRead { session_id: "named".into(), title, ..SessionRead::default() };
                store.put_transcripts(vec![TranscriptBatch { session, ..Default::default() }]).await.unwrap();
                names.push(
                    store.transcript(&"named".into()).await.unwrap().unwrap().session.title.unwrap().text,
                );
            }
            let expected = ["first", "first", "model", "model", "model again", "mine", "mine"];
            assert_eq!(names, expected);
            let mut back = store.transcript(&"s".into()).await.unwrap().unwrap();
            back.counted.sort_by_key(|c| c.key);
            assert_eq!(back, TranscriptBatch { anew: false, ..batch });
            assert_eq!(store.transcript(&"unknown".into()).await.unwrap(), None);
            stored.push((
                back,
                store.transcript_files().await.unwrap(),
                store.transcript_sessions(Default::default()).await.unwrap(),
            ));
        });
    }
    assert_eq!(stored[0], stored[1]);
}
