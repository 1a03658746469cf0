//! Efforts in the simulation. One covers the whole fleet. The other has a session of its own whose calls, and the texts for it,
//! the simulation counts: a call that is lost or counted twice, and a text that never arrives, is noticed.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use flightdeck_core::effort::SkillSettings;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::ids::EffortId;
use flightdeck_core::limits::INJECTIONS_MAX;
use flightdeck_sim::rng::Rng;
use serde_json::{Map, Value, json};

use super::clients::{self, Sent};
use super::truth::must;
use super::world::World;
use crate::app::project_files::{Lookup, ProjectFiles};
use crate::config::efforts::EffortSettings;
use crate::skills::directives::SearchRoot;

/// The home of the fleet: its sessions work below it.
const FLEET_HOME: &str = "/home/dev";
/// The directory of the counted session. It is a link, so that a hook whose directory is not looked up belongs to no effort.
const LINK: &str = "/link/counted";
const LINKED_TO: &str = "/work/counted";
const SESSION: &str = "counted-session";
/// One call in this many is an exempt command.
const EXEMPT_EVERY: u64 = 5;
/// One call in this many is made by a subagent, whose calls do not move the counter.
const SUBAGENT_EVERY: u64 = 7;
/// One call in this many comes by a script, too.
const TWIN_EVERY: u64 = 4;
/// The beginning of every text that the simulation adds for the agent, to recognise the text in the reply to a hook.
const MARK: &str = "injected-";
/// After this many hooks on a working disk all waiting texts must have arrived: each hook delivers at least one.
const HOOKS_TO_DELIVER: usize = INJECTIONS_MAX;

/// The directories of the simulated machine. Every directory exists, and all below `/link` are links.
#[derive(Debug)]
pub(super) struct SimulatedFiles;

fn ready<T: Send + 'static>(found: T) -> Lookup<T> {
    Box::pin(std::future::ready(found))
}

impl ProjectFiles for SimulatedFiles {
    fn real_dir(&self, dir: String) -> Lookup<Option<String>> {
        ready(Some(if dir == LINK { LINKED_TO.to_owned() } else { dir }))
    }
    fn skill_settings(
        &self,
        _: PathBuf,
        _: Option<PathBuf>,
        _: String,
    ) -> Lookup<Result<SkillSettings, String>> {
        ready(Ok(SkillSettings::default()))
    }
    fn directives(&self, _: Vec<PathBuf>, root: SearchRoot, _: Vec<String>) -> Lookup<Vec<PathBuf>> {
        match root {
            SearchRoot::Folder(dir) | SearchRoot::ProjectOf(dir) => ready(vec![dir.join("AGENTS.md")]),
            SearchRoot::ProjectOfFile => ready(Vec::new()),
        }
    }
    fn files_of_project(&self, dir: PathBuf, names: Vec<String>) -> Lookup<Vec<Option<PathBuf>>> {
        ready(names.iter().map(|name| Some(dir.join(name))).collect())
    }
    fn read_texts(&self, _: SearchRoot, paths: Vec<PathBuf>) -> Lookup<Vec<Option<String>>> {
        ready(paths.iter().map(|path| Some(format!("The text of {}.", path.display()))).collect())
    }
    fn is_opted_in(&self, _: EffortSettings, _: PathBuf) -> Lookup<bool> {
        ready(false)
    }
    fn make_artifacts_folder(&self, _: PathBuf) -> Lookup<io::Result<()>> {
        ready(Ok(()))
    }
    fn write_artifact(&self, _: PathBuf, _: String, _: String) -> Lookup<io::Result<()>> {
        ready(Ok(()))
    }
}

/// The counted session and its effort.
#[derive(Debug, Default)]
pub(super) struct CountedSession {
    effort: EffortId,
    events: u64,
    injections: u64,
    /// Calls before the last log entry.
    logged: u64,
}

impl CountedSession {
    /// Starts both efforts.
    pub(super) async fn begin(world: &World) -> Result<Self, String> {
        start(world, FLEET_HOME, "implement").await?;
        let effort = start(world, LINK, "fix").await?;
        Ok(Self { effort, ..Self::default() })
    }

