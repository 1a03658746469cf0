// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;
