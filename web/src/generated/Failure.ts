export type Failure = { tool: string | null; error: string | null; at: string };
