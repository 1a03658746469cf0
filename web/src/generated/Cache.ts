// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { CacheStatus } from "./CacheStatus";

export type Cache = { status: CacheStatus; expires_at: string | null };
