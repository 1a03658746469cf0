//! `hooks.*`: Claude Code's events from scripts that run instead of `flightdeck hook`. Each event is stored and applied like that of an
//! ordinary hook, and the reply says what the effort of the session makes of it.

use std::time::Duration;

use flightdeck_core::effort::{
    Carries, CarriesFiles, ContextWindow, Effort, EffortChange, HookQuestion, Judged,
};
use flightdeck_core::fleet::Fleet;
use flightdeck_core::ids::{AgentId, AskId, InjectionId, MessageId, SeatName, SessionId, WindowId};
use flightdeck_core::log::record::{EventId, Record, Verbatim};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::card::context_of;
use flightdeck_core::view::effort::seat_status;
use flightdeck_core::view::lens::FleetStatus;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_protocol::ApiRequest;
use flightdeck_protocol::engine_hooks::*;
use flightdeck_protocol::supervise::RESTART_HOLD_MAX;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::arguments::Arguments;
use super::effort_verdicts::{AnsweredHook, EffortVerdict};
use super::{App, AppError};
use crate::clock;
use crate::skills::directives::SearchRoot;

/// From this context use on, no further turn fits.
const EXHAUSTED_PERCENT: f64 = 98.0;
/// The beginnings of the client's last message when a usage limit stopped it.
const RATE_LIMITED: [&str; 3] = ["API Error: 429", "Claude AI usage limit reached", "You've hit your"];
const CONTEXT_FULL: [&str; 2] = ["Prompt is too long", "Context limit reached"];

/// Longest time until the reply: the client waits for the script as it waits for our own hook.
const REPLIED_WITHIN: Duration = Duration::from_millis(45);
const _: () = assert!(REPLIED_WITHIN.as_millis() < flightdeck_hook::ACK_WITHIN.as_millis());

/// A hook event from a script, as the transport received it.
#[derive(Debug)]
pub struct ScriptCall {
    pub arguments: Arguments,
    pub env: Map<String, Value>,
    /// The length of the request in bytes.
    pub bytes: usize,
}

/// A hook event from a script, after it was stored.
#[derive(Debug)]
pub struct ScriptHook {
    id: EventId,
    session_id: SessionId,
    agent_id: Option<AgentId>,
    at: Timestamp,
    seat: Option<SeatName>,
    /// The pid of the client.
    client: Option<u32>,
    windows_before: Vec<WindowId>,
    /// What the daemon had cached of the client's settings was dropped, so it is read again.
    invalidated: bool,
    answered: AnsweredHook,
    /// The deadline of the reply.
    until: Instant,
}

/// What must be known before the event is stored so that the reply can be made.
#[derive(Clone, Copy, Debug)]
struct ReplyNeeds {
    says_window_ended: bool,
    carries: Carries,
    until: Instant,
}

/// The use case of one `hooks.*` command: makes the reply after the event is stored and applied.
pub trait HandleHook<R: ApiRequest + EngineHook> {
    /// Whether the reply says that the event ended a window. If so, the open windows are looked up before the event is stored.
    const SAYS_WINDOW_ENDED: bool = false;
    /// The parts of the verdict that the reply has fields for. The other parts wait for another hook.
    const CARRIES: Carries = Carries::NOTHING;
    /// How much longer the reply may take if the hook is held on purpose.
    const HELD_MAX: Duration = Duration::ZERO;

    fn reply(&self, request: R, hook: &ScriptHook)
    -> impl Future<Output = Result<R::Reply, AppError>> + Send;
}

