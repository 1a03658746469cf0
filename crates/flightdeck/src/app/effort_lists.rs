//! Workstreams, windows, messages, seats and directives of efforts.

use std::path::PathBuf;

use flightdeck_core::effort::{EffortChange, EffortRefused};
use flightdeck_core::fleet::Fleet;
use flightdeck_core::ids::{EffortId, MessageId, SeatId, SeatName};
use flightdeck_core::limits::{EFFORT_TEXT_BYTES_MAX, HANDOFF_BYTES_MAX};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::view;
use flightdeck_core::view::effort::{EffortCard, WindowCard, WorkstreamCard};
use flightdeck_core::view::lens::FleetStatus;
use flightdeck_core::view::seats::KnownSeatCard;
use flightdeck_protocol::efforts::*;

use super::efforts::{checked_name, checked_seat_name, checked_text};
use super::{App, AppError, AppReply, Handle};
use crate::clock;
use crate::skills::directives::SearchRoot;
use crate::store::MessagesWanted;

/// The kind of message that a log entry is.
const LOG_KIND: &str = "log";
const MESSAGES: usize = 50;
const MESSAGES_MAX: usize = 500;

impl Handle<ListWorkstreams> for App {
    async fn handle(&self, _: ListWorkstreams) -> Result<AppReply<WorkstreamList>, AppError> {
        let read = |fleet: &Fleet| {
            let card = |(dir, workstream)| WorkstreamCard::new(dir, workstream, fleet);
            fleet.workstreams().map(card).collect()
        };
        Ok(WorkstreamList { workstreams: self.engine.read(read).await? }.into())
    }
}

impl Handle<GetWorkstream> for App {
    async fn handle(&self, request: GetWorkstream) -> Result<AppReply<WorkstreamCard>, AppError> {
        let dir = request.dir.trim_end_matches('/');
        let dir = if dir.is_empty() { "/" } else { dir };
        if let Some(card) = self.workstream_card(dir.to_owned()).await? {
            return Ok(card.into());
        }
        // Workstreams are named by their real paths.
        let real = self.real_dirs.find(dir).await;
        let card = match real.filter(|real| real != dir) {
            Some(real) => self.workstream_card(real).await?,
            None => None,
        };
        card.map(Into::into).ok_or(AppError::NoWorkstream(request.dir))
    }
}

impl App {
    async fn workstream_card(&self, dir: String) -> Result<Option<WorkstreamCard>, AppError> {
        let read = move |fleet: &Fleet| {
            let found = fleet.workstreams().find(|(known, _)| *known == dir);
            found.map(|(dir, workstream)| WorkstreamCard::new(dir, workstream, fleet))
        };
        Ok(self.engine.read(read).await?)
    }
}

impl Handle<ListWindows> for App {
    async fn handle(&self, request: ListWindows) -> Result<AppReply<WindowList>, AppError> {
        let effort = self.effort_card(&request.effort).await?;
        let windows = effort.windows.iter().map(|window| window.clone().with_payload_of(&effort));
        Ok(WindowList { windows: windows.collect() }.into())
    }
}

impl App {
    async fn window_card(&self, id: &flightdeck_core::ids::WindowId) -> Result<WindowCard, AppError> {
        let wanted = id.clone();
        let read = move |fleet: &Fleet| {
            let effort = fleet.effort_of_window(&wanted)?;
            let card = WindowCard::new(effort.window(&wanted)?, Some(fleet));
            Some(card.with_payload_of(&EffortCard::new(effort, None)))
        };
        if let Some(card) = self.engine.read(read).await? {
            return Ok(card);
        }
        let stored = self.store.window(id).await?.map(|window| WindowCard::new(&window, None));
        Ok(stored.ok_or_else(|| EffortRefused::NoWindow(id.clone()))?)
    }
}

impl Handle<GetWindow> for App {
    async fn handle(&self, request: GetWindow) -> Result<AppReply<WindowCard>, AppError> {
        Ok(self.window_card(&request.id).await?.into())
    }
}

