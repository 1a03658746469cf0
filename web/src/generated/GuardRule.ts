// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { GuardAction } from "./GuardAction";
import type { GuardCondition } from "./GuardCondition";

/**
 * A rule about a tool call. Unknown fields and operators are refused when the rule is saved.
 */
export type GuardRule = {
  id: string;
  when: GuardCondition;
  then: GuardAction;
  message: string | null;
  once: boolean;
  priority: number;
};
