//! One task that reads several sessions.

use std::fs::File;
use std::os::unix::fs::FileExt;

use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;

use super::super::follow_tests::{Stage, answer};
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
