// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Keys were pressed, or a process was told to end.
 */
export type Pressed = { confirmed: boolean; message: string };