impl App {
    /// Stores the event and makes its reply. The caller must note the verdict after it has written the reply. If the event cannot be stored and
    /// judged in time, the agent goes on: the reply is that of a session without an effort, and the event is stored later. The only error is
    /// arguments that do not fit.
    pub async fn receive_script_hook<R>(
        &self,
        call: ScriptCall,
    ) -> Result<(R::Reply, Option<EffortVerdict>), AppError>
    where
        R: ApiRequest + EngineHook,
        R::Reply: Default,
        Self: HandleHook<R>,
    {
        let until = Instant::now() + REPLIED_WITHIN;
        let ScriptCall { arguments, env, bytes } = call;
        refuse_other_event::<R>(&arguments)?;
        let payload = arguments.fields.clone();
        let request: R = arguments.read()?;
        let draft = HookDraft { name_in_path: None, payload, env, bytes };
        let record =
            draft.into_record(clock::fresh_id()).map_err(|error| AppError::Invalid(error.to_string()))?;
        let needs = ReplyNeeds { says_window_ended: Self::SAYS_WINDOW_ENDED, carries: Self::CARRIES, until };
        let mut stored = Box::pin(self.clone().store_script_hook(record, needs));
        let in_time = match timeout_at(until, &mut stored).await {
            Ok(stored) => stored.inspect_err(|error| report_failure(R::EVENT, error)).ok(),
            Err(_) => {
                report_delay(R::EVENT);
                // A script does not send an event a second time, so the daemon goes on storing it.
                tokio::spawn(
                    async move { stored.await.inspect_err(|error| report_failure(R::EVENT, error)) },
                );
                None
            }
        };
        let Some(mut hook) = in_time else { return Ok(Default::default()) };
        let reply = self.reply(request, &hook);
        match reply_in_time(R::EVENT, until + Self::HELD_MAX, reply).await {
            Some(reply) => Ok((reply, hook.answered.verdict.take())),
            None => Ok(Default::default()),
        }
    }

    async fn store_script_hook(self, mut record: Record, needs: ReplyNeeds) -> Result<ScriptHook, AppError> {
        record.envelope.rpc = true;
        record.verbatim = Verbatim::default();
        self.prepare_for_efforts(&mut record).await;
        let question =
            self.question(&record).map(|question| HookQuestion { carries: needs.carries, ..question });
        let session_id = record.session_id().cloned().unwrap_or_default();
        let windows_before =
            if needs.says_window_ended { self.open_windows(&session_id).await? } else { Vec::new() };
        let mut hook = ScriptHook {
            id: record.id,
            agent_id: record.agent_id.clone(),
            at: clock::now(),
            seat: record.envelope.seat.clone(),
            client: record.envelope.pid,
            windows_before,
            session_id,
            invalidated: false,
            answered: AnsweredHook::default(),
            until: needs.until,
        };
        let stored = self.store_hook(record, question).await?;
        (hook.invalidated, hook.answered) = (stored.invalidated, stored.answered);
        Ok(hook)
    }

    async fn open_windows(&self, session: &SessionId) -> Result<Vec<WindowId>, AppError> {
        if !self.engine.has_efforts() {
            return Ok(Vec::new());
        }
        let session = session.clone();
        let read = move |fleet: &Fleet| {
            let windows = fleet.efforts().flat_map(|effort| &effort.windows);
            let open = windows.filter(|w| w.ended_at.is_none() && w.session_id == session);
            open.map(|window| window.id.clone()).collect()
        };
        Ok(self.engine.read(read).await?)
    }

    /// Reads the effort of the session and its open window. `None` if the session has no effort.
    async fn of_effort<T: Send + 'static>(
        &self,
        hook: &ScriptHook,
        read: impl FnOnce(&Effort, Option<&ContextWindow>) -> T + Send + 'static,
    ) -> Result<Option<T>, AppError> {
        let (session, agent) = (hook.session_id.clone(), hook.agent_id.clone());
        let found = self.engine.read(move |fleet| {
            let effort = fleet.effort_of_session(&session)?;
            Some(read(effort, effort.open_window(&session, agent.as_ref())))
        });
        Ok(found.await?)
    }

    async fn seat_status(&self, hook: &ScriptHook) -> Result<Option<FleetStatus>, AppError> {
        let session = hook.session_id.clone();
        Ok(self.engine.read(move |fleet| seat_status(fleet, &session)).await?)
    }

    /// Whether the event ended a window of the session that was open before.
    async fn window_ended(&self, hook: &ScriptHook) -> Result<bool, AppError> {
        let open = self.open_windows(&hook.session_id).await?;
        Ok(hook.windows_before.iter().any(|window| !open.contains(window)))
    }

    /// The message that was made from the event. If the same event came by two routes, the first of the two made it.
    async fn message_of(&self, hook: &ScriptHook) -> Result<Option<(MessageId, String)>, AppError> {
        let (session, event) = (hook.session_id.clone(), hook.id);
        let found = self.engine.read(move |fleet| {
            let id = MessageId::new(format!("m-{}", fleet.applied_instead_of(event)));
            let mut messages = fleet.effort_of_session(&session)?.messages.iter().rev();
            messages.find(|message| message.id == id).map(|m| (m.id.clone(), m.text.clone()))
        });
        Ok(found.await?)
    }
}

