// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { FleetSpan } from "./FleetSpan";

export type FleetHistoryRow = { id: string; title: string | null; project: string; spans: Array<FleetSpan> };
