/** Times of an assignment. While it is open, one of them grows, and the page counts on from what it was sent. */
import type { Assignment } from "../generated/Assignment";
import type { AssignmentBrief } from "../generated/AssignmentBrief";
import { time } from "../lib/clock";

/** An assignment, and when the page read it: its seconds are as of then. */
export type Reading = { assignment: Assignment; readAt: number };

export type Times = { workingMs: number; waitingMs: number };

export function timesAt({ assignment, readAt }: Reading, now: number): Times {
  const { state, working_seconds, waiting_seconds } = assignment;
  const since = state === "complete" ? 0 : Math.max(0, now - readAt);
  const waits = state === "awaiting_input";
  return {
    workingMs: working_seconds * 1000 + (waits ? 0 : since),
    waitingMs: waiting_seconds * 1000 + (waits ? since : 0),
  };
}

/** The seconds of a card end with `since`, so that they do not change while nothing happens. */
export const briefWaitedMs = ({ state, since, waiting_seconds }: AssignmentBrief, now: number): number =>
  waiting_seconds * 1000 + (state === "awaiting_input" ? Math.max(0, now - time(since)) : 0);
