//! Notifications: a test of the targets, an answer by a button, and which boards are visible.

use std::time::Duration;

use flightdeck_core::approval::answer::Answer;
use flightdeck_core::approval::card::ResolutionCard;
use flightdeck_core::approval::resolution::AnsweredBy;
use flightdeck_protocol::notify::{
    AnswerByKey, NotifyTest, NotifyTests, ReportVisibility, TestNotify, VisibilityNoted,
};

use super::{App, AppError, AppReply, AskError, Handle};
use crate::notify::TestResult;

/// Longest id that a page may report for itself.
const VIEWER_BYTES_MAX: usize = 64;
/// Most sessions that a page may report as visible. A page that shows more reports that it shows the whole board.
const SESSIONS_NAMED_MAX: usize = 2_000;
/// How often the notification settings are compared with config.toml.
const SETTINGS_CHECKED_EVERY: Duration = Duration::from_secs(1);

impl App {
    /// Applies changed notification settings until the daemon stops.
    pub async fn follow_note_settings(self) {
        loop {
            tokio::time::sleep(SETTINGS_CHECKED_EVERY).await;
            if self.notifier.use_settings(&self.config.current().notify) {
                let settings = self.notifier.settings().for_engine();
                if self.engine.use_note_settings(settings).await.is_err() {
                    return;
                }
            }
        }
    }
}

impl Handle<TestNotify> for App {
    async fn handle(&self, request: TestNotify) -> Result<AppReply<NotifyTests>, AppError> {
        let Some(results) = self.notifier.test(request.target.as_deref()).await else {
            let known: Vec<_> = self.notifier.status().into_iter().map(|target| target.name).collect();
            let name = request.target.unwrap_or_default();
            return Err(AppError::Invalid(format!(
                "no target is called {name:?}; known: {}",
                known.join(", ")
            )));
        };
        Ok(NotifyTests { results: results.into_iter().map(to_notify_test).collect() }.into())
    }
}

fn to_notify_test(TestResult { target, kind, result }: TestResult) -> NotifyTest {
    NotifyTest { target, kind: kind.to_owned(), error: result.err().map(|error| error.to_string()) }
}

impl Handle<AnswerByKey> for App {
    async fn handle(&self, request: AnswerByKey) -> Result<AppReply<ResolutionCard>, AppError> {
        let issued = self.notifier.keys.redeem(&request.key).ok_or(AppError::NoSuchKey)?;
        let answer = Answer::without_details(issued.decision, AnsweredBy::Api);
        let answered = self.answer_ask(&issued.ask_id, answer).await;
        if let Err(AskError::Unavailable(_)) = &answered {
            // Nothing was stored: the person may press the button again.
            self.notifier.keys.keep(issued);
        }
        Ok(answered?.into())
    }
}

impl Handle<ReportVisibility> for App {
    async fn handle(&self, request: ReportVisibility) -> Result<AppReply<VisibilityNoted>, AppError> {
        let ReportVisibility { viewer, visible, sessions } = request;
        if viewer.is_empty() || viewer.len() > VIEWER_BYTES_MAX {
            return Err(AppError::Invalid(format!("viewer must have 1 to {VIEWER_BYTES_MAX} bytes")));
        }
        if sessions.as_ref().is_some_and(|named| named.len() > SESSIONS_NAMED_MAX) {
            return Err(AppError::Invalid(format!("at most {SESSIONS_NAMED_MAX} sessions may be named")));
        }
        if visible {
            self.notifier.boards.report_visible(viewer, sessions.map(|named| named.into_iter().collect()));
        } else {
            self.notifier.boards.report_hidden(&viewer);
        }
        Ok(VisibilityNoted { wanted: !self.notifier.settings().targets.is_empty() }.into())
    }
}
