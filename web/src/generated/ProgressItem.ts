export type ProgressItem = { id: string; title: string; status: string };
