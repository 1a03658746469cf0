//! Transcripts from bytes on disk to the card and to the report.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::usage::price::PriceTable;
use flightdeck_core::wire::hook::HookDraft;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::follow::{WatchList, follow};
use super::history::{History, index};
use super::{locate, standalone_scan};
use crate::clock;
use crate::engine::{Engine, EngineHandle, EngineParts};
use crate::store::faulty::{Fault, FaultSwitch, Faulty};
use crate::store::{Memory, Store};
use crate::usage::UsageTally;

/// Long enough for a busy machine; every wait ends as soon as its condition holds.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct Stage {
    pub(super) folder: tempfile::TempDir,
    memory: Memory,
    disk: FaultSwitch,
}

/// An engine and the tasks that read transcripts.
pub(super) struct EngineWithTranscripts {
    pub(super) engine: EngineHandle,
    pub(super) store: Store,
    pub(super) history: Arc<History>,
    watch_list: WatchList,
    prices: watch::Sender<Arc<PriceTable>>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), memory: Memory::default(), disk: FaultSwitch::default() }
    }
    pub(super) fn projects(&self) -> PathBuf {
        self.folder.path().join("projects")
    }
    pub(super) fn main(&self, session: &str) -> PathBuf {
        self.projects().join("-w-api").join(format!("{session}.jsonl"))
    }
    fn agent(&self, session: &str, agent: &str) -> PathBuf {
        locate::subagents_folder(&self.main(session)).join(format!("agent-{agent}.jsonl"))
    }
    pub(super) fn write(path: &PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }
    pub(super) async fn daemon(&self) -> EngineWithTranscripts {
        let backend = Faulty::reopened(Box::new(self.memory.clone()), self.disk.clone()).unwrap();
        let store = Store::with_backend(Box::new(backend)).unwrap();
        let watch_list = WatchList::new(Some(self.projects()));
        let parts = EngineParts::new(Fleet::new(FoldSettings::default()), store.clone());
        let transcripts = Box::new(watch_list.clone());
        let (engine, handle) = Engine::new(EngineParts { transcripts, ..parts });
        let prices = watch::Sender::new(Arc::new(PriceTable::shipped().clone()));
        let history = Arc::<History>::default();
        let tasks = vec![
            tokio::spawn(engine.run()),
            tokio::spawn(follow(
                watch_list.clone(),
                store.clone(),
                handle.clone(),
                prices.subscribe(),
                Arc::clone(&history),
            )),
            tokio::spawn(index(Arc::clone(&history), self.projects(), store.clone(), watch_list.clone())),
        ];
        EngineWithTranscripts { engine: handle, store, history, watch_list, prices, tasks }
    }
    fn report(&self) -> crate::usage::Report {
        standalone_scan::report(&self.projects(), PriceTable::shipped(), TimeZone::UTC, None, clock::now()).0
    }
}

