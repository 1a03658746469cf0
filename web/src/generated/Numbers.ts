// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { NumbersPoint } from "./NumbersPoint";

/**
 * The points of a chart, oldest first.
 */
export type Numbers = { points: Array<NumbersPoint> };
