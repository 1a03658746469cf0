//! Every way to no verdict, on a clock that only the test moves: how long a hook waits is exact, whatever the machine does.

use std::future::pending;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flightdeck_core::effort::SkillSettings;
use flightdeck_core::ids::SessionId;
use flightdeck_core::log::record::Verbatim;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_hook::ACK_WITHIN;
use flightdeck_protocol::efforts::StartEffort;
use flightdeck_protocol::engine_hooks::{
    HookConfigChange, HookPostToolUse, HookPreToolUse, HookStop, PostToolUseReply, PreToolUseReply, StopReply,
};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{DaemonParts, StartedParts};
use crate::app::project_files::{Lookup, ProjectFiles};
use crate::app::registration::Registrar;
use crate::app::{App, Arguments, Handle, HookOutcome, HookWaits, IncomingHook, ScriptCall};
use crate::config::efforts::EffortSettings;
use crate::engine::{EngineHandle, Input};
use crate::settings::{ClientVersion, Registration, SettingsFile};
use crate::skills::directives::SearchRoot;
use crate::store::{Memory, Store};

const DIR: &str = "/work/api";
/// Leads to [`DIR`]: a hook from here belongs to the effort only if the directory was looked up.
const LINK: &str = "/link/api";

/// A disk that answers at once until it gets stuck. Then it never answers.
#[derive(Debug, Default)]
struct Disk {
    stuck: AtomicBool,
}

impl Disk {
    fn answer<T: Send + 'static>(&self, found: T) -> Lookup<T> {
        match self.stuck.load(Ordering::SeqCst) {
            true => Box::pin(pending()),
            false => Box::pin(std::future::ready(found)),
        }
    }
}

impl ProjectFiles for Disk {
    fn real_dir(&self, dir: String) -> Lookup<Option<String>> {
        self.answer(Some(if dir == LINK { DIR.to_owned() } else { dir }))
    }
    fn skill_settings(
        &self,
        _: PathBuf,
        _: Option<PathBuf>,
        _: String,
    ) -> Lookup<Result<SkillSettings, String>> {
        self.answer(Ok(SkillSettings::default()))
    }
    fn directives(&self, _: Vec<PathBuf>, _: SearchRoot, _: Vec<String>) -> Lookup<Vec<PathBuf>> {
        self.answer(vec![PathBuf::from(DIR).join("AGENTS.md")])
    }
    fn files_of_project(&self, dir: PathBuf, names: Vec<String>) -> Lookup<Vec<Option<PathBuf>>> {
        self.answer(names.iter().map(|name| Some(dir.join(name))).collect())
    }
    fn read_texts(&self, _: SearchRoot, paths: Vec<PathBuf>) -> Lookup<Vec<Option<String>>> {
        self.answer(vec![Some("The content.".to_owned()); paths.len()])
    }
    fn is_opted_in(&self, _: EffortSettings, _: PathBuf) -> Lookup<bool> {
        self.answer(false)
    }
    fn make_artifacts_folder(&self, _: PathBuf) -> Lookup<io::Result<()>> {
        self.answer(Ok(()))
    }
    fn write_artifact(&self, _: PathBuf, _: String, _: String) -> Lookup<io::Result<()>> {
        self.answer(Ok(()))
    }
}

/// A daemon with an effort that denies every call.
struct Desk {
    app: App,
    disk: Arc<Disk>,
    _folder: tempfile::TempDir,
}

