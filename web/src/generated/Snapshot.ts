// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Session } from "./Session";

/**
 * The whole board, at the beginning of a stream.
 */
export type Snapshot = { boot: string; n: number; sessions: Array<Session> };
