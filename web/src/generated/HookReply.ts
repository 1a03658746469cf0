// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { JsonValue } from "./JsonValue";

/**
 * The hook's event is stored. If it is held, a second frame with the verdict follows within `hold_ms`.
 */
export type HookReply = { seq: number; hold_ms: number; verdict: JsonValue | null };
