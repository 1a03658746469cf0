// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Assignment } from "./Assignment";

export type AssignmentList = { assignments: Array<Assignment>; next_before: string | null };
