// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Ask } from "./Ask";

export type AskList = { asks: Array<Ask> };
