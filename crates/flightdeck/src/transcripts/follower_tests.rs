//! One task that reads several sessions.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::pin::pin;
use std::sync::mpsc::{Sender, channel};

use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;

use super::super::follow_tests::{PATIENCE, Stage, answer};
use super::*;
use crate::engine::{Engine, EngineParts};
use crate::store::Memory;

const MB: u64 = 1024 * 1024;
/// The reader stops after a whole chunk, and every session may do that.
const OVER_BYTES_MAX: u64 = READ_TOGETHER_MAX as u64 * MB;

/// One thread for the tasks of the runtime, and one for blocking tasks.
fn block_on<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.max_blocking_threads(1).enable_all().build().unwrap().block_on(test)
}

/// A follower of sessions with guessed paths. Its engine runs, but reports no session.
fn follower_of(stage: &Stage, sessions: &[SessionId]) -> Follower {
    let store = Store::with_backend(Box::new(Memory::default())).unwrap();
    let parts = EngineParts::new(Fleet::new(FoldSettings::default()), store.clone());
    let (engine, handle) = Engine::new(parts);
    tokio::spawn(engine.run());
    let prices = watch::Sender::new(Arc::new(PriceTable::shipped().clone())).subscribe();
    let watch_list = WatchList::new(Some(stage.projects()));
    let mut follower = Follower::new(watch_list, store, handle, prices, Arc::default());
    for id in sessions {
        let touched = TouchedSession {
            path: stage.main(id.as_str()),
            guessed: true,
            cwd: None,
            reported_at: Timestamp::default(),
            ended: false,
        };
        follower.sessions.insert(id.clone(), Followed::new(&touched));
    }
    follower
}

/// Lines of 1 MB. They take no space on disk, as most of each is a hole.
fn write_large(path: &Path, lines: u64) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = File::create(path).unwrap();
    (1..=lines).for_each(|line| file.write_all_at(b"\n", line * MB - 1).unwrap());
}

async fn read_to(follower: &Follower, id: &SessionId) -> u64 {
    let stored = follower.store.transcript(id).await.unwrap();
    stored.iter().flat_map(|batch| &batch.files).map(|file| file.read_to).sum()
}

#[test]
fn one_task_reads_a_bounded_number_of_bytes_and_a_part_of_every_session() {
    block_on(async {
        let stage = Stage::new();
        let ids: Vec<SessionId> = ["a", "b", "c", "small"].map(SessionId::from).to_vec();
        let large = READ_TOGETHER_BYTES / MB;
        ids[..3].iter().for_each(|id| write_large(&stage.main(id.as_str()), large));
        Stage::write(&stage.main("small"), &answer("m", 1, 5));
        let mut follower = follower_of(&stage, &ids);
        let more: Vec<_> = follower.read_together(&ids).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(more, [true, true, true, false]);
        let mut read = Vec::new();
        for id in &ids {
            read.push(read_to(&follower, id).await);
        }
        assert_eq!(read[3], answer("m", 1, 5).len() as u64);
        assert!(read.iter().all(|bytes| *bytes > 0), "{read:?}");
        assert!(read.iter().sum::<u64>() <= READ_TOGETHER_BYTES + OVER_BYTES_MAX, "{read:?}");
        // The rest is read by the next tasks.
        while follower.read_together(&ids).await.into_iter().any(Result::unwrap) {}
        for id in &ids[..3] {
            assert_eq!(read_to(&follower, id).await, large * MB);
        }
    });
}

/// Occupies the thread for blocking tasks until the sender is dropped.
fn occupy_blocking_thread() -> Sender<()> {
    let (sender, receiver) = channel();
    tokio::task::spawn_blocking(move || receiver.recv());
    sender
}

#[test]
fn a_read_of_a_session_with_a_guessed_path_is_one_blocking_task() {
    block_on(async {
        let stage = Stage::new();
        Stage::write(&stage.main("s"), &answer("a", 1, 5));
        let ids = [SessionId::from("s")];
        let mut follower = follower_of(&stage, &ids);
        follower.read_together(&ids).await.remove(0).unwrap();
        // The tasks run one after the other: a second task of the read would wait behind `after` for ever.
        let before = occupy_blocking_thread();
        let mut read = pin!(follower.read_together(&ids));
        tokio::select! {
            biased;
            _ = &mut read => panic!("the read waits for its task"),
            () = std::future::ready(()) => {}
        }
        let after = occupy_blocking_thread();
        drop(before);
        let ended = tokio::time::timeout(PATIENCE, read).await;
        drop(after);
        assert!(ended.is_ok(), "the read needs a second task");
    });
}

#[test]
fn a_transcript_at_a_guessed_path_that_moves_is_found_again() {
    block_on(async {
        let stage = Stage::new();
        let (guess, moved) = (stage.main("s"), stage.projects().join("-w-web/s.jsonl"));
        Stage::write(&guess, &answer("a", 1, 5));
        let ids = [SessionId::from("s")];
        let mut follower = follower_of(&stage, &ids);
        follower.read_together(&ids).await.remove(0).unwrap();
        std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
        std::fs::rename(&guess, &moved).unwrap();
        Stage::write(&moved, &answer("b", 2, 7));
        follower.read_together(&ids).await.remove(0).unwrap();
        let followed = &follower.sessions[&ids[0]];
        assert_eq!(followed.main, moved);
        assert!(follower.watch_list.follows_file(&LocatedTranscript::from_path(&moved).unwrap()));
        let usage = &followed.live.as_ref().unwrap().known().usage;
        assert_eq!(usage.values().map(|used| used.output).sum::<u64>(), 12);
    });
}
