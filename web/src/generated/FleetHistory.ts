// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { FleetHistoryRow } from "./FleetHistoryRow";

/**
 * The last hours of every session.
 */
export type FleetHistory = { sessions: Array<FleetHistoryRow> };
