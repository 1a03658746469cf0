export type Resolution = { how: string; by: string | null; at: string };