impl EngineWithTranscripts {
    pub(super) async fn hook(&self, stage: &Stage, session: &str, name: &str) {
        self.hook_in(stage, session, name, std::path::Path::new("/w/api")).await;
    }
    pub(super) async fn hook_in(&self, stage: &Stage, session: &str, name: &str, cwd: &std::path::Path) {
        let payload = json!({"session_id": session, "hook_event_name": name, "prompt": "do it",
            "transcript_path": stage.main(session), "cwd": cwd});
        let draft = HookDraft {
            name_in_path: None,
            payload: payload.as_object().unwrap().clone(),
            env: serde_json::Map::new(),
            bytes: 100,
        };
        self.engine.append(vec![draft.into_record(clock::fresh_id()).unwrap()]).await.unwrap();
    }
    pub(super) async fn card(&self, session: &str) -> Value {
        self.engine
            .card(&session.into())
            .await
            .unwrap()
            .map_or(Value::Null, |c| serde_json::to_value(c).unwrap())
    }
    pub(super) async fn until(&self, session: &str, what: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let card = self.card(session).await;
            if what(&card) {
                return card;
            }
            assert!(began.elapsed() < PATIENCE, "the card never got there: {card:#}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    /// Waits until every read that a hook caused is done, the second one too.
    pub(super) async fn wait_until_idle(&self, session: &str) {
        // Returns after the hook was applied, so the follower knows of it.
        self.card(session).await;
        let began = Instant::now();
        while !self.watch_list.is_idle() {
            assert!(began.elapsed() < PATIENCE, "the follower never became idle");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    pub(super) async fn report(&self) -> crate::usage::Report {
        self.history.refresh(PATIENCE).await;
        let mut tally = UsageTally::new(PriceTable::shipped(), TimeZone::UTC, None, clock::now());
        for session in self.store.transcript_sessions(Default::default()).await.unwrap() {
            for used in self.store.usage_of(vec![session.session_id.clone()]).await.unwrap() {
                used.counted.iter().for_each(|c| tally.add(c.key, c.at, &c.model, &c.usage));
            }
            tally.end_session(&session);
        }
        tally.report()
    }
    pub(super) async fn stop(self) {
        self.engine.stop().await;
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
        self.store.close().await.unwrap();
    }
}

pub(super) fn answer(id: &str, second: u32, output: u64) -> String {
    json!({"parentUuid": null, "isSidechain": false,
        "message": {"id": id, "model": "claude-opus-5-5", "content": [{"type": "text", "text": "done"}],
            "usage": {"output_tokens": output, "cache_read_input_tokens": 1000}},
        "requestId": "r", "type": "assistant", "timestamp": format!("2026-11-15T10:00:{second:02}.000Z"),
        "cwd": "/w/api", "gitBranch": "main"})
    .to_string()
        + "\n"
}

pub(super) fn out(card: &Value) -> &Value {
    &card["tokens"]["output"]
}

pub(super) fn block_on<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(test)
}

#[test]
fn other_prices_reach_the_cards_of_live_and_ended_sessions() {
    block_on(async {
        let stage = Stage::new();
        for session in ["lives", "ended"] {
            Stage::write(&stage.main(session), &answer(session, 1, 1_000_000));
        }
        let daemon = stage.daemon().await;
        daemon.hook(&stage, "lives", "SessionStart").await;
        daemon.hook(&stage, "ended", "SessionStart").await;
        daemon.hook(&stage, "ended", "SessionEnd").await;
        let cost = |card: &Value| card["cost"]["usd_micros"].as_u64();
        for session in ["lives", "ended"] {
            daemon.until(session, |card| cost(card).is_some_and(|micros| micros > 0)).await;
            daemon.wait_until_idle(session).await;
        }
        let price = "input = 0, output = 7, cache_read = 0, cache_write_5m = 0, cache_write_1h = 0";
        let own = toml::from_str(&format!("claude-opus-5-5 = {{ {price} }}\n")).unwrap();
        daemon.prices.send_replace(Arc::new(PriceTable::shipped().with_own_prices(&own).unwrap()));
        for session in ["lives", "ended"] {
            daemon.until(session, |card| cost(card) == Some(7_000_000)).await;
        }
        daemon.stop().await;
    });
}

#[test]
fn a_live_session_gets_its_numbers_and_every_line_that_follows() {
    block_on(async {
        let stage = Stage::new();
        Stage::write(&stage.main("s"), &answer("a", 1, 5));
        let daemon = stage.daemon().await;
        daemon.hook(&stage, "s", "SessionStart").await;
        let card = daemon.until("s", |c| *out(c) == json!(5)).await;
        assert_eq!((&card["git_branch"], &card["model"]), (&json!("main"), &json!("claude-opus-5-5")));
        assert_eq!(card["context"]["tokens"], 1005);
        assert_eq!(card["agent_state"]["state"], "idle");
        // No hook from here on: only the files change.
        Stage::write(&stage.main("s"), &answer("b", 2, 7)[..40]);
        Stage::write(&stage.main("s"), &answer("b", 2, 7)[40..]);
        daemon.until("s", |c| *out(c) == json!(12)).await;
        Stage::write(&stage.agent("s", "x"), &answer("c", 3, 100));
        daemon.until("s", |c| *out(c) == json!(112)).await;
        Stage::write(&stage.agent("s", "x"), &answer("d", 4, 100));
        daemon.until("s", |c| *out(c) == json!(212)).await;
        daemon.stop().await;
    });
}

#[test]
fn of_sessions_that_are_read_together_each_gets_its_own_numbers_although_one_cannot_be_read() {
    block_on(async {
        let stage = Stage::new();
        let name = |n: u64| format!("s{n}");
        // More than one task reads, and a folder in the place of a transcript.
        let (sessions, unreadable) = (1..=40, 7);
        fs::create_dir_all(stage.main(&name(unreadable))).unwrap();
        for n in sessions.clone().filter(|n| *n != unreadable) {
            Stage::write(&stage.main(&name(n)), &answer(&name(n), 1, n));
        }
        let daemon = stage.daemon().await;
        for n in sessions.clone() {
            daemon.hook(&stage, &name(n), "SessionStart").await;
        }
        for n in sessions.filter(|n| *n != unreadable) {
            daemon.until(&name(n), |card| *out(card) == json!(n)).await;
        }
        daemon.stop().await;
    });
}

#[test]
fn lines_that_the_store_refused_are_stored_without_another_hook() {
    block_on(async {
        let stage = Stage::new();
        Stage::write(&stage.main("s"), &answer("a", 1, 5));
        let daemon = stage.daemon().await;
        daemon.hook(&stage, "s", "SessionStart").await;
        daemon.until("s", |c| *out(c) == json!(5)).await;
        daemon.wait_until_idle("s").await;
        stage.disk.inject(Fault::DiskFull, 1);
        Stage::write(&stage.main("s"), &answer("b", 2, 7));
        daemon.until("s", |c| *out(c) == json!(12)).await;
        assert_eq!(stage.disk.fired(), 1);
        daemon.stop().await;
    });
}

#[test]
fn a_transcript_that_appears_after_its_session_is_found() {
    block_on(async {
        let stage = Stage::new();
        let daemon = stage.daemon().await;
        daemon.hook(&stage, "s", "SessionStart").await;
        daemon.wait_until_idle("s").await;
        // Until now neither `projects` nor any folder below it existed.
        Stage::write(&stage.main("s"), &answer("a", 1, 5));
        daemon.until("s", |c| *out(c) == json!(5)).await;
        daemon.stop().await;
    });
}

#[test]
fn a_replaced_file_is_counted_again_and_a_deleted_one_stays_counted() {
    block_on(async {
        let stage = Stage::new();
        Stage::write(&stage.main("s"), &(answer("a", 1, 5) + &answer("b", 2, 6)));
        let daemon = stage.daemon().await;
        daemon.hook(&stage, "s", "SessionStart").await;
        daemon.until("s", |c| *out(c) == json!(11)).await;
        fs::write(stage.main("s"), answer("z", 3, 1)).unwrap();
        daemon.until("s", |c| *out(c) == json!(1)).await;
        fs::remove_file(stage.main("s")).unwrap();
        daemon.hook(&stage, "s", "Stop").await;
        daemon.wait_until_idle("s").await;
        assert_eq!(*out(&daemon.card("s").await), json!(1));
        assert_eq!(daemon.report().await.total.tokens.output, 1);
        daemon.stop().await;
    });
}

#[test]
fn after_a_restart_only_new_bytes_are_read() {
    block_on(async {
        let stage = Stage::new();
        Stage::write(&stage.main("s"), &answer("a", 1, 5));
        Stage::write(&stage.main("old"), &answer("o", 1, 3));
        let daemon = stage.daemon().await;
        daemon.hook(&stage, "s", "SessionStart").await;
        daemon.until("s", |c| *out(c) == json!(5)).await;
        assert_eq!(daemon.report().await.total.tokens.output, 8);
        daemon.stop().await;

        // Reading this again would give other numbers; the mark of the last bytes is unchanged.
        let spoil = |path: PathBuf| {
            let text = fs::read_to_string(&path).unwrap();
            let file = OpenOptions::new().write(true).open(&path).unwrap();
            std::os::unix::fs::FileExt::write_all_at(&file, b"{\"x", 0).unwrap();
            assert_eq!(text.len(), fs::read(&path).unwrap().len());
        };
        spoil(stage.main("s"));
        spoil(stage.main("old"));
        Stage::write(&stage.main("s"), &answer("b", 2, 7));
        let daemon = stage.daemon().await;
        daemon.hook(&stage, "s", "SessionStart").await;
        daemon.until("s", |c| *out(c) == json!(12)).await;
        assert_eq!(daemon.report().await.total.tokens.output, 15);
        daemon.stop().await;
    });
}

#[test]
fn history_is_counted_once_across_forks_and_the_standalone_scan_gives_the_same_report() {
    block_on(async {
        let stage = Stage::new();
        for (session, ids) in [("first", &["a", "b"][..]), ("fork", &["a", "b", "c"]), ("other", &["d"])] {
            let text: String = ids.iter().enumerate().map(|(i, id)| answer(id, i as u32, 10)).collect();
            Stage::write(&stage.main(session), &text);
            // The session whose file was created first owns the shared messages.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Stage::write(&stage.agent("other", "x"), &answer("e", 9, 10));
        let daemon = stage.daemon().await;
        let report = daemon.report().await;
        assert_eq!(report.total.tokens.output, 50);
        let mut sessions: Vec<_> =
            report.by_session.iter().map(|g| (g.key.as_str(), g.spent.messages)).collect();
        sessions.sort_unstable();
        assert_eq!(sessions, [("first", 2), ("fork", 1), ("other", 2)]);
        assert_eq!(report, stage.report());
        let prompt = |text: &str| {
            json!({"type": "user", "timestamp": "2026-11-15T09:00:00.000Z", "cwd": "/w/api",
            "message": {"content": text}})
            .to_string()
                + "\n"
        };
        let grow = async |session: &str, lines: &str, name: &str| {
            Stage::write(&stage.main(session), lines);
            let report = daemon.report().await;
            let found = report.by_session.iter().find(|g| g.key == session).map(|g| g.name.as_str());
            assert_eq!(found, Some(name));
            assert_eq!(report, stage.report());
        };
        // Lines that are read later, on their own, give the same result.
        grow("other", &(prompt("build it") + &answer("f", 10, 10)), "build it").await;
        grow("other", &prompt("now commit"), "build it").await;
        grow("other", "{\"type\":\"ai-title\",\"aiTitle\":\"Building\"}\n", "Building").await;
        grow("other", "{\"type\":\"custom-title\",\"customTitle\":\"Mine\"}\n", "Mine").await;
        grow("other", &prompt("and push"), "Mine").await;
        grow("other", "{\"type\":\"ai-title\",\"aiTitle\":\"Pushing\"}\n", "Mine").await;
        grow("other", "{\"type\":\"custom-title\",\"customTitle\":\"Still mine\"}\n", "Still mine").await;
        // A live fork is read in another way, with the same result.
        Stage::write(&stage.main("fork"), &prompt("go on\nwith it"));
        daemon.hook(&stage, "fork", "SessionStart").await;
        daemon.until("fork", |c| *out(c) == json!(30)).await;
        assert_eq!(daemon.report().await, stage.report());
        fs::write(stage.main("other"), answer("g", 10, 1)).unwrap();
        assert_eq!(daemon.report().await, stage.report());
        daemon.stop().await;
    });
}

#[test]
fn a_generated_history_is_counted_to_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let written = flightdeck_sim::transcripts::write_transcripts(folder.path(), 3_000_000, 11).unwrap();
    let (report, failed) =
        standalone_scan::report(folder.path(), PriceTable::shipped(), TimeZone::UTC, None, clock::now());
    let t = &report.total.tokens;
    assert_eq!((failed, report.total.messages), (0, written.messages));
    assert_eq!((t.input, t.output), (written.input, written.output));
    assert_eq!((t.cache_read, t.cache_creation_5m), (written.cache_read, written.cache_write));
    assert!(report.total.unpriced_models.is_empty());
}
