//! The OpenAPI document of the HTTP routes.

use serde_json::{Map, Value, json};

use crate::{ENDPOINTS, Method, Route};

/// Every HTTP route of the table.
pub fn routes() -> impl Iterator<Item = &'static Route> {
    ENDPOINTS.iter().flat_map(|endpoint| endpoint.routes)
}

pub fn openapi_document() -> Value {
    let mut paths = Map::new();
    for route in routes() {
        let entry = paths.entry(route.path).or_insert_with(|| json!({}));
        entry[route.method.as_str()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Flightdeck", "version": env!("CARGO_PKG_VERSION") },
        "paths": paths,
    })
}

fn operation(route: &Route) -> Value {
    let described = route.responses.iter();
    let responses: Map<String, Value> =
        described.map(|(code, text)| (code.to_string(), json!({ "description": text }))).collect();
    let mut operation =
        json!({ "summary": route.summary, "responses": responses, "parameters": parameters(route.path) });
    if route.method == Method::Post {
        operation["requestBody"] =
            json!({ "content": { "application/json": { "schema": { "type": "object" } } } });
    }
    operation
}

fn parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names
        .map(|n| json!({ "name": n, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect()
}
