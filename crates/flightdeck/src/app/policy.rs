//! The policy: its answers take the same path as a person's, and the first answer wins.

use std::sync::Arc;

use flightdeck_core::approval::answer::Answer;
use flightdeck_core::approval::policy::{PolicyRequest, PolicyRule, suggested_rules};
use flightdeck_core::ids::AskId;
use flightdeck_core::log::approvals::ANSWERED;
use flightdeck_core::log::record::Record;
use flightdeck_core::view::policy_dry_run::{PolicyDryRun, PolicyReport};
use flightdeck_protocol::policy::{
    AddRule, GetPolicyHistory, PolicyEvent, PolicyHistory, PreviewRule, RuleAdded, RuleSuggestions,
    SuggestRules,
};

use super::{App, AppError, AppReply, AskError, Handle, Unavailable};
use crate::config::add_rule::AddRuleError;
use crate::store::{EventsNamed, RecordPage};

impl App {
    /// Answers an ask by the policy. Runs in a task of its own, because the hook must first be told that it is held.
    pub(super) fn answer_by_policy(&self, ask_id: &AskId, answer: Answer) {
        let (app, ask_id) = (self.clone(), ask_id.clone());
        tokio::spawn(async move {
            let rule = answer.rule.clone().unwrap_or_default();
            match app.answer_ask(&ask_id, answer).await {
                Ok(ended) => tracing::info!(ask = %ask_id, rule, how = ?ended.how, "answered by policy"),
                // Another answer came first, or the event was late and opened no ask.
                Err(error @ (AskError::Over(_) | AskError::NotHeld | AskError::Unknown(_))) => {
                    tracing::debug!(ask = %ask_id, rule, %error, "the policy's answer was not used: the ask was no longer open");
                }
                Err(error) => {
                    tracing::warn!(ask = %ask_id, rule, %error, "the policy could not answer; the ask waits for the person")
                }
            }
        });
    }
}

impl App {
    async fn policy_events(&self, after_seq: u64) -> Result<RecordPage, AppError> {
        const NAMES: &[&str] = &["PermissionRequest", ANSWERED];
        Ok(self.store.events_named(EventsNamed { names: NAMES, after_seq }).await?)
    }
}

impl Handle<SuggestRules> for App {
    async fn handle(&self, request: SuggestRules) -> Result<AppReply<RuleSuggestions>, AppError> {
        let ask = self.find_ask(&request.ask_id).await?;
        let record = self.store.event(ask.seq).await?;
        let rules = record.as_ref().and_then(PolicyRequest::from_record).map(|asked| suggested_rules(&asked));
        let enabled = self.config.current().policy.enabled;
        Ok(RuleSuggestions { enabled, rules: rules.unwrap_or_default() }.into())
    }
}

impl Handle<PreviewRule> for App {
    async fn handle(&self, request: PreviewRule) -> Result<AppReply<PolicyReport>, AppError> {
        let rule = PolicyRule::try_from(request.rule).map_err(AppError::Invalid)?;
        let present = self.config.current().policy.clone();
        let mut test = PolicyDryRun::of_new_rule(present, rule, self.hold_rules_now());
        let mut after = Some(0);
        while let Some(seq) = after {
            let page = self.policy_events(seq).await?;
            after = page.next;
            let recent =
                page.records.iter().filter(|r| request.since.is_none_or(|since| r.received_at >= since));
            recent.for_each(|record| test.add(record));
        }
        Ok(test.report().into())
    }
}

impl Handle<AddRule> for App {
    async fn handle(&self, request: AddRule) -> Result<AppReply<RuleAdded>, AppError> {
        let rule = PolicyRule::try_from(request.rule.clone()).map_err(AppError::Invalid)?;
        let live = Arc::clone(&self.config);
        let written = tokio::task::spawn_blocking(move || live.add_rule(&request.rule, request.enable)).await;
        let added =
            written.map_err(std::io::Error::other).map_err(Unavailable::Config)?.map_err(not_written)?;
        let policy = &self.config.current().policy;
        tracing::info!(%rule, added, enabled = policy.enabled, "a rule was added to the policy");
        Ok(RuleAdded {
            rule: rule.to_string(),
            added,
            enabled: policy.enabled,
            rules: policy.rules.len(),
            path: self.config.path().display().to_string(),
        }
        .into())
    }
}

fn not_written(error: AddRuleError) -> AppError {
    match error {
        AddRuleError::Refused { why } => AppError::Invalid(why),
        error => Unavailable::Config(std::io::Error::other(error.to_string())).into(),
    }
}

impl Handle<GetPolicyHistory> for App {
    async fn handle(&self, request: GetPolicyHistory) -> Result<AppReply<PolicyHistory>, AppError> {
        let page = self.policy_events(request.after.unwrap_or(0)).await?;
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
