// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The rule is in config.toml and applies from the next request on.
 */
export type RuleAdded = { rule: string; added: boolean; enabled: boolean; rules: number; path: string };
