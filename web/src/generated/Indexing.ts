// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type Indexing = {
  files_total: number;
  files_left: number;
  bytes_left: number;
  bytes_read: number;
  paused: boolean;
};