    /// The next event of the session: the start, then calls and their ends.
    pub(super) fn next(&mut self, world: &World) -> Sent {
        let (n, call) = (self.events, self.events / 2);
        self.events += 1;
        let mut payload = common();
        if n == 0 {
            payload.extend(fields(json!({"hook_event_name": "SessionStart", "source": "startup"})));
            return Sent::new(world, &payload, Map::new());
        }
        let exempt = call.is_multiple_of(EXEMPT_EVERY);
        let by_subagent = call % SUBAGENT_EVERY == 1;
        let command = if exempt { "flightdeck effort log . \"one step\"" } else { "cargo test" };
        payload.extend(fields(json!({
            "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": format!("call-{call}"),
        })));
        if by_subagent {
            payload.insert("agent_id".into(), "helper".into());
        }
        let begins = !n.is_multiple_of(2);
        let name = if begins { "PreToolUse" } else { "PostToolUse" };
        payload.insert("hook_event_name".into(), name.into());
        if !begins {
            payload.insert("tool_response".into(), json!({"stdout": "ok"}));
        }
        let mut sent = Sent::new(world, &payload, fields(json!({"waits": true})));
        if begins && call % TWIN_EVERY == 2 {
            sent.twin = Some(clients::line("hooks.preToolUse", Value::Object(payload)));
        }
        if begins && !exempt && !by_subagent {
            world.facts().calls.insert(sent.id);
        }
        sent
    }

    /// Adds a text for the agent. If this is acknowledged, the text must arrive.
    pub(super) fn inject(&mut self, world: &World) -> impl Future<Output = ()> + use<> {
        self.injections += 1;
        let text = format!("{MARK}{}", self.injections);
        let line = clients::line("effort.inject", json!({"id": self.effort, "text": text}));
        let world = Arc::clone(world);
        async move {
            if clients::call(&world, &line).await.is_some() {
                world.facts().injected.insert(text);
            }
        }
    }

    /// Called on a working disk: sends hooks of the session until all waiting texts have arrived.
    pub(super) async fn take_what_waits(&mut self, world: &World) -> Result<(), String> {
        for _ in 0..HOOKS_TO_DELIVER {
            if lost(world).is_none() {
                return Ok(());
            }
            let mut payload = common();
            payload.extend(fields(json!({"hook_event_name": "UserPromptSubmit", "prompt": "go on"})));
            clients::hook(Arc::clone(world), Sent::new(world, &payload, Map::new())).await;
        }
        match lost(world) {
            Some(text) => Err(format!("{text} was acknowledged and is lost")),
            None => Ok(()),
        }
    }

    /// Checks that each call of the main agent that was acknowledged or spooled is counted once.
    pub(super) fn check_heartbeat(&self, world: &World, fleet: &Fleet) -> Result<(), String> {
        let Some(effort) = fleet.effort(&self.effort) else { return Err("the effort is lost".into()) };
        let main = effort.windows.iter().filter(|window| window.agent_id.is_none());
        let heartbeat: u64 = main.map(|window| u64::from(window.heartbeat)).sum();
        let made = calls_made(world) - self.logged;
        must!(
            heartbeat == made,
            "the heartbeat is {heartbeat}, but {made} calls were made since the last log entry"
        );
        Ok(())
    }

    /// Adds a log entry, so that the counter starts again. Nothing else runs meanwhile.
    pub(super) async fn log(&mut self, world: &World, rng: &mut Rng) -> Result<(), String> {
        if rng.percent(50) {
            let line = clients::line("effort.log", json!({"id": self.effort, "text": "All is well."}));
            clients::call(world, &line).await.ok_or("a log entry was not stored")?;
            self.logged = calls_made(world);
        }
        Ok(())
    }
}

/// The texts of injections in what an agent is told.
pub(super) fn injected_in(told: &str) -> impl Iterator<Item = String> {
    told.split_whitespace().filter(|word| word.starts_with(MARK)).map(str::to_owned)
}

async fn start(world: &World, dir: &str, skill: &str) -> Result<EffortId, String> {
    let line = clients::line("effort.start", json!({"dir": dir, "skill": skill}));
    let started = clients::call(world, &line).await.ok_or("an effort could not be started")?;
    Ok(started["id"].as_str().unwrap_or_default().into())
}

fn common() -> Map<String, Value> {
    fields(json!({
        "session_id": SESSION, "transcript_path": "/home/dev/counted.jsonl", "cwd": LINK, "permission_mode": "default",
    }))
}

fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn calls_made(world: &World) -> u64 {
    let facts = world.facts();
    let arrived = |id: &&_| facts.acknowledged.contains_key(*id) || facts.spooled.contains(*id);
    facts.calls.iter().filter(arrived).count() as u64
}

fn lost(world: &World) -> Option<String> {
    let facts = world.facts();
    facts.injected.iter().find(|text| !facts.told.contains(*text)).cloned()
}
