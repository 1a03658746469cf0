//! The files of an effort, below `.flightdeck/` of its workstream: its log, its handoffs and its long injections. They are written from
//! the store. If a file cannot be written, a warning is logged and the effort continues.

use std::path::PathBuf;

use flightdeck_core::effort::{Effort, EffortMessage, artifact_name, handoff_name, injection_file, log_name};
use flightdeck_core::ids::EffortId;

use super::App;
use crate::store::{MessagesWanted, StoreError};

/// Log entries read from the store at a time.
const LOG_PAGE_ENTRIES: usize = 200;

impl App {
    /// Writes the whole log file anew, from all log entries in the store.
    pub(super) async fn write_log_file(&self, effort: Effort) {
        match self.all_log_entries(&effort.id).await {
            Ok(entries) => self.write(&effort, log_name(&effort), log_text(&effort, &entries)).await,
            Err(error) => {
                tracing::warn!(%error, effort = %effort.id, "the log entries cannot be read; the log file is not written")
            }
        }
    }

    async fn all_log_entries(&self, effort: &EffortId) -> Result<Vec<EffortMessage>, StoreError> {
        let mut entries: Vec<EffortMessage> = Vec::new();
        loop {
            let wanted = MessagesWanted {
                effort: effort.clone(),
                kind: Some("log".to_owned()),
                before: entries.first().map(|oldest| oldest.id.clone()),
                limit: LOG_PAGE_ENTRIES,
            };
            let page = self.store.effort_messages(wanted).await?;
            let is_last = page.len() < LOG_PAGE_ENTRIES;
            entries.splice(0..0, page);
            if is_last {
                return Ok(entries);
            }
        }
    }

    pub(super) async fn write_handoff_file(&self, effort: Effort) {
        if let Some(handoff) = &effort.handoff {
            self.write(&effort, handoff_name(&effort, handoff.number), handoff.payload.clone()).await;
        }
    }

    pub(super) async fn write_injection_file(&self, effort: Effort) {
        if let Some(newest) = effort.injections.back() {
            self.write(&effort, artifact_name(&effort, &injection_file(newest)), newest.text.clone()).await;
        }
    }

    /// Makes the folder for the effort's files. Once it exists, a slash command in this directory may open an effort.
    pub(super) async fn make_artifacts_folder(&self, effort: Effort) {
        let folder = PathBuf::from(effort.artifacts());
        if let Err(error) = self.files.make_artifacts_folder(folder.clone()).await {
            tracing::warn!(%error, path = %folder.display(), "the folder of an effort is not made; slash commands open no efforts here");
        }
    }

    async fn write(&self, effort: &Effort, name: String, text: String) {
        let folder = PathBuf::from(effort.artifacts());
        let path = folder.join(&name);
        if let Err(error) = self.files.write_artifact(folder, name, text).await {
            tracing::warn!(%error, path = %path.display(), "an artifact of an effort is not written; the store has its text");
        }
    }

    pub(super) async fn effort_now(&self, id: &EffortId) -> Option<Effort> {
        let id = id.clone();
        self.engine.read(move |fleet| fleet.effort(&id).cloned()).await.ok().flatten()
    }
}

fn log_text(effort: &Effort, entries: &[EffortMessage]) -> String {
    let title = effort.title.as_deref().map(|title| format!(": {title}")).unwrap_or_default();
    let mut text = format!("# {} {}{title}\n", effort.skill, effort.ordinal);
    for entry in entries {
        text += &format!("\n## {}\n\n{}\n", entry.at, entry.text.trim_end());
    }
    text
}