/// The result of `work`, or `None` if it fails or takes too long. The agent then goes on as if there were no effort.
async fn reply_in_time<T>(
    event: &str,
    until: Instant,
    work: impl Future<Output = Result<T, AppError>>,
) -> Option<T> {
    match timeout_at(until, work).await {
        Ok(done) => done.inspect_err(|error| report_failure(event, error)).ok(),
        Err(_) => {
            report_delay(event);
            None
        }
    }
}

fn report_failure(event: &str, error: &AppError) {
    tracing::warn!(%error, event, "a hook of a script failed; it is answered as if there were no effort");
}

fn report_delay(event: &str) {
    tracing::warn!(event, "a hook of a script was late; it is answered as if there were no effort");
}

fn refuse_other_event<R: EngineHook>(arguments: &Arguments) -> Result<(), AppError> {
    let field = "hook_event_name";
    match arguments.fields.get(field).and_then(Value::as_str) {
        Some(other) if other != R::EVENT => {
            let field = arguments.spelled(field);
            Err(AppError::Invalid(format!("`{field}` is {other:?}, but this command takes {:?}", R::EVENT)))
        }
        _ => Ok(()),
    }
}

fn judged(hook: &ScriptHook) -> Option<&Judged> {
    hook.answered.judged.as_ref()
}

impl HandleHook<HookSessionStart> for App {
    const CARRIES: Carries = Carries { introduction: true, files: CarriesFiles::ByName, ..Carries::NOTHING };

    async fn reply(&self, _: HookSessionStart, hook: &ScriptHook) -> Result<SessionStartReply, AppError> {
        let about = |effort: &Effort, _: Option<&ContextWindow>| {
            (effort.skill.clone(), effort.phase().map(|phase| phase.name.clone()), effort.settings.clone())
        };
        let about = self.of_effort(hook, about).await?.filter(|_| judged(hook).is_some());
        let (skill, phase, config) = match about {
            Some((skill, phase, config)) => (Some(skill), phase, Some(config)),
            None => (None, None, None),
        };
        Ok(SessionStartReply {
            found: judged(hook).is_some(),
            effort_id: judged(hook).map(|judged| judged.effort.clone()),
            session_id: judged(hook).map(|judged| judged.window.clone()),
            skill,
            phase,
            files_to_preload: judged(hook).map(|judged| judged.verdict.files.clone()).unwrap_or_default(),
            dehydrated_context: judged(hook).and_then(|judged| judged.call.dehydrated.clone()),
            skill_config: config.map(SkillConfig::from),
        })
    }
}

impl HandleHook<HookSessionEnd> for App {
    const SAYS_WINDOW_ENDED: bool = true;

    async fn reply(&self, _: HookSessionEnd, hook: &ScriptHook) -> Result<SessionEndReply, AppError> {
        Ok(SessionEndReply {
            window_ended: self.window_ended(hook).await?,
            seat_status: self.seat_status(hook).await?,
        })
    }
}

impl HandleHook<HookPreCompact> for App {
    const SAYS_WINDOW_ENDED: bool = true;
    // The hook is held while the supervisor ends the client.
    const HELD_MAX: Duration = RESTART_HOLD_MAX;

    async fn reply(&self, request: HookPreCompact, hook: &ScriptHook) -> Result<PreCompactReply, AppError> {
        let ended = reply_in_time(HookPreCompact::EVENT, hook.until, self.window_ended(hook)).await;
        let window_ended = ended.unwrap_or(false);
        let client = hook.client.filter(|_| window_ended && request.trigger == "auto");
        let restart = match client.and_then(|client| self.restart_instead_of_compaction(client)) {
            Some(restart) => restart.wait_until_accepted().await,
            None => false,
        };
        let action = if restart { CompactAction::Restart } else { CompactAction::None };
        Ok(PreCompactReply { action, window_ended })
    }
}

impl HandleHook<HookPreToolUse> for App {
    async fn reply(&self, _: HookPreToolUse, hook: &ScriptHook) -> Result<PreToolUseReply, AppError> {
        let Some(judged) = judged(hook) else { return Ok(PreToolUseReply::default()) };
        Ok(PreToolUseReply {
            allow: Allow(judged.verdict.deny.is_none()),
            heartbeat_count: judged.call.heartbeat,
            context_usage: judged.call.context_percent,
            overflow_warning: judged.call.overflow,
            pending_preloads: judged.call.preloads.clone(),
            fired_rules: judged.call.fired_rules.clone(),
            reason: judged.verdict.deny.clone(),
        })
    }
}

