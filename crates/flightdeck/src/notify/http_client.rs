//! A small HTTP client for notes: one POST on one connection, over TLS for https. It follows no redirect and keeps no
//! connection (decision 0021).

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::uri::{Authority, PathAndQuery, Scheme};
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use super::send_error::SendError;

/// Longest time to connect, including TLS.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Longest time from the request to its status.
const REPLY_MAX: Duration = Duration::from_secs(10);
/// Most bytes read of a reply that is an error, for its message.
const ERROR_BYTES_MAX: usize = 4 * 1024;
/// Longest part of such a reply that is shown.
const ERROR_CHARS_MAX: usize = 200;

/// An http or https address without user and password.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Address(Uri);

impl TryFrom<String> for Address {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let why = |why: &str| format!("{text:?} {why}");
        let uri: Uri = text.parse().map_err(|_| why("is not an address"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(why("must begin with http:// or https://"));
        }
        let authority = uri.authority().map_or("", Authority::as_str);
        if authority.contains('@') || uri.host().is_none_or(str::is_empty) {
            return Err(why("needs a host, and may have no user or password"));
        }
        Ok(Self(uri))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_string().trim_end_matches('/'))
    }
}

impl Address {
    /// `name` or `name:port`, as a `Host` header has it.
    pub fn host_header(&self) -> &str {
        self.0.authority().map_or("", Authority::as_str)
    }

    /// The address without the last part of its path, and that part.
    pub fn split_last_segment(&self) -> Option<(Self, &str)> {
        let (before, last) = self.0.path().trim_end_matches('/').rsplit_once('/')?;
        let mut parts = self.0.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(format!("{before}/")).ok()?);
        (!last.is_empty()).then_some((Self(Uri::from_parts(parts).ok()?), last))
    }

    fn is_https(&self) -> bool {
        self.0.scheme() == Some(&Scheme::HTTPS)
    }

    fn host(&self) -> &str {
        self.0.host().unwrap_or_default().trim_matches(['[', ']'])
    }

    fn port(&self) -> u16 {
        self.0.port_u16().unwrap_or(if self.is_https() { 443 } else { 80 })
    }
}

/// Posts JSON. A status other than success is an error.
pub(super) async fn post_json(
    to: &Address,
    headers: &[(HeaderName, HeaderValue)],
    body: Vec<u8>,
) -> Result<(), SendError> {
    let connect = tokio::time::timeout(CONNECT_MAX, connect(to)).await;
    let late = |max: Duration| format!("{} did not reply within {} s", to.host_header(), max.as_secs());
    let stream = connect.map_err(|_| SendError::NotReceived(late(CONNECT_MAX)))??;
    let request = request(to, headers, body).map_err(|e| SendError::Final(e.to_string()))?;
    let reply = tokio::time::timeout(REPLY_MAX, exchange(stream, request)).await;
    reply.map_err(|_| SendError::Unclear(late(REPLY_MAX)))?
}

fn request(
    to: &Address,
    headers: &[(HeaderName, HeaderValue)],
    body: Vec<u8>,
) -> Result<Request<Full<Bytes>>, axum::http::Error> {
    let path = to.0.path_and_query().map_or("/", PathAndQuery::as_str);
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(header::HOST, to.host_header())
        .header(header::USER_AGENT, concat!("flightdeck/", env!("CARGO_PKG_VERSION")))
        .header(header::CONTENT_TYPE, "application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body(Full::from(body))
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

async fn connect(to: &Address) -> Result<Box<dyn Stream>, SendError> {
    let failed = |why: &dyn fmt::Display| SendError::NotReceived(format!("{}: {why}", to.host_header()));
    let tcp = TcpStream::connect((to.host(), to.port())).await.map_err(|e| failed(&e))?;
    if !to.is_https() {
        return Ok(Box::new(tcp));
    }
    let name = ServerName::try_from(to.host().to_owned()).map_err(|e| SendError::Final(e.to_string()))?;
    let tls = TlsConnector::from(tls_config()?).connect(name, tcp).await;
    // Fails for a certificate that is not trusted. The server may replace it, so the note is tried again.
    Ok(Box::new(tls.map_err(|e| failed(&e))?))
}

/// Made once: reading the system's certificates takes some milliseconds.
fn tls_config() -> Result<Arc<ClientConfig>, SendError> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let mut roots = RootCertStore::empty();
    let (known, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if known == 0 {
        return Err(SendError::Final("this machine has no trusted certificates for https".to_owned()));
    }
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| SendError::Final(e.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::clone(CONFIG.get_or_init(|| Arc::new(config))))
}

async fn exchange(stream: Box<dyn Stream>, request: Request<Full<Bytes>>) -> Result<(), SendError> {
    let unclear = |e: hyper::Error| SendError::Unclear(format!("the connection broke: {e}"));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(unclear)?;
    let talk = async {
        let reply = sender.send_request(request).await.map_err(unclear)?;
        let status = reply.status();
        if status.is_success() {
            return Ok(());
        }
        let said = Limited::new(reply.into_body(), ERROR_BYTES_MAX).collect().await;
        let said = said.map(|body| body.to_bytes()).unwrap_or_default();
        Err(refused(status, &said))
    };
    let mut talk = std::pin::pin!(talk);
    tokio::select! {
        biased;
        reply = &mut talk => return reply,
        // The connection may end together with the reply. If it broke, `talk` returns the error.
        _ = connection => {}
    }
    talk.await
}

/// The error for a status. An overloaded or broken server is tried again; every other refusal is final.
fn refused(status: StatusCode, said: &[u8]) -> SendError {
    let said = flightdeck_core::text::one_line(&String::from_utf8_lossy(said), ERROR_CHARS_MAX);
    let why =
        if said.is_empty() { format!("it replied {status}") } else { format!("it replied {status}: {said}") };
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => SendError::NotReceived(why),
        status if status.is_server_error() => SendError::NotReceived(why),
        _ => SendError::Final(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_host_and_no_password() {
        for right in ["http://localhost:8080/a?b=c", "https://[::1]:1/x", "https://ntfy.sh/topic"] {
            assert_eq!(Address::try_from(right.to_owned()).unwrap().to_string(), right);
        }
        for wrong in ["", "ntfy.sh/topic", "ftp://a/b", "https://", "https://me:pw@ntfy.sh/t", "http:///x"] {
            assert!(Address::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_topic_is_the_last_part_of_the_path() {
        let split = |text: &str| {
            let address = Address::try_from(text.to_owned()).unwrap();
            address.split_last_segment().map(|(base, topic)| format!("{base} {topic}"))
        };
        assert_eq!(split("https://ntfy.sh/topic").as_deref(), Some("https://ntfy.sh topic"));
        assert_eq!(split("http://h:8/below/topic/").as_deref(), Some("http://h:8/below topic"));
        assert_eq!(split("https://ntfy.sh"), None);
    }
}
