// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * An assignment counts where it was completed; an open one counts now.
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
