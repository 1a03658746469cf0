//! The changes of an effort: start, phase, log, handoff, finish. Each change is one event. The engine checks it just before it stores it.

use std::path::Path;

use flightdeck_core::effort::{
    Effort, EffortChange, EffortOpening, EffortRefused, INJECTED_WITHOUT_FILE_CHARS_MAX, SkillPhase,
    SkillSettings, WorkstreamAbout,
};
use flightdeck_core::ids::{EffortId, SeatName, SessionId};
use flightdeck_core::limits::{
    ASSIGNMENT_TITLE_CHARS_MAX, EFFORT_PHASES_MAX, EFFORT_TEXT_BYTES_MAX, HANDOFF_BYTES_MAX, KEYWORDS_MAX,
    NAME_CHARS_MAX, PATH_CHARS_MAX, PRELOADS_MAX, SESSION_ID_BYTES_MAX,
};
use flightdeck_core::log::record::{EventId, Record, Source};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::text::one_line;
use flightdeck_core::usage::price::Bill;
use flightdeck_core::view::effort::{EffortCard, EffortCost};
use flightdeck_protocol::efforts::*;
use serde_json::{Map, Value};

use super::{App, AppError, AppReply, Handle};
use crate::clock;
use crate::store::SessionStretch;

impl Handle<StartEffort> for App {
    async fn handle(&self, request: StartEffort) -> Result<AppReply<StartedEffort>, AppError> {
        let effort = self.start_effort(request).await?;
        let hooks = self.match_tool_hooks(true).await.sentence;
        Ok(StartedEffort { effort, hooks }.into())
    }
}

impl App {
    /// Starts an effort. The caller registers the hooks that the effort needs.
    pub(super) async fn start_effort(&self, request: StartEffort) -> Result<EffortCard, AppError> {
        let StartEffort { dir, skill, mode, seat, title, settings, workstream_title, keywords, metadata } =
            request;
        let dir = self.existing_dir(&dir).await?;
        let skill = checked_name("skill", &skill)?;
        let mut settings = match settings {
            Some(settings) => settings,
            None => self.skill_settings(Path::new(&dir), &skill).await?,
        };
        check_settings(&settings)?;
        self.find_phase_directives(&dir, &mut settings).await;
        let about = WorkstreamAbout {
            title: workstream_title.map(|title| checked_name("workstream_title", &title)).transpose()?,
            keywords: check_keywords(&keywords)?,
        };
        check_metadata(&metadata)?;
        let opening = EffortOpening {
            workstream: dir,
            skill,
            mode: mode.map(|mode| checked_name("mode", &mode)).transpose()?,
            seat: seat.map(|seat| checked_seat_name("seat", &seat)).transpose()?,
            title: title.map(|title| one_line(&title, ASSIGNMENT_TITLE_CHARS_MAX)),
            settings,
            about,
            metadata,
        };
        let id = clock::fresh_id();
        let effort = EffortId::new(format!("e-{id}"));
        self.append_change(Subject::Effort(effort.clone()), EffortChange::EffortStarted(opening), id).await?;
        if let Some(effort) = self.effort_now(&effort).await {
            self.make_artifacts_folder(effort).await;
        }
        self.effort_card(&effort).await
    }

    /// Appends a change of an effort, and returns the effort after it.
    pub(super) async fn change_effort(
        &self,
        id: &EffortId,
        change: EffortChange,
    ) -> Result<EffortCard, AppError> {
        self.append_change(Subject::Effort(id.clone()), change, clock::fresh_id()).await?;
        self.effort_card(id).await
    }

    pub(super) async fn append_change(
        &self,
        subject: Subject,
        change: EffortChange,
        id: EventId,
    ) -> Result<(), AppError> {
        self.engine.change_efforts(vec![record(subject, change, id)?]).await??;
        Ok(())
    }

    /// Appends all of the changes, or none of them if one is refused.
    pub(super) async fn append_changes(&self, changes: Vec<(Subject, EffortChange)>) -> Result<(), AppError> {
        let records = changes.into_iter().map(|(subject, change)| record(subject, change, clock::fresh_id()));
        let records = records.collect::<Result<Vec<_>, _>>()?;
        if !records.is_empty() {
            self.engine.change_efforts(records).await??;
        }
        Ok(())
    }

    /// Replaces the directives of the phases by their real paths, so that a directive which is also found beside a touched file is given only
    /// once. They are searched in the directory and above it, up to the root of the project. A file that does not exist keeps its name.
    async fn find_phase_directives(&self, dir: &str, settings: &mut SkillSettings) {
        let of_phase = |phase: &mut SkillPhase| match phase {
            SkillPhase::Name(_) => Vec::new(),
            SkillPhase::WithDirectives { directives, .. } => std::mem::take(directives),
        };
        let named: Vec<Vec<String>> = settings.phases.iter_mut().map(of_phase).collect();
        let names = named.iter().flatten().cloned().collect();
        let mut real = self.files.files_of_project(dir.into(), names).await.into_iter();
        for (phase, named) in settings.phases.iter_mut().zip(named) {
            if let SkillPhase::WithDirectives { directives, .. } = phase {
                let path = |file: String| match real.next().flatten() {
                    Some(real) => real.into_os_string().into_string().unwrap_or(file),
                    None => file,
                };
                *directives = named.into_iter().map(path).collect();
            }
        }
    }

