// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Session } from "./Session";

/**
 * The board, and where a page of all sessions goes on.
 */
export type SessionList = { boot: string; n: number; sessions: Array<Session>; next_before?: string | null | null };
