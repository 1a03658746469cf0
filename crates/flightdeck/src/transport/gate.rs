//! The gate: which HTTP requests are admitted. Checked for every request, streams included, before its body is read.
//!
//! A page on another site can make this machine's browser send requests to loopback. It cannot fake `Host`, `Origin` or
//! `Sec-Fetch-Site`, so these decide. Other programs send neither of the last two and are admitted by `Host`.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::Request;
use axum::http::header::{
    ACCEPT, AUTHORIZATION, AsHeaderName, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, HeaderName,
    ORIGIN, REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::health::Health;
use crate::secret::equal_in_constant_time;

/// Allows the page's own script, style and data; nothing from another origin, nothing inline.
const CONTENT_POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; form-action 'none'";

/// The headers of every response, made once.
static HARDENING: [(HeaderName, HeaderValue); 5] = [
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_POLICY)),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
];

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
static SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
/// Most headers that a response has besides these. Space for all headers is reserved once.
const OWN_HEADERS: usize = 3;

/// The token page loads nothing and sends its form only to us.
const TOKEN_PAGE_POLICY: &str =
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";
/// The page that asks for the token. It has no style and no script, because a visitor without the token gets no other file.
const TOKEN_PAGE: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Flightdeck</title>
<h1>Flightdeck</h1>
<p>{prompt} It is the <code>token</code> of its config.toml, or what FLIGHTDECK_TOKEN held when it was started.</p>
<form>
  <label>Token <input name="token" type="password" autocomplete="current-password" required autofocus></label>
  <button>Open the board</button>
</form>
"#;

/// The prefix of the addresses of a note's buttons.
const ANSWER_BY_KEY: &str = "/api/notify/answer/";

const TOKEN_COOKIE: &str = "flightdeck_token";

#[derive(Debug)]
pub struct Gate {
    /// The address that the daemon listens on.
    bound: SocketAddr,
    /// `name:port`, as a `Host` header may have it. The names of the settings may change while the daemon runs.
    hosts: RwLock<Arc<[String]>>,
    /// The host of `public_url`.
    public_host: Option<String>,
    /// Required for a bind that is not loopback. If it is set, every request must carry it.
    token: Option<String>,
    health: Arc<Health>,
}

impl Gate {
    /// `bound` is the address that the daemon listens on; a `Host` header may have it.
    pub fn new(bound: SocketAddr, names: &[String], token: Option<String>, health: Arc<Health>) -> Self {
        Self { bound, hosts: RwLock::new(accepted_hosts(bound, names)), public_host: None, token, health }
    }

    /// Accepts these host names besides the daemon's own, in place of the names that were set before.
    pub fn accept_hosts(&self, names: &[String]) {
        *self.hosts.write().unwrap_or_else(PoisonError::into_inner) = accepted_hosts(self.bound, names);
    }

    /// Admits requests to `public`, the host of `public_url`. Without a token the whole internet may reach the board there, so
    /// then only the keys of buttons are admitted.
    pub fn with_public_host(mut self, public: Option<&str>) -> Self {
        self.public_host = public.map(str::to_ascii_lowercase);
        self
    }

