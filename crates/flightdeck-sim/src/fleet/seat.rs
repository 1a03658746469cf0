//! One terminal: its session, and what the session does next.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::Value;

use super::answer::SimRequest;
use super::library::{JOBS, Job};
use super::template::{CapturedDecision, Facts, Template, TemplateRole, TemplateStep, Wait};
use super::{FleetConfig, SeatProject, SimEvent, project_of_seat};
use crate::Map;
use crate::rng::Rng;

/// Hooks the client waits for: later events fire after these have arrived.
const SYNC: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "Stop",
    "StopFailure",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
];
/// A hook process needs this long to start and send.
const SPAWN_MS: RangeInclusive<u64> = 2..=6;

const MODELS: [&str; 4] = ["claude-opus-5-5", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"];

/// The first sessions appear within this time.
const ARRIVE_MS: u64 = 45_000;
/// From one session in a seat to the next.
const EMPTY_SEAT_MS: RangeInclusive<u64> = 20_000..=180_000;
/// Turns before the person closes the session.
const TURNS: RangeInclusive<u64> = 8..=40;
/// How much rarer requests are in a fleet where they wait for a person. Usually the simulated terminal answers within a dozen seconds.
const ASKS_RARER: u64 = 3;
/// Pieces of work in one turn.
const PIECES: RangeInclusive<u64> = 2..=9;

fn range_of(wait: Wait) -> Option<RangeInclusive<u64>> {
    match wait {
        Wait::Client => None,
        Wait::Model => Some(2_000..=16_000),
        Wait::Tool => Some(1_000..=30_000),
        Wait::Answer => Some(4_000..=30_000),
        Wait::NextPrompt => Some(4_000..=40_000),
    }
}

#[derive(Debug)]
pub(super) struct SimSeat {
    rng: Rng,
    place: SeatProject,
    repo: usize,
    name: String,
    pid: Option<u32>,
    /// The client is free at this time; `f64` because a fast fleet has several events in a millisecond.
    clock_ms: f64,
    session: Option<SimSession>,
}

#[derive(Debug)]
struct SimSession {
    id: String,
    mode: &'static str,
    job: &'static Job,
    prompts_given: usize,
    turns_left: u64,
    prompt_id: Option<String>,
}

impl SimSeat {
    pub(super) fn new(number: usize, begin_ms: i64, config: &FleetConfig) -> Self {
        let mut rng = Rng::new(config.seed ^ (number as u64).wrapping_mul(0xA24B_AED4_963E_E407));
        let (repo, place) = project_of_seat(number, &config.home);
        let arrive = rng.between(0, ARRIVE_MS) as f64 / config.speed;
        Self {
            repo,
            name: format!(
                "{}-{}",
                place.worktree.as_deref().unwrap_or(&place.project),
                number % super::SEATS_PER_WORKTREE + 1
            ),
            place,
            pid: config.pids_from.map(|first| first + number as u32),
            clock_ms: begin_ms as f64 + arrive,
            session: None,
            rng,
        }
    }

    pub(super) fn project(&self) -> &SeatProject {
        &self.place
    }

    pub(super) fn free_at(&self) -> i64 {
        self.clock_ms as i64
    }

    /// Plans the next events of this seat, up to the next action of the person.
    pub(super) fn plan(&mut self, templates: &[Template], config: &FleetConfig) -> Vec<SimEvent> {
        let Some(turns_left) = self.session.as_ref().map(|s| s.turns_left) else {
            self.sit_down();
            return self.play(&[TemplateRole::Start], templates, config);
        };
        if turns_left == 0 {
            let events = self.play(&[TemplateRole::Exit], templates, config);
            self.session = None;
            self.clock_ms +=
                self.rng.between(*EMPTY_SEAT_MS.start(), *EMPTY_SEAT_MS.end()) as f64 / config.speed;
            return events;
        }
        if let Some(session) = &mut self.session {
            session.turns_left -= 1;
        }
        let roles = self.outline();
        self.play(&roles, templates, config)
    }

    /// Closes a session of this seat at once, in any state.
    pub(super) fn close_session(
        &mut self,
        session_id: String,
        at_ms: i64,
        templates: &[Template],
        config: &FleetConfig,
    ) -> Vec<SimEvent> {
        let at_once = FleetConfig { speed: f64::INFINITY, answer_ms_min: 0, jitter_ms: 0, ..config.clone() };
        self.sit_down();
        if let Some(session) = &mut self.session {
            session.id = session_id;
        }
        self.clock_ms = at_ms as f64;
        let events = self.play(&[TemplateRole::Exit], templates, &at_once);
        self.session = None;
        events
    }

    fn sit_down(&mut self) {
        self.session = Some(SimSession {
            id: self.rng.uuid(),
            mode: if self.rng.percent(40) { "acceptEdits" } else { "default" },
            job: self.rng.pick(JOBS[self.repo]),
            prompts_given: 0,
            turns_left: self.rng.between(*TURNS.start(), *TURNS.end()),
            prompt_id: None,
        });
    }

    /// The pieces of the next turn, and sometimes one between turns.
    fn outline(&mut self) -> Vec<TemplateRole> {
        let mut roles = match self.rng.between(1, 100) {
            1..=14 => vec![TemplateRole::Turn],
            15..=18 => vec![TemplateRole::Prompt, TemplateRole::Cut],
            _ => {
                let pieces = self.rng.between(*PIECES.start(), *PIECES.end());
                let work = std::iter::repeat_n(TemplateRole::Work, pieces as usize);
                std::iter::once(TemplateRole::Prompt).chain(work).chain([TemplateRole::Stop]).collect()
            }
        };
        match self.rng.between(1, 100) {
            1..=4 => roles.push(TemplateRole::Reminder),
            5..=8 => roles.push(TemplateRole::Between),
            9..=11 => roles.push(TemplateRole::Clear),
            _ => {}
        }
        roles
    }

    fn play(
        &mut self,
        roles: &[TemplateRole],
        templates: &[Template],
        config: &FleetConfig,
    ) -> Vec<SimEvent> {
        let mut events = Vec::new();
        for role in roles {
            let template = self.choose(*role, templates, config);
            self.perform(template, config, &mut events);
        }
        events
    }

    fn choose<'a>(
        &mut self,
        role: TemplateRole,
        templates: &'a [Template],
        config: &FleetConfig,
    ) -> &'a Template {
        let mode = self.session.as_ref().map_or("default", |s| s.mode);
        // A faster fleet works faster, but a person needs the same time.
        let rarer = if config.answer_ms_min > 0 { ASKS_RARER * config.speed.max(1.0) as u64 } else { 1 };
        let weight = |t: &Template| {
            let weight = weight(&t.name, mode);
            if t.asks() { weight } else { weight * rarer }
        };
        let fitting: Vec<(&Template, u64)> =
            templates.iter().filter(|t| t.role == role).map(|t| (t, weight(t))).collect();
        let mut ticket = self.rng.between(1, fitting.iter().map(|(_, w)| w).sum());
        for (template, weight) in &fitting {
            if ticket <= *weight {
                return template;
            }
            ticket -= weight;
        }
        fitting[0].0
    }

    fn perform(&mut self, template: &Template, config: &FleetConfig, events: &mut Vec<SimEvent>) {
        let Some(mut session) = self.session.take() else { return };
        if matches!(template.role, TemplateRole::Prompt | TemplateRole::Turn) {
            session.prompt_id = Some(self.rng.uuid());
        }
        let known = self.known(&mut session, template, config);
        let env = self.env(config);
        let mut facts = Facts { known, rng: &mut self.rng, job: session.job, asks: template.asks() };
        let mut clock = PieceClock { now_ms: self.clock_ms, asked_ms: None };
        for (n, step) in template.steps.iter().enumerate() {
            let mut event = fire(step, &mut facts, &mut clock, &env, config);
            event.request = template.request_at(n).map(|(call, captured_decision)| {
                let call_id = facts.known.get(call).cloned().unwrap_or_default();
                let (known, job) = (facts.known.clone(), session.job);
                Box::new(SimRequest { call_id, captured_decision, known, job, seat: 0, number: 0 })
            });
            events.push(event);
        }
        self.clock_ms = clock.now_ms;
        // The person interrupts such a request instead of answering it, and not before the shortest wait is over.
        if events
            .iter()
            .any(|event| event.request.as_ref().is_some_and(|r| r.captured_decision == CapturedDecision::Cut))
        {
            self.clock_ms += config.answer_ms_min as f64;
        }
        session.prompt_id = facts.known.get("prompt_id.2").cloned().or(session.prompt_id);
        if template.role == TemplateRole::Clear {
            session.id = facts.known.get("next_session").cloned().unwrap_or_default();
            session.prompt_id = None;
            session.prompts_given = 0;
            session.job = self.rng.pick(JOBS[self.repo]);
        }
        self.session = Some(session);
    }

    /// Continues the call of `request` with these steps from `at_ms` on, instead of the planned steps.
    pub(super) fn go_on<'a>(
        &mut self,
        request: &SimRequest,
        steps: impl Iterator<Item = &'a TemplateStep>,
        at_ms: i64,
        config: &FleetConfig,
    ) -> Vec<SimEvent> {
        let env = self.env(config);
        let mut clock = PieceClock { now_ms: at_ms as f64, asked_ms: None };
        let known = request.known.clone();
        let mut facts = Facts { known, rng: &mut self.rng, job: request.job, asks: true };
        steps.map(|step| fire(step, &mut facts, &mut clock, &env, config)).collect()
    }

    /// How long a tool runs on a realistic day.
    pub(super) fn tool_ms(&mut self, config: &FleetConfig) -> i64 {
        let ms = range_of(Wait::Tool).map_or(0, |range| self.rng.skewed(*range.start(), *range.end()));
        (ms as f64 / config.speed) as i64
    }

    /// Delays everything that is not planned yet.
    pub(super) fn delay(&mut self, ms: i64) {
        self.clock_ms += ms as f64;
    }

    pub(super) fn set_mode(&mut self, session_id: &str, mode: &'static str) {
        if let Some(session) = self.session.as_mut().filter(|s| s.id == session_id) {
            session.mode = mode;
        }
    }

    fn known(
        &mut self,
        session: &mut SimSession,
        template: &Template,
        config: &FleetConfig,
    ) -> BTreeMap<String, String> {
        let slug: String =
            self.place.cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let mut known = BTreeMap::new();
        let mut know = |key: &str, value: String| known.insert(key.to_owned(), value);
        know("session", session.id.clone());
        know("cwd", self.place.cwd.clone());
        know("home", config.home.clone());
        know("slug", slug);
        know("mode", session.mode.to_owned());
        match template.role {
            TemplateRole::Start => drop(know("model", (*self.rng.pick(&MODELS)).to_owned())),
            TemplateRole::Clear => drop(know("next_session", self.rng.uuid())),
            TemplateRole::Prompt | TemplateRole::Turn => {
                let prompts = session.job.prompts;
                know("say", prompts[session.prompts_given % prompts.len()].to_owned());
                session.prompts_given += 1;
            }
            _ => {}
        }
        if let Some(prompt_id) = &session.prompt_id {
            know("prompt_id", prompt_id.clone());
        }
        known
    }

    fn env(&self, config: &FleetConfig) -> Map {
        let mut env = Map::new();
        env.insert("CLAUDE_CODE_ENTRYPOINT".into(), "cli".into());
        env.insert("CLAUDE_PROJECT_DIR".into(), self.place.cwd.clone().into());
        env.insert("FLIGHTDECK_SEAT".into(), self.name.clone().into());
        if let Some(pid) = self.pid.filter(|_| config.pids_from.is_some()) {
            env.insert("CLAUDE_PID".into(), pid.to_string().into());
        }
        env
    }
}

