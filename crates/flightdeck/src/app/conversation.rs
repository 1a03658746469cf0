//! The conversation of a session, from its transcript.

use flightdeck_core::view::conversation::ConversationPage;
use flightdeck_protocol::sessions::GetConversation;

use super::{App, AppError, AppReply, Handle, Unavailable};
use crate::transcripts::conversation::{PageError, read_page};

/// Most messages of one page, whatever limit the request names: with the longest texts a page has a few megabytes.
const PAGE_MESSAGES_MAX: usize = 200;
/// Messages of a page if the request names no limit: a few screens.
const PAGE_MESSAGES: usize = 50;

const NO_TRANSCRIPT: &str = "This session has no transcript on this machine";

impl Handle<GetConversation> for App {
    async fn handle(&self, request: GetConversation) -> Result<AppReply<ConversationPage>, AppError> {
        let GetConversation { session_id, before, limit } = request;
        let card = self.card(&session_id).await?;
        if let Some(owner) = self.owner_of(&card) {
            let session_id = card.id.without_host(&owner);
            return Ok(self.ask_owner(&owner, &GetConversation { session_id, before, limit }).await?.into());
        }
        let limit = limit.unwrap_or(PAGE_MESSAGES).min(PAGE_MESSAGES_MAX);
        let watch_list = self.watch_list.clone();
        let read = tokio::task::spawn_blocking(move || match watch_list.find_main(&card) {
            Some(path) => read_page(&path, before, limit),
            None => Ok(None),
        });
        let page = read.await.unwrap_or_else(|panic| Err(std::io::Error::other(panic).into()))?;
        Ok(page.unwrap_or_else(no_transcript).into())
    }
}

fn no_transcript() -> ConversationPage {
    ConversationPage { missing: Some(NO_TRANSCRIPT.to_owned()), ..ConversationPage::default() }
}

impl From<PageError> for AppError {
    fn from(error: PageError) -> Self {
        match error {
            PageError::NotACursor => Self::Invalid(error.to_string()),
            PageError::Io(error) => Self::Unavailable(Unavailable::Transcript(error)),
        }
    }
}