    fn hosts(&self) -> Arc<[String]> {
        Arc::clone(&self.hosts.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The response that refuses the request, or `None` if the request is admitted.
    pub fn refusal(&self, request: &Request) -> Option<Response> {
        let (status, why) = self.check_request(request).err()?;
        self.health.metrics.refused.fetch_add(1, Ordering::Relaxed);
        if status == StatusCode::UNAUTHORIZED && wants_page(request) {
            return Some(token_page(request));
        }
        Some(harden((status, axum::Json(serde_json::json!({ "error": why }))).into_response()))
    }

    /// The cookie for a page that was opened with the token in its address.
    pub fn cookie(&self, request: &Request) -> Option<HeaderValue> {
        let token = self.token.as_ref().filter(|_| token_in_query(request).is_some())?;
        HeaderValue::from_str(&format!("{TOKEN_COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/")).ok()
    }

    fn check_request(&self, request: &Request) -> Result<(), (StatusCode, String)> {
        let headers = request.headers();
        let hosts = self.hosts();
        let public = self.public_host.iter().filter(|_| self.token.is_some() || brings_a_key(request));
        let ours = |host: &str| hosts.iter().chain(public).any(|own| own.eq_ignore_ascii_case(host));
        if headers.get_all(HOST).iter().count() > 1 || !header_text(headers, HOST).is_some_and(ours) {
            let known = hosts.join(", ");
            let why =
                format!("this daemon answers only as {known}; add other names to `hosts` in config.toml");
            return Err((StatusCode::MISDIRECTED_REQUEST, why));
        }
        self.check_origin(headers)?;
        // Only POST takes a body. The router refuses other methods.
        if request.method() == Method::POST && !is_json(headers) {
            return Err((
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "send it as content-type: application/json".to_owned(),
            ));
        }
        match &self.token {
            Some(token) if !has_token(request, token) && !brings_a_key(request) => {
                let why = "this daemon has a token: send it as `Authorization: Bearer …`, or open the page with ?token=…";
                Err((StatusCode::UNAUTHORIZED, why.to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), (StatusCode, String)> {
        let foreign = |why: &str| Err((StatusCode::FORBIDDEN, why.to_owned()));
        if headers.get_all(ORIGIN).iter().any(|o| !self.is_own_origin(o)) {
            return foreign("another site may not speak to this daemon");
        }
        match header_text(headers, &SEC_FETCH_SITE) {
            None | Some("same-origin" | "none") => Ok(()),
            // Another port of this machine may link here, but not read or post.
            Some("same-site") if header_text(headers, &SEC_FETCH_MODE) == Some("navigate") => Ok(()),
            Some(_) => foreign("another site may not speak to this daemon"),
        }
    }

    fn is_own_origin(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| self.hosts().iter().any(|h| h == host))
    }
}

fn accepted_hosts(bound: SocketAddr, names: &[String]) -> Arc<[String]> {
    let own = ["127.0.0.1", "localhost", "[::1]"].into_iter().map(str::to_owned);
    let named = own.chain(names.iter().map(|n| n.to_ascii_lowercase()));
    let mut hosts: Vec<_> = named.map(|name| host(&name, bound.port())).collect();
    if !bound.ip().is_unspecified() && !hosts.contains(&bound.to_string()) {
        hosts.push(bound.to_string());
    }
    hosts.into()
}

/// The entry as a `Host` header has it: with our port, unless the entry has a port of its own or ends with a colon, which
/// means no port. Behind a proxy the browser sees another port than ours.
fn host(name: &str, port: u16) -> String {
    match name.rsplit_once(':') {
        Some((bare, "")) => bare.to_owned(),
        // The last part of a bare IPv6 address is no port.
        Some((before, own))
            if own.parse::<u16>().is_ok() && (before.ends_with(']') || !before.contains(':')) =>
        {
            name.to_owned()
        }
        _ => format!("{name}:{port}"),
    }
}

fn header_text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = header_text(headers, CONTENT_TYPE).unwrap_or_default();
    kind.split(';').next().is_some_and(|k| k.trim().eq_ignore_ascii_case("application/json"))
}

/// Whether the address contains the key of a button. The key is the proof, and the handler checks it.
fn brings_a_key(request: &Request) -> bool {
    let is_key = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    request.method() == Method::POST && request.uri().path().strip_prefix(ANSWER_BY_KEY).is_some_and(is_key)
}

fn has_token(request: &Request, token: &str) -> bool {
    let headers = request.headers();
    let bearer = header_text(headers, AUTHORIZATION).and_then(|a| a.strip_prefix("Bearer "));
    let cookies = header_text(headers, COOKIE).unwrap_or_default();
    let cookie = cookies.split(';').find_map(|c| c.trim().strip_prefix(TOKEN_COOKIE)?.strip_prefix('='));
    [bearer, cookie, token_in_query(request)]
        .into_iter()
        .flatten()
        .any(|given| equal_in_constant_time(given, token))
}

/// True for a browser that opens the board; programs get JSON.
fn wants_page(request: &Request) -> bool {
    request.method() == Method::GET
        && header_text(request.headers(), ACCEPT).is_some_and(|kinds| kinds.contains("text/html"))
}

/// A form that puts the token into the address; the response to that sets the cookie.
fn token_page(request: &Request) -> Response {
    let prompt = match token_in_query(request) {
        Some(_) => "That is not the token of this daemon.",
        None => "This daemon asks for a token.",
    };
    let page = TOKEN_PAGE.replace("{prompt}", prompt);
    let mut response = harden((StatusCode::UNAUTHORIZED, axum::response::Html(page)).into_response());
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(TOKEN_PAGE_POLICY));
    response
}

fn token_in_query(request: &Request) -> Option<&str> {
    request.uri().query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Adds the security headers that every response has.
pub fn harden(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.reserve(HARDENING.len() + OWN_HEADERS);
    for (name, value) in &HARDENING {
        headers.insert(name, value.clone());
    }
    response
}

pub fn set_cookie(response: &mut Response, cookie: HeaderValue) {
    response.headers_mut().insert(SET_COOKIE, cookie);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gets_our_port_unless_it_has_one_or_ends_with_a_colon() {
        let as_sent = |name| host(name, 47892);
        assert_eq!(as_sent("deck.local"), "deck.local:47892");
        assert_eq!(as_sent("deck.local:8443"), "deck.local:8443");
        assert_eq!(as_sent("deck.local:"), "deck.local");
        assert_eq!(as_sent("[::1]"), "[::1]:47892");
        assert_eq!(as_sent("[fd00::2]:80"), "[fd00::2]:80");
    }
}
