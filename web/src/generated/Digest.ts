// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Assignment } from "./Assignment";
import type { DigestSums } from "./DigestSums";
import type { ProjectDigest } from "./ProjectDigest";

export type Digest = {
  since: string;
  until: string;
  total: DigestSums;
  projects: Array<ProjectDigest>;
  waiting: Array<Assignment>;
  completed: Array<Assignment>;
};
