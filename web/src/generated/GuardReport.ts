// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { DeniedCall } from "./DeniedCall";
import type { GuardReportRow } from "./GuardReportRow";

export type GuardReport = {
  calls: number;
  since: string | null;
  rules: Array<GuardReportRow>;
  denied: Array<DeniedCall>;
};
