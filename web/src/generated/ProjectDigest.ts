// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { DayDigest } from "./DayDigest";
import type { DigestSums } from "./DigestSums";

export type ProjectDigest = { project: string; sums: DigestSums; days: Array<DayDigest> };
