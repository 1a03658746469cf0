// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { KnownSeat } from "./KnownSeat";

export type SeatList = { seats: Array<KnownSeat> };
