// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Something that happened in an effort, or that was said. `kind` is log, phase, handoff, handoff_delivered, held (by the
 * heartbeat), denial (by a rule), dialogue, failure, todo, signal, injection, finished, or a kind that the sender chose.
 */
export type EffortMessage = { id: string; at: string; kind: string; text: string; window: string | null };
