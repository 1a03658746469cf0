export type Project = { name: string; path: string | null; worktree: string | null };
