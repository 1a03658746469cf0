// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type Project = { name: string; path: string | null; worktree: string | null };
