//! Recognises our handlers in a settings file and reads back how they were registered.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value};

use super::base_url::BaseUrl;

/// The end of each of our commands.
pub(super) const COMMAND_SENTINEL: &str = "# flightdeck-hook";
/// Part of the query of each of our URLs.
pub(super) const URL_SENTINEL: &str = "via=flightdeck-hook";
/// The environment variable from which handlers take the token.
pub(super) const TOKEN_VARIABLE: &str = "FLIGHTDECK_TOKEN";
/// The member of a handler with what the client's spinner shows while it runs.
pub(super) const MESSAGE_KEY: &str = "statusMessage";

/// How Claude Code sends us its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// This program as a command hook; keeps events while the daemon is down
    #[default]
    Shim,
    /// Claude Code's own http hooks for frequent events; fastest, but events are lost while the daemon is down, and with
    /// --url the board cannot answer permission requests
    Http,
    /// curl as a command hook, for containers and remote hosts; the board cannot answer permission requests
    Curl,
}

impl Via {
    pub fn as_str(self) -> &'static str {
        match self {
            Via::Shim => "shim",
            Via::Http => "http",
            Via::Curl => "curl",
        }
    }
}

/// What is registered now, as read from the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledHooks {
    pub via: Via,
    /// Where http and curl handlers send to.
    pub url: Option<BaseUrl>,
    /// The handlers send the token.
    pub token: bool,
    pub hold_seconds: Option<u32>,
}

impl InstalledHooks {
    /// The port, if the handlers send to this machine.
    pub fn port(&self) -> Option<u16> {
        self.url.as_ref().and_then(BaseUrl::local_port)
    }
}

/// Whether a handler in the file is ours, of any version.
pub(super) fn is_ours(handler: &Value) -> bool {
    let text = |key: &str| handler.get(key).and_then(Value::as_str).unwrap_or_default();
    // Only at the very end: a command of another tool may contain the sentinel.
    text("command").trim_end().ends_with(COMMAND_SENTINEL) || url_is_ours(text("url"))
}

fn url_is_ours(url: &str) -> bool {
    url.split_once('?').is_some_and(|(_, query)| is_query_of_http_handler(query))
}

/// Whether a request with this query comes from one of our http handlers. The client waits for the reply to those.
pub fn is_query_of_http_handler(query: &str) -> bool {
    query.split(['&', '#']).any(|pair| pair == URL_SENTINEL)
}

/// Whether two handlers do the same. Their messages may differ, because 0.1.0 wrote another one.
pub(super) fn works_like(one: &Value, other: &Value) -> bool {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return false };
    let has_all = |of: &Map<String, Value>, from: &Map<String, Value>| {
        of.iter().filter(|(key, _)| *key != MESSAGE_KEY).all(|(key, value)| from.get(key) == Some(value))
    };
    has_all(one, other) && has_all(other, one)
}

/// The transport of one of our handlers.
pub(super) fn via_of(handler: &Value) -> Via {
    match handler.get("command").and_then(Value::as_str) {
        None => Via::Http,
        // Our program's path is in quotes.
        Some(command) if command.starts_with('\'') => Via::Shim,
        Some(_) => Via::Curl,
    }
}

/// The home that one of our handlers reports to. http and curl handlers have none.
pub(super) fn home_of(handler: &Value) -> Option<PathBuf> {
    let (_, rest) = handler.get("command")?.as_str()?.split_once(" --home '")?;
    quoted_path(rest)
}

/// The path that `shell_quoted` wrote; `rest` starts after its first quote.
pub(super) fn quoted_path(rest: &str) -> Option<PathBuf> {
    // A path has no NUL, so NUL can stand for the escaped quotes.
    let rest = rest.replace(r"'\''", "\0");
    Some(rest.split_once('\'')?.0.replace('\0', "'").into())
}

/// The address that one of our handlers sends to, if it has one.
pub(super) fn url_of(handler: &Value) -> Option<BaseUrl> {
    BaseUrl::in_text(handler.get("url").or_else(|| handler.get("command"))?.as_str()?)
}

pub(super) fn sends_token(handler: &Value) -> bool {
    let in_command =
        handler.get("command").and_then(Value::as_str).is_some_and(|c| c.contains(TOKEN_VARIABLE));
    in_command || handler.get("allowedEnvVars").is_some()
}