impl Handle<FinishWindow> for App {
    async fn handle(&self, request: FinishWindow) -> Result<AppReply<WindowCard>, AppError> {
        let FinishWindow { id, dehydration_payload } = request;
        let payload = dehydration_payload
            .map(|payload| checked_text("dehydration_payload", payload, HANDOFF_BYTES_MAX))
            .transpose()?;
        let wanted = id.clone();
        let effort =
            self.engine.read(move |fleet| fleet.effort_of_window(&wanted).map(|e| e.id.clone())).await?;
        let effort = effort.ok_or_else(|| EffortRefused::NoWindow(id.clone()))?;
        let leaves = payload.is_some();
        self.change_effort(&effort, EffortChange::WindowFinished { window: id.clone(), payload }).await?;
        if let Some(effort) = self.effort_now(&effort).await.filter(|_| leaves) {
            self.write_handoff_file(effort).await;
        }
        Ok(self.window_card(&id).await?.into())
    }
}

impl Handle<ClaimSeat> for App {
    async fn handle(&self, request: ClaimSeat) -> Result<AppReply<SeatEfforts>, AppError> {
        let ClaimSeat { name: seat, effort, parent } = request;
        let seat = checked_seat_name("name", &seat)?;
        let mut changes = Vec::new();
        if let Some(parent) = &parent {
            let change =
                EffortChange::SeatParent { seat: seat.clone(), parent: checked_seat_name("parent", parent)? };
            // The seat may not have been occupied yet and then has no id, so the subject contains its name.
            changes.push((Subject::Seat(SeatId::new(seat.as_str())), change));
        }
        let effort = match (effort, parent) {
            (Some(effort), _) => Some(effort),
            (None, Some(_)) => None,
            (None, None) => Some(self.newest_unclaimed().await?),
        };
        if let Some(effort) = effort {
            changes.push((Subject::Effort(effort), EffortChange::SeatClaimed { seat: seat.clone() }));
        }
        self.append_changes(changes).await?;
        self.seat_efforts(seat).await
    }
}

impl Handle<ReleaseSeat> for App {
    async fn handle(&self, request: ReleaseSeat) -> Result<AppReply<SeatEfforts>, AppError> {
        let seat = checked_seat_name("name", &request.name)?;
        let efforts = match request.effort {
            Some(effort) => vec![effort],
            None => self.efforts_of_seat(&seat).await?,
        };
        let released = |effort| {
            let change = EffortChange::SeatReleased { seat: Some(seat.clone()) };
            (Subject::Effort(effort), change)
        };
        self.append_changes(efforts.into_iter().map(released).collect()).await?;
        self.seat_efforts(seat).await
    }
}

impl App {
    async fn newest_unclaimed(&self) -> Result<EffortId, AppError> {
        let read = |fleet: &Fleet| {
            let unclaimed = fleet.efforts().filter(|effort| effort.is_active() && effort.seat.is_none());
            unclaimed
                .max_by_key(|effort| (effort.started_at, effort.id.clone()))
                .map(|effort| effort.id.clone())
        };
        let none = || AppError::Invalid("`effort` is missing, and no active effort is without a seat".into());
        self.engine.read(read).await?.ok_or_else(none)
    }

    async fn efforts_of_seat(&self, seat: &SeatName) -> Result<Vec<EffortId>, AppError> {
        let seat = seat.clone();
        let read = move |fleet: &Fleet| {
            let of_seat = fleet.efforts().filter(|e| e.is_active() && e.seat.as_ref() == Some(&seat));
            of_seat.map(|effort| effort.id.clone()).collect()
        };
        Ok(self.engine.read(read).await?)
    }

    async fn seat_efforts(&self, seat: SeatName) -> Result<AppReply<SeatEfforts>, AppError> {
        let efforts = self.efforts_of_seat(&seat).await?;
        Ok(SeatEfforts { name: seat.into(), efforts }.into())
    }
}

impl Handle<AppendMessage> for App {
    async fn handle(&self, request: AppendMessage) -> Result<AppReply<MessageFiled>, AppError> {
        let AppendMessage { effort, text: said, kind } = request;
        let (kind, said) = (checked_kind(&kind)?, checked_text("text", said, EFFORT_TEXT_BYTES_MAX)?);
        let id = clock::fresh_id();
        let change = EffortChange::MessageAppended { kind, text: said };
        self.append_change(Subject::Effort(effort), change, id).await?;
        Ok(MessageFiled { id: MessageId::new(format!("m-{id}")) }.into())
    }
}

