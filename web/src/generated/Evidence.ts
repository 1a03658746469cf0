// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { IntentRule } from "./IntentRule";

export type Evidence = { rule: IntentRule; line: string };
