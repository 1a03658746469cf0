//! Notes as a JSON POST, signed if there is a secret.

use axum::http::{HeaderName, HeaderValue};
use ring::hmac;

use super::http_client::{Address, post_json};
use super::message::NoteMessage;
use super::send_error::SendError;
use crate::secret::Secret;

/// `sha256=` and the HMAC-SHA256 of the body in hex, as other services sign theirs.
pub(super) const SIGNATURE_HEADER: &str = "x-flightdeck-signature";

pub(super) async fn send(
    url: &Address,
    secret: Option<&Secret>,
    message: &NoteMessage,
) -> Result<(), SendError> {
    let body = message.json();
    let mut headers = Vec::new();
    if let Some(secret) = secret {
        let value = HeaderValue::from_str(&signature(secret.expose(), &body));
        let value = value.map_err(|e| SendError::Final(e.to_string()))?;
        headers.push((HeaderName::from_static(SIGNATURE_HEADER), value));
    }
    post_json(url, &headers, body).await
}

fn signature(secret: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let hex = hmac::sign(&key, body).as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("sha256={hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_hmac_sha256() {
        // RFC 4231, test case 2.
        let known = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature("Jefe", b"what do ya want for nothing?"), known);
        // Test case 1.
        let known = "sha256=b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        assert_eq!(signature(&"\x0b".repeat(20), b"Hi There"), known);
    }
}