impl Desk {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (store, work) = Store::as_task(Box::new(Memory::default()), async || ());
        tokio::spawn(work);
        let file = SettingsFile::new(&folder.path().join("settings.json"), &folder.path().join("backups"));
        let registration =
            Registration::new("/opt/flightdeck".as_ref(), folder.path(), ClientVersion::assumed());
        let registrar = Registrar::new(file, registration, false, folder.path().join("spool"));
        let disk = Arc::<Disk>::default();
        let parts = DaemonParts { files: Arc::clone(&disk) as _, ..DaemonParts::new(store, registrar) };
        let StartedParts { app, .. } = parts.start().await.unwrap();
        let settings =
            SkillSettings { heartbeat: 1, preload: vec!["plan.md".into()], ..SkillSettings::default() };
        let start = StartEffort {
            dir: DIR.into(),
            skill: "fix".into(),
            settings: Some(settings),
            ..StartEffort::default()
        };
        app.handle(start).await.unwrap();
        Self { app, disk, _folder: folder }
    }

    fn get_stuck(&self) {
        self.disk.stuck.store(true, Ordering::SeqCst);
    }

    /// From here on the engine stores events and answers nothing else.
    fn silence_the_engine(&mut self) {
        let engine = self.app.engine.clone();
        let (sender, mut inputs) = mpsc::channel(16);
        self.app.engine = engine.redirected_to(sender);
        tokio::spawn(async move {
            let mut unanswered = Vec::new();
            while let Some(input) = inputs.recv().await {
                match input {
                    Input::Events { .. } => engine.send(input).await.unwrap(),
                    other => unanswered.push(other),
                }
            }
        });
    }

    /// From here on each input reaches the engine this much later. Returns the engine itself.
    fn delay_the_engine(&mut self, delay: Duration) -> EngineHandle {
        let engine = self.app.engine.clone();
        let (sender, mut inputs) = mpsc::channel(16);
        self.app.engine = engine.redirected_to(sender);
        let direct = engine.clone();
        tokio::spawn(async move {
            while let Some(input) = inputs.recv().await {
                tokio::time::sleep(delay).await;
                engine.send(input).await.unwrap();
            }
        });
        direct
    }

    /// From here on the engine stores nothing and answers nothing.
    fn stop_the_engine(&mut self) {
        let (sender, mut inputs) = mpsc::channel(16);
        self.app.engine = self.app.engine.clone().redirected_to(sender);
        tokio::spawn(async move {
            let mut unanswered = Vec::new();
            while let Some(input) = inputs.recv().await {
                unanswered.push(input);
            }
        });
    }

    /// The verdict on a hook as text, and how long the hook waited for it.
    async fn hook(&self, dir: &str, event: &str, more: Value) -> (String, Duration) {
        let mut payload = object(json!({"session_id": "s", "hook_event_name": event, "cwd": dir}));
        payload.extend(object(more));
        let env = object(json!({"waits": true}));
        let draft = HookDraft { name_in_path: None, payload, env, bytes: 0 };
        let begun = Instant::now();
        let hook = IncomingHook { draft, verbatim: Verbatim::default(), waits: HookWaits::No };
        let received = self.app.receive_hook(hook).await.unwrap();
        let took = begun.elapsed();
        println!("{event}: {took:?}");
        assert!(took < ACK_WITHIN, "{event} took {took:?}");
        let verdict = match received.outcome {
            HookOutcome::Verdict(verdict) => String::from_utf8(verdict.json).unwrap(),
            _ => String::new(),
        };
        (verdict, took)
    }

    async fn call(&self, dir: &str) -> (String, Duration) {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
        self.hook(dir, "PreToolUse", call).await
    }

    async fn touch(&self, dir: &str) -> (String, Duration) {
        let touched =
            json!({"tool_name": "Read", "tool_input": {"file_path": "/work/api/a.rs"}, "tool_use_id": "r"});
        self.hook(dir, "PostToolUse", touched).await
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

const DENIED: &str = r#""permissionDecision":"deny""#;

#[tokio::test(start_paused = true)]
async fn a_disk_that_answers_costs_no_wait() {
    let desk = Desk::new().await;
    let (verdict, took) = desk.call(LINK).await;
    assert!(verdict.contains(DENIED), "{verdict}");
    assert_eq!(took, Duration::ZERO);
    let (verdict, took) = desk.touch(LINK).await;
    assert!(verdict.contains("AGENTS.md") && verdict.contains("The content."), "{verdict}");
    assert_eq!(took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_directory_that_cannot_be_looked_up_is_unknown_and_the_call_goes_on() {
    let desk = Desk::new().await;
    desk.get_stuck();
    let (verdict, took) = desk.call(LINK).await;
    assert_eq!(verdict, "");
    assert!(took >= Duration::from_millis(10), "it was not waited for: {took:?}");
}

#[tokio::test(start_paused = true)]
async fn files_and_directives_on_a_stuck_disk_are_left_out_in_time() {
    let desk = Desk::new().await;
    desk.get_stuck();
    // The directory, the directives and the file each take as long as they may.
    let (verdict, took) = desk.touch(DIR).await;
    assert!(verdict.contains("Read /work/api/plan.md now") && !verdict.contains("The content."), "{verdict}");
    assert!(took >= Duration::from_millis(30), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_verdict_that_is_late_allows_the_call() {
    let mut desk = Desk::new().await;
    desk.silence_the_engine();
    let (verdict, took) = desk.call(DIR).await;
    assert_eq!(verdict, "");
    assert!(took >= Duration::from_millis(15), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn all_steps_together_stay_below_what_a_hook_waits() {
    let mut desk = Desk::new().await;
    desk.silence_the_engine();
    desk.get_stuck();
    let (verdict, took) = desk.touch(LINK).await;
    assert_eq!(verdict, "");
    assert!(took >= Duration::from_millis(45), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_script_whose_event_is_stored_late_is_answered_as_without_an_effort() {
    let mut desk = Desk::new().await;
    desk.stop_the_engine();
    let call =
        object(json!({"sessionId": "s", "transcriptPath": "/t", "cwd": DIR, "hookEventName": "PreToolUse",
        "toolName": "Bash", "toolInput": {"command": "ls"}, "toolUseId": "t"}));
    let call = ScriptCall { arguments: Arguments::new(call), env: Map::new(), bytes: 0 };
    let begun = Instant::now();
    let (reply, verdict) = desk.app.receive_script_hook::<HookPreToolUse>(call).await.unwrap();
    assert_eq!((reply, verdict.is_none()), (PreToolUseReply::default(), true));
    assert!(begun.elapsed() < ACK_WITHIN, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_script_waits_no_longer_than_a_hook_and_its_event_is_stored_after_the_reply() {
    let mut desk = Desk::new().await;
    let engine = desk.delay_the_engine(Duration::from_secs(1));
    let call =
        object(json!({"sessionId": "late", "transcriptPath": "/t", "cwd": DIR, "hookEventName": "Stop",
        "stopHookActive": false, "lastAssistantMessage": "Done."}));
    let call = ScriptCall { arguments: Arguments::new(call), env: Map::new(), bytes: 0 };
    let begun = Instant::now();
    let (reply, _) = desk.app.receive_script_hook::<HookStop>(call).await.unwrap();
    assert_eq!(reply, StopReply::default());
    assert!(begun.elapsed() < ACK_WITHIN, "{:?}", begun.elapsed());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let late = SessionId::from("late");
    assert!(engine.read(move |fleet| fleet.get(&late).is_some()).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn all_steps_of_a_script_together_stay_below_what_a_hook_waits() {
    let mut desk = Desk::new().await;
    desk.silence_the_engine();
    desk.get_stuck();
    let ended = object(
        json!({"sessionId": "s", "transcriptPath": "/t", "cwd": LINK, "hookEventName": "PostToolUse",
        "toolName": "Read", "toolInput": {"file_path": "/work/api/a.rs"}, "toolResponse": "x", "toolUseId": "r"}),
    );
    let ended = ScriptCall { arguments: Arguments::new(ended), env: Map::new(), bytes: 0 };
    let begun = Instant::now();
    let (reply, _) = desk.app.receive_script_hook::<HookPostToolUse>(ended).await.unwrap();
    assert_eq!(reply, PostToolUseReply::default());
    assert!(begun.elapsed() < ACK_WITHIN, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_changed_configuration_is_followed_whichever_way_it_comes() {
    let desk = Desk::new().await;
    let changed = json!({"source": "user_settings"});
    desk.hook(DIR, "ConfigChange", changed.clone()).await;
    assert!(!desk.app.real_dirs.forget(), "known directories are forgotten");
    desk.app.registrar.settings_changed().await;
    let mut fields = object(json!({"session_id": "t", "transcript_path": "/t", "cwd": DIR,
        "hook_event_name": "ConfigChange"}));
    fields.extend(object(changed));
    let call = ScriptCall { arguments: Arguments::new(fields), env: Map::new(), bytes: 0 };
    desk.app.receive_script_hook::<HookConfigChange>(call).await.unwrap();
    let told = tokio::time::timeout(Duration::from_secs(60), desk.app.registrar.settings_changed()).await;
    assert!(told.is_ok(), "the registration is looked at again");
}
