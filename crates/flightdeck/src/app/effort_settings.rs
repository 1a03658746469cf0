//! The settings of efforts: from the person's configuration, from skills, and from the directories of projects.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flightdeck_core::effort::SkillSettings;
use flightdeck_core::ids::SeatName;
use flightdeck_core::log::effort_facts::EffortFacts;
use flightdeck_core::log::record::Record;
use flightdeck_core::wire::lenient::borrowed_text;
use flightdeck_protocol::efforts::StartEffort;

use super::supervisors::OrderedRestart;
use super::{App, AppError};
use crate::skills::directives::SearchRoot;

/// Longest search for directives before a call continues without them. The next call searches again.
const DISCOVERED_WITHIN: Duration = Duration::from_millis(10);
/// The first prompt of a client that the supervisor started fresh.
const GO_ON: &str = "Go on with the effort where the window before left off; its handoff is in your context.";

impl App {
    /// Commands beside our own that are neither counted nor denied.
    pub(super) fn exempt_commands(&self) -> Vec<String> {
        self.config.current().efforts.exempt.clone()
    }

    /// The settings of a skill for its efforts, from the project, else from the person's own skills.
    pub(super) async fn skill_settings(&self, dir: &Path, skill: &str) -> Result<SkillSettings, AppError> {
        let user = self.registrar.settings_path().parent().map(Path::to_owned);
        let read = self.files.skill_settings(dir.to_owned(), user, skill.to_owned());
        read.await.map_err(AppError::Invalid)
    }

    /// Directive files from these files up to the root, the outermost first. `more` are names beside the configured ones.
    pub(super) async fn discover_directives(
        &self,
        files: Vec<PathBuf>,
        root: SearchRoot,
        more: Vec<String>,
    ) -> Vec<String> {
        let mut names = self.config.current().efforts.directives.clone();
        names.extend(more);
        let look = self.files.directives(files, root, names);
        let found = tokio::time::timeout(DISCOVERED_WITHIN, look).await.unwrap_or_default();
        found.into_iter().filter_map(|path| path.into_os_string().into_string().ok()).collect()
    }

    /// Starts an effort if the prompt is a slash command for it and the directory allows that. Runs in a task of its own, so no
    /// hook waits for it.
    pub(super) fn open_by_slash_command(&self, record: &Record) {
        if record.name != "UserPromptExpansion" || record.agent_id.is_some() {
            return;
        }
        let Some(skill) = borrowed_text(&record.payload, "command_name").map(str::to_owned) else { return };
        let config = self.config.current();
        if !config.efforts.skills.contains(&skill) {
            return;
        }
        let dir = record.envelope.project_dir.clone();
        let dir = dir.or_else(|| borrowed_text(&record.payload, "cwd").map(str::to_owned));
        let (Some(dir), seat, app) = (dir, record.envelope.seat.clone(), self.clone()) else { return };
        let about = borrowed_text(&record.payload, "command_args").filter(|about| !about.trim().is_empty());
        let title = about.map(str::to_owned);
        tokio::spawn(async move {
            let opted_in = app.files.is_opted_in(config.efforts.clone(), PathBuf::from(&dir)).await;
            if opted_in && !app.works_on(&dir, seat.as_ref(), &skill).await {
                app.open_effort(StartEffort {
                    dir,
                    skill,
                    seat: seat.map(String::from),
                    title,
                    ..StartEffort::default()
                })
                .await;
            }
        });
    }

    /// Whether the effort of this seat or directory is of this skill already. If so, the slash command continues it and starts no second one.
    async fn works_on(&self, dir: &str, seat: Option<&SeatName>, skill: &str) -> bool {
        let real = self.real_dirs.find(dir).await;
        let (dir, seat, skill) = (real.unwrap_or_else(|| dir.to_owned()), seat.cloned(), skill.to_owned());
        let same = self.engine.read(move |fleet| {
            fleet.effort_for(seat.as_ref(), Some(&dir)).is_some_and(|effort| effort.skill == skill)
        });
        same.await.unwrap_or(true)
    }

    async fn open_effort(&self, request: StartEffort) {
        match self.start_effort(request).await {
            Ok(card) => {
                let hooks = self.match_tool_hooks(true).await;
                tracing::info!(effort = %card.id, skill = card.skill, hooks = hooks.sentence, "a slash command opened an effort");
            }
            Err(error) => tracing::warn!(%error, "a slash command could not open an effort"),
        }
    }

    /// The pid of a client that is about to compact its context automatically, if its session works on an effort.
    pub(super) async fn auto_compaction(&self, record: &Record) -> Option<u32> {
        if record.name != "PreCompact" || record.agent_id.is_some() || !self.engine.has_efforts() {
            return None;
        }
        EffortFacts::from_record(record).filter(|facts| facts.auto_compaction)?;
        let (client, session) = (record.envelope.pid?, record.session_id()?.clone());
        let works = self.engine.read(move |fleet| fleet.effort_of_session(&session).is_some()).await;
        works.unwrap_or(false).then_some(client)
    }

    /// Orders the supervisor of the client, if there is one, to end the client and to start it with an empty context.
    pub(super) fn restart_instead_of_compaction(&self, client: u32) -> Option<OrderedRestart> {
        self.supervisors.restart(client, GO_ON.to_owned())
    }

    /// Called when the daemon starts: registers the tool hooks in the form that the restored efforts need.
    pub async fn match_tool_hooks_to_efforts(self) {
        let active = self.engine.has_efforts();
        if active != self.registrar.has_tool_verdicts() {
            let hooks = self.match_tool_hooks(active).await;
            tracing::info!(
                active,
                hooks = hooks.sentence,
                "the handlers of tool calls were matched to the efforts"
            );
        }
    }
}
