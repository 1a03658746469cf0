// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type Seat = {
  pid: number | null;
  pane: string | null;
  tmux_socket: string | null;
  name: string | null;
  host: string | null;
};
