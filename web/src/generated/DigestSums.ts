// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Numbers of assignments. A completed assignment counts at the time of its completion, an open one at the present.
 */
export type DigestSums = {
  completed: number;
  ended: number;
  died: number;
  working: number;
  waiting: number;
  working_seconds: number;
  waiting_seconds: number;
};
