// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { NumbersPoint } from "./NumbersPoint";

/**
 * Oldest first.
 */
export type Numbers = { points: Array<NumbersPoint> };
