// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * What waits on disk for a daemon.
 */
export type SpoolStatus = { files: number; bytes: number; dropped: number };
