// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { By } from "./By";
import type { How } from "./How";

export type Resolution = { how: How; by: By | null; at: string; rule: string | null; message: string | null };
