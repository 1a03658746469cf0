// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Because } from "./Because";
import type { DetectedIntent } from "./DetectedIntent";
import type { Group } from "./Group";
import type { HistoryStep } from "./HistoryStep";
import type { Process } from "./Process";
import type { StateName } from "./StateName";

export type Explanation = {
  id: string;
  state: StateName;
  group: Group;
  label: string;
  since: string;
  because: Because;
  intent: DetectedIntent | null;
  history: Array<HistoryStep>;
  processes: Array<Process>;
};
