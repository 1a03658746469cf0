// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { HealthStatus } from "./HealthStatus";

export type HealthReport = { status: HealthStatus; reasons: Array<string> };
