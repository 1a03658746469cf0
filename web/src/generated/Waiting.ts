// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { WaitKind } from "./WaitKind";

export type Waiting = { kind: WaitKind; label: string; icon: string; counts: boolean };
