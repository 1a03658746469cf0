//! The policy: its answers take the same way as a person's, and the first answer wins.

use flightdeck_core::approval::answer::Answer;
use flightdeck_core::ids::AskId;
use flightdeck_core::log::approvals::ANSWERED;
use flightdeck_core::log::record::Record;
use flightdeck_core::wire::hook_name::HookName;
use flightdeck_protocol::policy::{GetPolicyHistory, PolicyEvent, PolicyHistory};

use super::{App, AppError, AskError, Handle, Reply};
use crate::store::EventsNamed;

impl App {
    /// In a task of its own: the hook is first told that it is held.
    pub(super) fn answer_by_policy(&self, ask_id: &AskId, answer: Answer) {
        let (app, ask_id) = (self.clone(), ask_id.clone());
        tokio::spawn(async move {
            let rule = answer.rule.clone().unwrap_or_default();
            match app.answer_ask(&ask_id, answer).await {
                Ok(ended) => tracing::info!(ask = %ask_id, rule, how = ?ended.how, "answered by policy"),
                // Another answer was first, or the request came too late to open an ask.
                Err(error @ (AskError::Over(_) | AskError::NotHeld | AskError::Unknown(_))) => {
                    tracing::debug!(ask = %ask_id, rule, %error, "the policy had nothing to answer");
                }
                Err(error) => tracing::warn!(ask = %ask_id, rule, %error, "the policy could not answer"),
            }
        });
    }
}

impl Handle<GetPolicyHistory> for App {
    async fn handle(&self, request: GetPolicyHistory) -> Result<Reply<PolicyHistory>, AppError> {
        let names = [HookName::PermissionRequest.as_str(), ANSWERED];
        let wanted = EventsNamed { names, after_seq: request.after.unwrap_or(0) };
        let page = self.store.events_named(wanted).await?;
        let events = page.records.into_iter().map(policy_event).collect();
        Ok(PolicyHistory { events, next_after: page.next }.into())
    }
}

fn policy_event(record: Record) -> PolicyEvent {
    PolicyEvent {
        id: record.id.to_string(),
        session_id: record.session_id().cloned(),
        received_at: record.received_at,
        name: record.name,
        agent_id: record.agent_id,
        project_dir: record.envelope.project_dir,
        entrypoint: record.envelope.entrypoint,
        payload: record.payload,
    }
}
