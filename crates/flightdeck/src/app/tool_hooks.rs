//! Makes the client wait for our reply to tool calls while an effort is active, and tells the person.

use std::sync::Arc;
use std::time::Duration;

use super::App;
use super::registration::{Registrar, ToolHandlers};

/// The client reads a changed settings file again after about 1.1 s, by measurement.
pub const CLIENT_RELOADS_WITHIN: Duration = Duration::from_millis(1500);

/// How the handlers of tool calls are registered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolHooks {
    /// Verdicts reach the client, or none are wanted.
    pub in_order: bool,
    /// For the person.
    pub sentence: String,
}

impl App {
    /// Registers the handlers of tool calls in the form that is right while an effort is `active` on this home, or not. If
    /// they changed for an effort, returns when running clients have read the file again.
    pub async fn match_tool_hooks(&self, active: bool) -> ToolHooks {
        let registrar = Arc::clone(&self.registrar);
        let set = move || registrar.set_tool_verdicts(active);
        let set = tokio::task::spawn_blocking(set).await.map_err(anyhow::Error::from).and_then(|set| set);
        if active && matches!(set, Ok(ToolHandlers::Rewritten)) {
            tokio::time::sleep(CLIENT_RELOADS_WITHIN).await;
        }
        match set {
            Ok(handlers) => describe(handlers, active, &self.registrar),
            Err(error) => {
                tracing::warn!(%error, active, "the handlers of tool calls could not be changed; tool calls are allowed");
                let sentence = format!("The hooks could not be changed, so nothing is denied: {error:#}");
                ToolHooks { in_order: false, sentence }
            }
        }
    }
}

fn describe(handlers: ToolHandlers, active: bool, registrar: &Registrar) -> ToolHooks {
    let (path, program) = (registrar.settings_path().display(), registrar.program());
    let in_order = !active || matches!(handlers, ToolHandlers::Rewritten | ToolHandlers::Right);
    let sentence = match handlers {
        ToolHandlers::Rewritten | ToolHandlers::Right if active => {
            format!("Claude Code waits for Flightdeck before each tool call (hooks in {path})")
        }
        ToolHandlers::Missing if active => {
            format!(
                "No hooks of this home are in {path}, so nothing is denied: run `{program} hooks install`"
            )
        }
        ToolHandlers::Deaf if active => {
            format!(
                "The hooks in {path} use curl and discard replies, so nothing is denied: run `{program} hooks install --via shim`"
            )
        }
        _ => "Claude Code no longer waits for Flightdeck before tool calls".to_owned(),
    };
    ToolHooks { in_order, sentence }
}
