//! The router and the OpenAPI document are made from one table: every row of it answers, and nothing else does.

use flightdeck_e2e::testkit::http::HttpRequest;
use flightdeck_protocol::changes::ChangeName;
use flightdeck_protocol::{Method, Route, openapi};
use serde_json::Value;

use crate::in_process::InProcessDaemon;

const STOP: &str = r#"{"session_id":"s","hook_event_name":"Stop"}"#;

fn request(deck: &InProcessDaemon, route: &Route, id: &str, body: &str) -> HttpRequest {
    let own =
        ["{id}", "{effort}", "{key}"].iter().fold(route.path.to_owned(), |path, name| path.replace(name, id));
    let path = own.replace("{event}", "stop");
    let request = HttpRequest::new(&route.method.as_str().to_ascii_uppercase(), &path).host(deck.addr);
    if route.method == Method::Post { request.json(body) } else { request }
}

#[test]
fn every_route_is_documented_and_nothing_else() {
    let document = InProcessDaemon::new().get("/api/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap().iter();
    let mut documented: Vec<(String, String)> = paths
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(move |m| (m.clone(), path.clone()))
        })
        .collect();
    documented.sort();
    let mut routed: Vec<_> =
        openapi::routes().map(|route| (route.method.as_str().to_owned(), route.path.to_owned())).collect();
    routed.sort();
    assert_eq!(documented, routed);
}

#[test]
fn a_path_that_is_not_in_the_table_is_404() {
    let deck = InProcessDaemon::new();
    deck.post(STOP);
    for path in ["/api", "/api/", "/api/session", "/api/sessions/s/nothing", "/api/asks", "/hook", "/health"]
    {
        assert_eq!(deck.get(path).status, 404, "{path}");
    }
}

#[test]
fn every_error_of_the_interface_has_a_json_body() {
    let deck = InProcessDaemon::new();
    let said = |answer: flightdeck_e2e::testkit::http::Response| {
        assert_eq!(answer.header("content-type"), Some("application/json"), "{}", answer.text());
        (answer.status, answer.json()["error"].as_str().unwrap().to_owned())
    };
    let none = "there is nothing at /api/nothing; /api/openapi.json lists all paths";
    assert_eq!(said(deck.get("/api/nothing")), (404, none.to_owned()));
    let wrong = "POST is not possible at /api/sessions; possible: GET,HEAD";
    let post = flightdeck_e2e::testkit::http::post(deck.addr, "/api/sessions", "{}");
    assert_eq!(said(post), (405, wrong.to_owned()));
    assert_eq!(said(deck.get("/hook/session-start")).0, 405);
    assert_eq!(said(deck.get("/api/sessions/unknown")).0, 404);
    for path in ["/healthz", "/metrics"] {
        let wrong = format!("POST is not possible at {path}; possible: GET,HEAD");
        let post = flightdeck_e2e::testkit::http::post(deck.addr, path, "{}");
        assert_eq!(said(post), (405, wrong));
    }
    // The page's own paths are for people.
    assert_eq!(deck.get("/nothing").header("content-type"), None);
}

#[test]
fn every_documented_route_answers_with_a_documented_status() {
    let deck = InProcessDaemon::new();
    deck.post(&STOP.replace("Stop", "UserPromptSubmit"));
    deck.post(STOP);
    let assignment = deck.get("/api/assignments").json()["assignments"][0]["id"].as_str().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let start = serde_json::json!({"cmd": "effort.start", "args": {"dir": folder.path(), "skill": "fix"}});
    let effort = deck.socket().ask(&start)["data"]["id"].as_str().unwrap().to_owned();
    for route in openapi::routes() {
        let Route { method, path, responses, .. } = route;
        // A stream never ends, an ask has to be open, and a rule has to be one: they have tests of their own.
        if *path == "/api/live/stream" || path.starts_with("/api/asks/") || path.starts_with("/api/policy/") {
            continue;
        }
        let id = match path.split('/').nth(2) {
            Some("assignments") => assignment.as_str(),
            Some("efforts") => effort.as_str(),
            _ => "s",
        };
        let answer = request(&deck, route, id, STOP).send(deck.addr);
        let documented = responses.iter().any(|(code, _)| *code == answer.status);
        assert!(documented, "{method:?} {path}: {}", answer.status);
        // The session has no terminal, and the payload is no prompt, no key of a button and no report of a page.
        let refusing = ["/prompt", "/interrupt", "/focus", "/api/notify/answer/{key}", "/api/notify/visible"];
        let refused = refusing.iter().any(|end| path.ends_with(end));
        assert!(refused || answer.status < 300, "{method:?} {path}: {}", answer.status);
        let json = answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
        assert!(!json || serde_json::from_slice::<Value>(&answer.body).is_ok(), "{method:?} {path}");
    }
}

#[test]
fn an_unknown_session_is_404_as_documented() {
    let deck = InProcessDaemon::new();
    for route in openapi::routes().filter(|route| route.responses.iter().any(|(code, _)| *code == 404)) {
        let status = request(&deck, route, "unknown", "{}").send(deck.addr).status;
        assert_eq!(status, 404, "{route:?}");
    }
}

/// The additions of decision 0012 are in the document, and the documented fields are sent.
#[test]
fn additions_to_the_interface_are_documented_and_sent() {
    let deck = InProcessDaemon::new();
    deck.post(r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x"}"#);
    let document = deck.get("/api/openapi.json").json();
    let has = |path: &str, at: &str, fields: &[&str]| {
        let answer = deck.get(&path.replace("{id}", "s")).json();
        let summary = document["paths"][path]["get"]["summary"].as_str().unwrap();
        for field in fields {
            assert!(answer.pointer(at).unwrap().get(field).is_some(), "{path}{at}/{field}: {answer}");
            assert!(summary.contains(field), "{path}: {field} is not documented");
        }
    };
    has("/hook/status", "", &["wanted", "stale", "problem", "fix", "simulated", "program"]);
    has("/api/sessions/{id}", "", &["replaced_by"]);
    has("/api/sessions/{id}", "/agent_state", &["role"]);
    has("/api/sessions/{id}/events", "/events/0", &["by_person"]);
    has("/api/fleet/history", "/sessions/0", &["spans"]);
    assert!(deck.get("/api/fleet").json()["running"] == 1);
    let stream = document["paths"]["/api/live/stream"]["get"]["summary"].as_str().unwrap();
    for name in ChangeName::ALL {
        assert!(stream.contains(name.as_str()), "{}", name.as_str());
    }
}

#[test]
fn a_hook_over_the_socket_may_be_in_camel_case() {
    let deck = InProcessDaemon::new();
    let args = serde_json::json!({"sessionId": "s", "hookEventName": "PreToolUse", "toolName": "Bash", "toolUseId": "t",
        "toolInput": {"command": "ls", "runInBackground": false}, "permissionMode": "plan"});
    let said = deck.socket().ask(&serde_json::json!({"cmd": "hook", "args": args}));
    assert_eq!(said["ok"], true, "{said}");
    let card = deck.get("/api/sessions/s").json();
    assert_eq!(
        (&card["agent_state"]["label"], &card["permission_mode"]),
        (&"Bash: ls".into(), &"plan".into())
    );
    let stored = deck.get("/api/sessions/s/events?payload=1").json()["events"][0]["payload"].clone();
    assert_eq!((&stored["tool_use_id"], &stored["sessionId"]), (&"t".into(), &Value::Null), "{stored}");
    assert_eq!(stored["tool_input"]["runInBackground"], false);
}