    /// The card of an effort with the cost of its sessions. An effort that left the fleet is read from the store.
    pub(super) async fn effort_card(&self, id: &EffortId) -> Result<EffortCard, AppError> {
        let wanted = id.clone();
        let live = self
            .engine
            .read(move |fleet| fleet.effort(&wanted).map(|e| EffortCard::new(e, Some(fleet))))
            .await?;
        let card = match live {
            Some(card) => card,
            None => {
                let stored = self.store.effort(id).await?;
                EffortCard::new(&stored.ok_or_else(|| EffortRefused::NoEffort(id.clone()))?, None)
            }
        };
        self.priced_effort(card).await
    }

    pub(super) async fn priced_effort(&self, card: EffortCard) -> Result<EffortCard, AppError> {
        let mut sessions: Vec<_> = card.windows.iter().map(|window| window.session_id.clone()).collect();
        sessions.sort();
        sessions.dedup();
        let to = card.finished_at.unwrap_or_else(clock::now);
        let stretches =
            sessions.into_iter().map(|session_id| SessionStretch { session_id, from: card.started_at, to });
        let usage = self.store.usage_between(stretches.collect()).await?;
        let counted: Vec<_> = usage.into_iter().flatten().flatten().collect();
        if counted.is_empty() {
            return Ok(card);
        }
        let bill = Bill::for_usage(&self.prices_now(), counted.iter().map(|c| (c.model.as_str(), &c.usage)));
        Ok(EffortCard { cost: Some(EffortCost::from_bill(&bill)), ..card })
    }
}

fn record(subject: Subject, change: EffortChange, id: EventId) -> Result<Record, AppError> {
    let not_written = || AppError::Invalid("the change cannot be written as JSON".into());
    let (name, payload) = change.into_record().ok_or_else(not_written)?;
    Ok(Record::noticed_here(Source::User, &name, subject, payload, id))
}

impl Handle<GetEffort> for App {
    async fn handle(&self, request: GetEffort) -> Result<AppReply<EffortCard>, AppError> {
        Ok(self.effort_card(&request.id).await?.into())
    }
}

impl Handle<EnterPhase> for App {
    async fn handle(&self, request: EnterPhase) -> Result<AppReply<EffortCard>, AppError> {
        let EnterPhase { id, phase, proof } = request;
        let phase = checked_name("phase", &phase)?;
        let proof = proof.map(|proof| checked_text("proof", proof, EFFORT_TEXT_BYTES_MAX)).transpose()?;
        Ok(self.change_effort(&id, EffortChange::PhaseEntered { phase, proof }).await?.into())
    }
}

impl Handle<LogEffort> for App {
    async fn handle(&self, request: LogEffort) -> Result<AppReply<EffortCard>, AppError> {
        let LogEffort { id, text: entry, session_id } = request;
        let entry = checked_text("text", entry, EFFORT_TEXT_BYTES_MAX)?;
        let session_id = checked_session(session_id)?;
        let card = self.change_effort(&id, EffortChange::EffortLogged { text: entry, session_id }).await?;
        if let Some(effort) = self.effort_now(&id).await {
            self.write_log_file(effort).await;
        }
        Ok(card.into())
    }
}

impl Handle<Dehydrate> for App {
    async fn handle(&self, request: Dehydrate) -> Result<AppReply<EffortCard>, AppError> {
        let Dehydrate { id, payload, session_id } = request;
        let payload = checked_text("payload", payload, HANDOFF_BYTES_MAX)?;
        let session_id = checked_session(session_id)?;
        let card = self.change_effort(&id, EffortChange::EffortDehydrated { payload, session_id }).await?;
        if let Some(effort) = self.effort_now(&id).await {
            self.write_handoff_file(effort).await;
        }
        Ok(card.into())
    }
}

impl Handle<InjectText> for App {
    async fn handle(&self, request: InjectText) -> Result<AppReply<EffortCard>, AppError> {
        let InjectText { id, text: injected } = request;
        let injected = checked_text("text", injected, HANDOFF_BYTES_MAX)?;
        let is_long = injected.chars().count() > INJECTED_WITHOUT_FILE_CHARS_MAX;
        let card = self.change_effort(&id, EffortChange::InjectionAdded { text: injected }).await?;
        if let Some(effort) = self.effort_now(&id).await.filter(|_| is_long) {
            self.write_injection_file(effort).await;
        }
        Ok(card.into())
    }
}

impl Handle<PreloadFiles> for App {
    async fn handle(&self, request: PreloadFiles) -> Result<AppReply<EffortCard>, AppError> {
        let PreloadFiles { id, files } = request;
        check_files("files", &files)?;
        Ok(self.change_effort(&id, EffortChange::PreloadsAdded { files }).await?.into())
    }
}

