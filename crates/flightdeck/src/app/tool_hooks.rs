//! Makes the client wait for our reply to tool calls while an effort is active, and tells the person.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::App;
use super::registration::{Registrar, ToolHandlers};

/// The client reads a changed settings file again after about 1.1 s, by measurement.
pub const CLIENT_RELOADS_WITHIN: Duration = Duration::from_millis(1500);

/// Longest time to write the settings files. One of them may be on a disk that does not answer.
const WRITTEN_WITHIN: Duration = Duration::from_secs(5);

/// How the handlers of tool calls are registered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolHooks {
    /// True if verdicts reach the client, or if none are wanted.
    pub in_order: bool,
    /// A sentence for the person.
    pub sentence: String,
}

impl App {
    /// Registers the handlers of tool calls in the form that is needed while an effort is `active`, or while none is. If they changed for
    /// an effort, returns after the time in which running clients reread the file.
    pub async fn match_tool_hooks(&self, active: bool) -> ToolHooks {
        let registrar = Arc::clone(&self.registrar);
        let projects = self.workstream_dirs().await;
        let set = move || registrar.set_tool_verdicts(active, &projects);
        let set = tokio::time::timeout(WRITTEN_WITHIN, tokio::task::spawn_blocking(set)).await;
        let set = set.map_err(|_| anyhow::anyhow!("a settings file does not answer")).and_then(|set| set?);
        if active
            && let Ok(files) = &set
            && files.iter().any(|(handlers, _)| *handlers == ToolHandlers::Rewritten)
        {
            tokio::time::sleep(CLIENT_RELOADS_WITHIN).await;
        }
        match set {
            Ok(files) => describe(&files, active, &self.registrar),
            Err(error) => {
                tracing::warn!(%error, active, "could not change the handlers of tool calls; no tool call is denied");
                let sentence = format!("The hooks could not be changed, so nothing is denied: {error:#}");
                ToolHooks { in_order: false, sentence }
            }
        }
    }
}

impl App {
    /// The directories that have or had efforts, each with whether one is active there. Hooks in the settings of these directories change too.
    async fn workstream_dirs(&self) -> Vec<(PathBuf, bool)> {
        let read = self.engine.read(|fleet| {
            let is_active =
                |dir: &str| fleet.efforts().any(|effort| effort.is_active() && effort.workstream == dir);
            fleet.workstreams().map(|(dir, _)| (PathBuf::from(dir), is_active(dir))).collect()
        });
        read.await.unwrap_or_default()
    }
}

/// The person's own file is the first.
fn describe(files: &[(ToolHandlers, PathBuf)], active: bool, registrar: &Registrar) -> ToolHooks {
    if !active {
        let sentence = "Claude Code no longer waits for Flightdeck before tool calls".to_owned();
        return ToolHooks { in_order: true, sentence };
    }
    let hears = |(handlers, path): &(ToolHandlers, PathBuf)| {
        matches!(handlers, ToolHandlers::Rewritten | ToolHandlers::Unchanged)
            .then(|| path.display().to_string())
    };
    let heard: Vec<String> = files.iter().filter_map(hears).collect();
    let (path, program) = (registrar.settings_path().display(), registrar.program());
    let sentence = if !heard.is_empty() {
        format!("Claude Code waits for Flightdeck before each tool call (hooks in {})", heard.join(", "))
    } else if files.iter().any(|(handlers, _)| *handlers == ToolHandlers::CannotReply) {
        format!(
            "The hooks in {path} use curl and discard replies, so nothing is denied: run `{program} hooks install --via shim`"
        )
    } else {
        format!("No hooks of this home are in {path}, so nothing is denied: run `{program} hooks install`")
    };
    ToolHooks { in_order: !heard.is_empty(), sentence }
}
