//! The fleet as a whole.

use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::fleet_history::FleetHistory;
use flightdeck_protocol::fleet::{FleetOverview, GetFleet, GetFleetHistory};
use flightdeck_protocol::seats::{ListSeats, SeatList};

use super::{App, AppError, AppReply, Encoded, Handle};
use crate::clock;

/// How far back the history goes unless the request says otherwise.
const HISTORY_BACK: Millis = Millis::hours(8);

impl Handle<GetFleet> for App {
    async fn handle(&self, _: GetFleet) -> Result<AppReply<FleetOverview>, AppError> {
        Ok(self.engine.overview().await?.into())
    }
}

impl Handle<ListSeats> for App {
    async fn handle(&self, _: ListSeats) -> Result<AppReply<SeatList>, AppError> {
        Ok(SeatList { seats: self.engine.seats().await? }.into())
    }
}

impl Handle<GetFleetHistory> for App {
    async fn handle(&self, request: GetFleetHistory) -> Result<AppReply<FleetHistory>, AppError> {
        let since = match request.since {
            Some(text) => Timestamp::parse(&text)
                .ok_or_else(|| AppError::Invalid("`since` is not an RFC 3339 time".into()))?,
            None => clock::now() - HISTORY_BACK,
        };
        Ok(Encoded::new(self.engine.history(since).await?).into())
    }
}