impl HandleHook<HookPostToolUse> for App {
    const CARRIES: Carries =
        Carries { injections: true, messages: true, files: CarriesFiles::ByContent, ..Carries::NOTHING };

    async fn reply(&self, _: HookPostToolUse, hook: &ScriptHook) -> Result<PostToolUseReply, AppError> {
        let texts = judged(hook).map(|judged| judged.call.texts.clone()).unwrap_or_default();
        let texts = texts.into_iter().map(|given| PendingInjection { id: given.id, text: given.text });
        let files = hook.answered.files.iter().map(|placed| PendingInjection {
            id: InjectionId::new(format!("file:{}", placed.file)),
            text: placed.text.clone(),
        });
        let pending = texts.chain(files);
        Ok(PostToolUseReply {
            heartbeat_count: judged(hook).map_or(0, |judged| judged.call.heartbeat),
            pending_injections: pending.collect(),
            dialogue_entry: self.message_of(hook).await?.map(|(_, text)| text),
        })
    }
}

impl HandleHook<HookPostToolUseFailure> for App {
    async fn reply(
        &self,
        _: HookPostToolUseFailure,
        hook: &ScriptHook,
    ) -> Result<PostToolUseFailureReply, AppError> {
        Ok(PostToolUseFailureReply {
            seat_status: self.seat_status(hook).await?,
            message_id: self.message_of(hook).await?.map(|(id, _)| id),
        })
    }
}

impl HandleHook<HookStop> for App {
    async fn reply(&self, request: HookStop, hook: &ScriptHook) -> Result<StopReply, AppError> {
        let last_message = request.last_assistant_message.unwrap_or_default();
        let said = |begins: &[&str]| begins.iter().any(|text| last_message.starts_with(text));
        let session = hook.session_id.clone();
        let percent =
            self.engine.read(move |fleet| fleet.get(&session).and_then(context_of)?.percent).await?;
        let limits = self.engine.overview().await?.rate_limits;
        let used = limits.into_iter().flat_map(|limits| [limits.five_hour, limits.seven_day]).flatten();
        Ok(StopReply {
            seat_status: self.seat_status(hook).await?,
            rate_limited: said(&RATE_LIMITED) || used.into_iter().any(|limit| limit.percent >= 100.0),
            context_exhausted: said(&CONTEXT_FULL)
                || percent.is_some_and(|percent| percent >= EXHAUSTED_PERCENT),
        })
    }
}

impl HandleHook<HookUserPrompt> for App {
    async fn reply(&self, _: HookUserPrompt, hook: &ScriptHook) -> Result<UserPromptReply, AppError> {
        let about = |effort: &Effort, _: Option<&ContextWindow>| {
            (effort.workstream.clone(), effort.skill.clone(), effort.phase().map(|phase| phase.name.clone()))
        };
        let about = self.of_effort(hook, about).await?.filter(|_| judged(hook).is_some());
        let (task_dir, skill, phase) = match about {
            Some((dir, skill, phase)) => (Some(dir), Some(skill), phase),
            None => (None, None, None),
        };
        Ok(UserPromptReply {
            session_context: judged(hook).map(|judged| judged.call.session_context.clone()),
            effort_id: judged(hook).map(|judged| judged.effort.clone()),
            session_id: judged(hook).map(|judged| judged.window.clone()),
            task_dir,
            skill,
            phase,
            heartbeat: judged(hook).map(|judged| judged.call.heartbeat),
        })
    }
}

impl HandleHook<HookNotification> for App {
    async fn reply(&self, _: HookNotification, hook: &ScriptHook) -> Result<SeatStatusReply, AppError> {
        Ok(SeatStatusReply { seat_status: self.seat_status(hook).await? })
    }
}

impl HandleHook<HookPermissionRequest> for App {
    async fn reply(
        &self,
        _: HookPermissionRequest,
        hook: &ScriptHook,
    ) -> Result<PermissionRequestReply, AppError> {
        let seat_status = self.seat_status(hook).await?;
        let event = hook.id;
        let ask_id = AskId::from(self.engine.read(move |fleet| fleet.applied_instead_of(event)).await?);
        let known = self.engine.find_ask(&ask_id).await?;
        Ok(PermissionRequestReply { seat_status, ask_id: known.map(|_| ask_id) })
    }
}

