import type { Session } from "./Session";

export type Snapshot = { boot: string; n: number; sessions: Array<Session> };
