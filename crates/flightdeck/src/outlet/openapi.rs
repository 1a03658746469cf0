//! `GET /api/openapi.json`: the routes, for tools that read such things. A test compares it with the router.

use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// Method, path, what it does, what it answers.
pub type Route = (&'static str, &'static str, &'static str, &'static [(u16, &'static str)]);

pub const ROUTES: &[Route] = &[
    (
        "post",
        "/api/live/hook",
        "Take a hook payload",
        &[
            (200, "The verdict, where x-flightdeck-hold: 1 asked to wait for one"),
            (204, "Stored; x-flightdeck-seq says where"),
            (400, "Not a payload"),
            (413, "Over 64 MB"),
            (503, "Could not be stored"),
        ],
    ),
    (
        "post",
        "/hook/{event}",
        "Take a hook payload; the path names the event if the body does not",
        &[(204, "Stored"), (400, "Not a payload")],
    ),
    (
        "get",
        "/hook/status",
        "Whether our hooks are in place, and what came through them; wanted: somebody asked for hooks; stale: ours, but \
         not as we would write them; problem: why the file cannot be used; fix: the one command that puts it \
         right; simulated: the sessions are made up, hooks are left out on purpose; program: what to type to run the \
         daemon's own binary",
        &[(200, "Status")],
    ),
    (
        "get",
        "/api/live/stream",
        "The board as an event stream: a snapshot, then every change (session_discovered, session_updated, \
         session_completed, session_removed: it left Done, ask_opened, ask_closed, gap); Last-Event-ID replays",
        &[(200, "text/event-stream")],
    ),
    (
        "get",
        "/api/sessions",
        "The board; all=1 adds every session that left it, stored or replaced, paged by before and limit",
        &[(200, "Sessions")],
    ),
    (
        "get",
        "/api/sessions/{id}",
        "One session; replaced_by: the session that went on in its process; agent_state.role: the colour of its state; \
         takes: what can be typed into its terminal now",
        &[(200, "Session"), (404, "No such session")],
    ),
    (
        "get",
        "/api/sessions/{id}/events",
        "Its events, oldest first; after, or before for the newest; limit, payload=1; by_person: a prompt that a person wrote",
        &[(200, "Events")],
    ),
    (
        "get",
        "/api/sessions/{id}/explain",
        "Why it is where it is",
        &[(200, "Explanation"), (404, "No such session")],
    ),
    (
        "get",
        "/api/sessions/{id}/numbers",
        "Its context and cost over time, oldest first, at most 240 points: at, context_tokens, usd_micros so far",
        &[(200, "Points"), (404, "No such session")],
    ),
    (
        "post",
        "/api/sessions/{id}/seen",
        "The person opened the card",
        &[(202, "Noted"), (404, "No such session")],
    ),
    ("get", "/api/asks/{id}", "One ask, whole", &[(200, "Ask"), (404, "No such ask")]),
    (
        "post",
        "/api/asks/{id}/answer",
        "Answer it: decision, and message, interrupt, updated_permissions, answers, content or mode as it needs",
        &[
            (200, "Resolution"),
            (404, "No such ask"),
            (409, "Already decided, or only the terminal can answer"),
            (422, "The answer does not fit the ask"),
        ],
    ),
    (
        "post",
        "/api/sessions/{id}/prompt",
        "Type the next prompt into its tmux pane: text; as=command|text; draft=keep|replace",
        &[
            (202, "Typed; confirmed says whether the client has taken it"),
            (400, "No text, or not understood"),
            (404, "No such session"),
            (409, "Not now: error, message, and what to ask the person (confirm, draft, choices, resume)"),
        ],
    ),
    (
        "post",
        "/api/sessions/{id}/interrupt",
        "Press Esc in its tmux pane; with stop=true end the client. Both need confirm=true",
        &[(202, "Done; confirmed says whether it has stopped"), (404, "No such session"), (409, "Not now")],
    ),
    (
        "post",
        "/api/sessions/{id}/focus",
        "Bring its terminal to the front",
        &[(202, "In front"), (404, "No such session"), (409, "Not now")],
    ),
    (
        "get",
        "/api/fleet",
        "How many sessions are where, and the rate limits of the subscription where known",
        &[(200, "Overview")],
    ),
    (
        "get",
        "/api/fleet/history",
        "What every session on the board did since a time (since, else eight hours ago): spans of one state each",
        &[(200, "Spans of state")],
    ),
    (
        "get",
        "/api/usage",
        "What was spent, and the rate limits where known; since=today, 7d, a date or a time; by=hour, day, project, model or session gives rows, with offset and limit; refresh=true looks at the disk first",
        &[(200, "Report"), (400, "since or by is not understood")],
    ),
    ("get", "/healthz", "Whether events can be stored", &[(200, "ok"), (503, "degraded")]),
    ("get", "/metrics", "Prometheus text", &[(200, "Metrics")]),
    ("get", "/api/openapi.json", "This document", &[(200, "OpenAPI")]),
];

pub async fn document() -> Response {
    axum::Json(openapi()).into_response()
}

pub fn openapi() -> Value {
    let mut paths = Map::new();
    for (method, path, summary, answers) in ROUTES {
        let responses: Map<String, Value> =
            answers.iter().map(|(code, text)| (code.to_string(), json!({ "description": text }))).collect();
        let mut operation =
            json!({ "summary": summary, "responses": responses, "parameters": parameters(path) });
        if *method == "post" {
            operation["requestBody"] =
                json!({ "content": { "application/json": { "schema": { "type": "object" } } } });
        }
        let entry = paths.entry(path.to_string()).or_insert_with(|| json!({}));
        entry[*method] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Flightdeck", "version": env!("CARGO_PKG_VERSION") },
        "paths": paths,
    })
}

fn parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names
        .map(|n| json!({ "name": n, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect()
}
