/** A digest for tests to start from; each test sets only the fields it needs. */
import type { Digest } from "../src/generated/Digest";
import type { DigestSums } from "../src/generated/DigestSums";
import { at } from "./assignment";

export const NONE: DigestSums = {
  completed: 0,
  ended: 0,
  died: 0,
  working: 0,
  waiting: 0,
  working_seconds: 0,
  waiting_seconds: 0,
};
export const digest = (part: Partial<Digest> & { sums?: Partial<DigestSums> } = {}): Digest => ({
  since: at(0),
  until: at(30),
  projects: [],
  waiting: [],
  completed: [],
  ...part,
  total: { ...NONE, ...part.sums },
});