/// The time within one piece.
struct PieceClock {
    now_ms: f64,
    /// When the newest request was opened.
    asked_ms: Option<f64>,
}

/// Determines when one step happens, and advances the clock by the step's gap. If two requests are open at once, each waits for the
/// person from its own opening on, so the second does not wait twice as long.
fn fire(
    step: &TemplateStep,
    facts: &mut Facts<'_>,
    clock: &mut PieceClock,
    env: &Map,
    config: &FleetConfig,
) -> SimEvent {
    let gap = range_of(step.wait).map_or(step.gap_ms, |range| facts.rng.skewed(*range.start(), *range.end()));
    let answers = clock.asked_ms.filter(|_| step.wait == Wait::Answer);
    let not_before = answers.map(|asked_ms| asked_ms + config.answer_ms_min as f64);
    clock.now_ms = clock.now_ms.max(not_before.unwrap_or(clock.now_ms)) + gap as f64 / config.speed;
    let payload = facts.fill(&step.payload);
    let sync = SYNC.iter().any(|name| payload.get("hook_event_name").is_some_and(|n| n == name));
    let slowest = if sync { *SPAWN_MS.end() } else { config.jitter_ms.max(*SPAWN_MS.end()) };
    let delay = if config.jitter_ms == 0 { 0 } else { facts.rng.between(*SPAWN_MS.start(), slowest) };
    let arrival = clock.now_ms + delay as f64 / config.speed;
    if sync {
        clock.now_ms = arrival;
    }
    if step.is_named("PermissionRequest") {
        clock.asked_ms = Some(clock.now_ms);
    }
    let session_id = payload.get("session_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut env = env.clone();
    env.insert("CLAUDE_CODE_SESSION_ID".into(), session_id.clone().into());
    SimEvent {
        at_ms: arrival as i64,
        fired_ms: clock.now_ms as i64,
        session_id,
        payload,
        env,
        request: None,
        not_before_ms: not_before.map(|ms| ms as i64),
    }
}

/// How often a piece is chosen among the suitable ones.
fn weight(name: &str, mode: &str) -> u64 {
    match name {
        "command" | "two_commands_at_once" | "command_async_hooks" => 12,
        "write_then_edit" if mode == "acceptEdits" => 14,
        // In the default mode the client asks before it writes; no captured piece shows that.
        "write_then_edit" => 0,
        "permission_yes" => 4,
        "permission_yes_after_reminder" => 3,
        "two_permissions_in_turn" | "two_permissions_at_once" | "permission_no_with_message" => 2,
        "command_fails" | "two_reads_one_fails" => 3,
        "question" => 4,
        "plan" => 2,
        "stop" => 30,
        "exit" | "start" => 6,
        _ => 1,
    }
}