/// The kind of a message from outside. The log file is written from the messages of the kind `log`, and a log entry resets the heartbeat, so
/// only `effort.log` adds one.
fn checked_kind(kind: &str) -> Result<String, AppError> {
    let kind = checked_name("kind", kind)?;
    if kind == LOG_KIND {
        let why = format!(
            "`kind` may not be {LOG_KIND:?}: add a log entry with effort.log, or use another word, for example note, decision or question"
        );
        return Err(AppError::Invalid(why));
    }
    Ok(kind)
}

impl Handle<ListEffortMessages> for App {
    async fn handle(&self, request: ListEffortMessages) -> Result<AppReply<EffortMessageList>, AppError> {
        let ListEffortMessages { effort, kind, before, limit } = request;
        self.whole_effort(&effort).await?;
        let limit = limit.unwrap_or(MESSAGES).clamp(1, MESSAGES_MAX);
        let wanted = MessagesWanted { effort, kind, before, limit: limit + 1 };
        let mut messages = self.store.effort_messages(wanted).await?;
        let more = messages.len() > limit;
        messages.drain(..messages.len().saturating_sub(limit));
        let next_before = messages.first().filter(|_| more).map(|message| message.id.clone());
        Ok(EffortMessageList { messages, next_before }.into())
    }
}

impl Handle<GetFleetStatus> for App {
    async fn handle(&self, _: GetFleetStatus) -> Result<AppReply<FleetSeats>, AppError> {
        let mut seats = self.engine.read(seat_statuses).await?;
        seats.sort_by_key(|seat| (seat.seat.status, !seat.seat.occupied));
        let status = seats.iter().map(|seat| seat.seat.status).min().unwrap_or(FleetStatus::Done);
        Ok(FleetSeats { status, seats }.into())
    }
}

fn seat_statuses(fleet: &Fleet) -> Vec<SeatStatus> {
    let status = |mut seat: KnownSeatCard| {
        let of_session = fleet.effort_of_session(&seat.session_id);
        let effort = seat.name.as_ref().and_then(|name| fleet.effort_for(Some(name), None)).or(of_session);
        let session = fleet.get(&seat.session_id).filter(|_| seat.occupied);
        if let Some(worst) = session.and_then(|session| view::effort::seat_status(fleet, &session.id)) {
            seat.status = worst;
        }
        SeatStatus {
            effort: effort.map(|effort| effort.id.clone()),
            skill: effort.map(|effort| effort.skill.clone()),
            phase: effort.and_then(|effort| effort.phase()).map(|phase| phase.name.clone()),
            label: session.map(|session| view::card(session, fleet.settings()).agent_state.label),
            seat,
        }
    };
    view::seats::seat_cards(fleet).into_iter().map(status).collect()
}

impl Handle<DiscoverDirectives> for App {
    async fn handle(&self, request: DiscoverDirectives) -> Result<AppReply<DirectiveList>, AppError> {
        let DiscoverDirectives { files, root, effort } = request;
        let known = match &effort {
            Some(id) => Some(self.whole_effort(id).await?),
            None => None,
        };
        let workstream = known.as_ref().map(|effort| effort.workstream.clone().into());
        let root = match (root, workstream) {
            (Some(root), _) => SearchRoot::Folder(root.into()),
            (None, Some(dir)) => SearchRoot::ProjectOf(dir),
            (None, None) => SearchRoot::ProjectOfFile,
        };
        let names = known.as_ref().map(|effort| effort.settings.directives.clone()).unwrap_or_default();
        let files = files.into_iter().map(PathBuf::from).collect();
        let directives = self.discover_directives(files, root, names).await;
        let new = |effort: &flightdeck_core::effort::Effort| {
            directives.iter().any(|d| !effort.directives.contains(d))
        };
        if let Some(effort) = known.filter(new) {
            let change = EffortChange::DirectivesFound { files: directives.clone() };
            self.change_effort(&effort.id, change).await?;
        }
        Ok(DirectiveList { directives }.into())
    }
}
