//! Pages of efforts: the active ones, then the finished ones, each the newest first. The fleet has the active ones, and the store the
//! finished ones.

use std::fmt;

use flightdeck_core::effort::Lifecycle;
use flightdeck_core::view::effort::EffortCard;
use flightdeck_protocol::efforts::{EffortList, ListEfforts};

use super::{App, AppError, AppReply, Handle};
use crate::store::{EffortCursor, EffortFilter, EffortPage, EffortsWanted};

/// Most rows of one page, however many were asked for.
const PAGE_ROWS_MAX: usize = 200;
/// Finished efforts on a page if the request names no limit. The page then has all active efforts too, because a person has few.
const FINISHED_ROWS: usize = 50;

/// The cursor at which a page begins. Clients send its text back unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PageBegin {
    /// After this active effort.
    Active(EffortCursor),
    /// After this finished effort.
    Finished(EffortCursor),
}

const ACTIVE: &str = "active-";

impl PageBegin {
    fn parse(text: &str) -> Result<Self, AppError> {
        let begin = match text.strip_prefix(ACTIVE) {
            Some(text) => EffortCursor::parse(text).map(Self::Active),
            None => EffortCursor::parse(text).map(Self::Finished),
        };
        begin.ok_or_else(|| AppError::Invalid("`before` is not a cursor".into()))
    }
}

impl fmt::Display for PageBegin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Active(cursor) => write!(f, "{ACTIVE}{cursor}"),
            Self::Finished(cursor) => cursor.fmt(f),
        }
    }
}

/// The rows of a page, and where the next one begins.
type Rows = (Vec<EffortCard>, Option<PageBegin>);

impl Handle<ListEfforts> for App {
    async fn handle(&self, request: ListEfforts) -> Result<AppReply<EffortList>, AppError> {
        let lifecycle = lifecycle(request.lifecycle.as_deref())?;
        let begin = request.before.as_deref().map(PageBegin::parse).transpose()?;
        let limit = request.limit.map(|limit| limit.clamp(1, PAGE_ROWS_MAX));
        let filter = EffortFilter { dir: request.dir, skill: request.skill, seat: request.seat };
        let (mut cards, mut next) = match &begin {
            Some(PageBegin::Finished(_)) => (Vec::new(), None),
            _ if lifecycle == Some(Lifecycle::Finished) => (Vec::new(), None),
            None => self.active_page(&filter, None, limit).await?,
            Some(PageBegin::Active(before)) => self.active_page(&filter, Some(before.clone()), limit).await?,
        };
        if next.is_none() && lifecycle != Some(Lifecycle::Active) {
            let before = match begin {
                Some(PageBegin::Finished(cursor)) => Some(cursor),
                _ => None,
            };
            let room = limit.map_or(FINISHED_ROWS, |limit| limit - cards.len());
            let (finished, after) = self.finished_page(filter, before, room, cards.last()).await?;
            cards.extend(finished);
            next = after;
        }
        let mut efforts = Vec::with_capacity(cards.len());
        for card in cards {
            efforts.push(self.priced_effort(card).await?);
        }
        Ok(EffortList { efforts, next_before: next.map(|begin| begin.to_string()) }.into())
    }
}

impl App {
    async fn active_page(
        &self,
        filter: &EffortFilter,
        before: Option<EffortCursor>,
        limit: Option<usize>,
    ) -> Result<Rows, AppError> {
        let (lifecycle, filter) = (Some(Lifecycle::Active), filter.clone());
        let wanted = EffortsWanted { lifecycle, filter, before, limit: limit.unwrap_or(usize::MAX) };
        let read = self.engine.read(move |fleet| {
            let page = EffortPage::of(fleet.efforts(), &wanted);
            let cards = page.efforts.iter().map(|effort| EffortCard::new(effort, Some(fleet))).collect();
            (cards, page.next_before.map(PageBegin::Active))
        });
        Ok(read.await?)
    }

    /// The finished efforts of a page that has `room` for this many. Without room, the next page begins after the active effort `last`.
    async fn finished_page(
        &self,
        filter: EffortFilter,
        before: Option<EffortCursor>,
        room: usize,
        last: Option<&EffortCard>,
    ) -> Result<Rows, AppError> {
        let lifecycle = Some(Lifecycle::Finished);
        let page =
            self.store.efforts(EffortsWanted { lifecycle, filter, before, limit: room.max(1) }).await?;
        if room == 0 {
            let last = last.map(|card| EffortCursor { started_at: card.started_at, id: card.id.clone() });
            let next = last.filter(|_| !page.efforts.is_empty()).map(PageBegin::Active);
            return Ok((Vec::new(), next));
        }
        let cards = page.efforts.iter().map(|effort| EffortCard::new(effort, None)).collect();
        Ok((cards, page.next_before.map(PageBegin::Finished)))
    }
}

fn lifecycle(word: Option<&str>) -> Result<Option<Lifecycle>, AppError> {
    match word {
        None | Some("all") => Ok(None),
        Some("active") => Ok(Some(Lifecycle::Active)),
        Some("finished") => Ok(Some(Lifecycle::Finished)),
        Some(_) => Err(AppError::Invalid("`lifecycle` is not one of: active, finished, all".into())),
    }
}