impl HandleHook<HookTeammateIdle> for App {
    async fn reply(&self, _: HookTeammateIdle, hook: &ScriptHook) -> Result<TeammateIdleReply, AppError> {
        let seat = hook.seat.clone();
        // The fold signalled the parent effort when it applied this event, or the same event by another route.
        let read = move |fleet: &Fleet| {
            let (parent, _) = fleet.parent_effort(seat.as_ref())?;
            Some(parent.to_string())
        };
        let signalled = self.engine.read(read).await?;
        Ok(TeammateIdleReply { seat_status: self.seat_status(hook).await?, signalled })
    }
}

impl HandleHook<HookTaskCompleted> for App {
    async fn reply(&self, _: HookTaskCompleted, hook: &ScriptHook) -> Result<TaskCompletedReply, AppError> {
        Ok(TaskCompletedReply { message_id: self.message_of(hook).await?.map(|(id, _)| id) })
    }
}

impl HandleHook<HookSubagentStart> for App {
    const CARRIES: Carries = Carries { files: CarriesFiles::ByName, ..Carries::NOTHING };

    async fn reply(&self, _: HookSubagentStart, hook: &ScriptHook) -> Result<SubagentStartReply, AppError> {
        let about = |effort: &Effort, window: Option<&ContextWindow>| {
            let directives = effort.all_directives().collect::<Vec<_>>();
            let metadata = EffortMetadata {
                skill: effort.skill.clone(),
                mode: effort.mode.clone(),
                phase: effort.phase().map(|phase| phase.name.clone()),
                ordinal: effort.ordinal,
                workstream: effort.workstream.clone(),
            };
            let window = window.map(|window| window.id.clone());
            (effort.id.clone(), window, effort.settings.log_template.clone(), directives, metadata)
        };
        Ok(match self.of_effort(hook, about).await? {
            None => SubagentStartReply::default(),
            Some((effort, session_id, log_template, directives, metadata)) => SubagentStartReply {
                session_id,
                effort_id: Some(effort),
                log_template,
                directives,
                effort_metadata: Some(metadata),
            },
        })
    }
}

impl HandleHook<HookSubagentStop> for App {
    const SAYS_WINDOW_ENDED: bool = true;

    async fn reply(
        &self,
        request: HookSubagentStop,
        hook: &ScriptHook,
    ) -> Result<SubagentStopReply, AppError> {
        let window_ended = self.window_ended(hook).await?;
        let merged = self.of_effort(hook, move |effort, _| {
            let ended = effort.windows.iter().rev().find(|w| w.agent_id.as_ref() == Some(&request.agent_id));
            ended.map(|window| window.loaded_files.clone())
        });
        let merged_files = merged.await?.flatten().filter(|_| window_ended).unwrap_or_default();
        Ok(SubagentStopReply { window_ended, merged_files })
    }
}

impl HandleHook<HookConfigChange> for App {
    async fn reply(&self, _: HookConfigChange, hook: &ScriptHook) -> Result<ConfigChangeReply, AppError> {
        let ScriptHook { session_id, at, invalidated, .. } = hook;
        tracing::debug!(session = %session_id, %at, invalidated, "the client's settings changed");
        Ok(ConfigChangeReply { invalidated: *invalidated })
    }
}

impl App {
    /// Finds the directives that apply to a file which the agent touched. The effort gives each directive once in a window.
    pub(super) async fn find_directives(&self, session_id: &SessionId, file: String) {
        let session = session_id.clone();
        let read = move |fleet: &Fleet| {
            let effort = fleet.effort_of_session(&session)?;
            Some((
                effort.id.clone(),
                effort.workstream.clone(),
                effort.settings.directives.clone(),
                effort.directives.clone(),
            ))
        };
        let Ok(Some((effort, dir, names, known))) = self.engine.read(read).await else { return };
        let root = SearchRoot::ProjectOf(dir.into());
        let mut found = self.discover_directives(vec![file.into()], root, names).await;
        found.retain(|path| !known.contains(path));
        if found.is_empty() {
            return;
        }
        let change = EffortChange::DirectivesFound { files: found };
        if let Err(error) = self.append_change(Subject::Effort(effort), change, clock::fresh_id()).await {
            tracing::warn!(%error, "directives could not be stored; they are looked for again");
        }
    }
}