impl Handle<FinishEffort> for App {
    async fn handle(&self, request: FinishEffort) -> Result<AppReply<EffortCard>, AppError> {
        let card = self.change_effort(&request.id, EffortChange::EffortFinished {}).await?;
        // Also if another effort is active: the settings of this project may be its own.
        self.match_tool_hooks(self.engine.has_efforts()).await;
        Ok(card.into())
    }
}

impl App {
    async fn existing_dir(&self, dir: &str) -> Result<String, AppError> {
        if !Path::new(dir).is_absolute() {
            return Err(AppError::Invalid(format!("`dir` {dir:?} is not an absolute path")));
        }
        let real = self.files.real_dir(dir.to_owned()).await;
        real.ok_or_else(|| AppError::Invalid(format!("`dir` {dir:?} is no directory")))
    }
}

fn check_settings(settings: &SkillSettings) -> Result<(), AppError> {
    check_files("settings.preload", &settings.preload)?;
    check_files("settings.directives", &settings.directives)?;
    if settings.phases.len() > EFFORT_PHASES_MAX {
        let phases = settings.phases.len();
        return Err(AppError::Invalid(format!(
            "`settings.phases` may name {EFFORT_PHASES_MAX} phases, not {phases}"
        )));
    }
    for phase in &settings.phases {
        checked_name("settings.phases", phase.name())?;
        check_files("settings.phases.directives", phase.directives())?;
    }
    settings
        .log_template
        .clone()
        .map(|form| checked_text("settings.log_template", form, EFFORT_TEXT_BYTES_MAX))
        .transpose()?;
    Ok(())
}

fn check_keywords(keywords: &[String]) -> Result<Vec<String>, AppError> {
    if keywords.len() > KEYWORDS_MAX {
        let given = keywords.len();
        return Err(AppError::Invalid(format!("`keywords` may have {KEYWORDS_MAX} words, not {given}")));
    }
    keywords.iter().map(|keyword| checked_name("keywords", keyword)).collect()
}

fn check_metadata(metadata: &Map<String, Value>) -> Result<(), AppError> {
    let bytes = serde_json::to_vec(metadata)?.len();
    if bytes > EFFORT_TEXT_BYTES_MAX {
        return Err(AppError::Invalid(format!(
            "`metadata` has {bytes} bytes; at most {EFFORT_TEXT_BYTES_MAX} are taken"
        )));
    }
    Ok(())
}

fn check_files(field: &str, files: &[String]) -> Result<(), AppError> {
    if files.len() > PRELOADS_MAX {
        return Err(AppError::Invalid(format!(
            "`{field}` may name {PRELOADS_MAX} files, not {}",
            files.len()
        )));
    }
    match files.iter().find(|file| file.is_empty() || file.len() > PATH_CHARS_MAX) {
        Some(_) => Err(AppError::Invalid(format!("`{field}` holds a path that is empty or too long"))),
        None => Ok(()),
    }
}

/// A short word or line of a request.
pub(super) fn checked_name(field: &str, value: &str) -> Result<String, AppError> {
    let line = one_line(value, NAME_CHARS_MAX + 1);
    match line.chars().count() {
        1..=NAME_CHARS_MAX => Ok(line),
        _ => Err(AppError::Invalid(format!("`{field}` must have 1 to {NAME_CHARS_MAX} characters"))),
    }
}

/// The session that the request names as its sender, if its length is valid.
fn checked_session(session: Option<SessionId>) -> Result<Option<SessionId>, AppError> {
    match session {
        Some(id) if id.is_empty() || id.len() > SESSION_ID_BYTES_MAX => {
            Err(AppError::Invalid(format!("`session_id` must have 1 to {SESSION_ID_BYTES_MAX} bytes")))
        }
        session => Ok(session),
    }
}

pub(super) fn checked_seat_name(field: &str, value: &str) -> Result<SeatName, AppError> {
    checked_name(field, value).map(SeatName::new)
}

/// A longer text of a request.
pub(super) fn checked_text(field: &str, value: String, bytes_max: usize) -> Result<String, AppError> {
    if value.trim().is_empty() {
        return Err(AppError::Invalid(format!("`{field}` is empty")));
    }
    if value.len() > bytes_max {
        let bytes = value.len();
        return Err(AppError::Invalid(format!(
            "`{field}` has {bytes} bytes; at most {bytes_max} are taken: shorten it"
        )));
    }
    Ok(value)
}

/// Finds an effort in the fleet, or in the store if it left the fleet.
impl App {
    pub(super) async fn whole_effort(&self, id: &EffortId) -> Result<Effort, AppError> {
        match self.effort_now(id).await {
            Some(effort) => Ok(effort),
            None => Ok(self.store.effort(id).await?.ok_or_else(|| EffortRefused::NoEffort(id.clone()))?),
        }
    }
}
