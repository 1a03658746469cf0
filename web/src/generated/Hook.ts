// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { JsonValue } from "./JsonValue";

/**
 * A hook payload, as the client wrote it.
 */
export type Hook = { [key in string]: JsonValue };
