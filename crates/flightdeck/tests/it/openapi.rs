//! The document says what there is: every documented route answers, every route is documented.

use flightdeck::changes::ChangeKind;
use flightdeck::outlet::openapi::ROUTES;
use serde_json::Value;

use crate::deck::Deck;
use crate::http::Request;

const STOP: &str = r#"{"session_id":"s","hook_event_name":"Stop"}"#;

/// What `server.rs` routes: read from its source, so that a new route cannot be forgotten here.
fn routed() -> Vec<(String, String)> {
    let source = include_str!("../../src/server.rs");
    let mut routes = Vec::new();
    for line in source.lines().filter_map(|l| l.trim().strip_prefix(".route(\"")) {
        let (path, handlers) = line.split_once("\", ").unwrap();
        let methods = ["get", "post", "put", "delete", "patch"].into_iter();
        let used = methods.filter(|method| handlers.contains(&format!("{method}(")));
        routes.extend(used.map(|method| (method.to_owned(), path.to_owned())));
    }
    routes.sort();
    routes
}

#[test]
fn every_route_is_documented_and_nothing_else() {
    let document = Deck::new().get("/api/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap().iter();
    let mut documented: Vec<(String, String)> = paths
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(move |m| (m.clone(), path.clone()))
        })
        .collect();
    documented.sort();
    assert_eq!(documented, routed());
}

#[test]
fn every_documented_route_answers_with_a_documented_status() {
    let deck = Deck::new();
    deck.post(STOP);
    for (method, path, _, answers) in ROUTES {
        let path = path.replace("{id}", "s").replace("{event}", "stop");
        let request = Request::new(&method.to_ascii_uppercase(), &path).host(deck.addr);
        let request = if *method == "post" { request.json(STOP) } else { request };
        // A stream never ends, and an ask has to be open: they have stories of their own.
        if path == "/api/live/stream" || path.starts_with("/api/asks/") {
            continue;
        }
        let answer = request.send(deck.addr);
        assert!(answers.iter().any(|(code, _)| *code == answer.status), "{method} {path}: {}", answer.status);
        // The session has no terminal, and the payload is no prompt.
        let at_a_terminal = ["/prompt", "/interrupt", "/focus"].iter().any(|end| path.ends_with(end));
        assert!(at_a_terminal || answer.status < 300, "{method} {path}: {}", answer.status);
        let json = answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
        assert!(!json || serde_json::from_slice::<Value>(&answer.body).is_ok(), "{method} {path}");
    }
}

#[test]
fn an_unknown_session_is_404_as_documented() {
    let deck = Deck::new();
    for (method, path, _, answers) in
        ROUTES.iter().filter(|(_, _, _, answers)| answers.iter().any(|(c, _)| *c == 404))
    {
        let request =
            Request::new(&method.to_ascii_uppercase(), &path.replace("{id}", "nobody")).host(deck.addr);
        let request = if *method == "post" { request.json("{}") } else { request };
        assert_eq!(request.send(deck.addr).status, 404, "{method} {path} {answers:?}");
    }
}

/// What was added to the interface (decision 0012) is in the document, and what the document names is sent.
#[test]
fn what_was_added_to_the_interface_is_documented_and_there() {
    let deck = Deck::new();
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
    for kind in [ChangeKind::Discovered, ChangeKind::Updated, ChangeKind::Completed, ChangeKind::Removed] {
        assert!(stream.contains(kind.as_str()), "{}", kind.as_str());
    }
}
