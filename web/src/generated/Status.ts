// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { StatusKind } from "./StatusKind";

export type Status = { kind: StatusKind; detail: string | null; reason: string | null };
