// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type Tokens = {
  input: number;
  output: number;
  cache_read: number;
  cache_creation_5m: number;
  cache_creation_1h: number;
};
