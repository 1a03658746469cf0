// Generated from flightdeck-core by `cargo xtask gen`. Do not edit.
export type OneOrMany = string | Array<string>;
