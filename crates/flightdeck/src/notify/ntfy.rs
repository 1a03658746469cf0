//! Notes to a phone through an ntfy server, with buttons for a request that can be answered.

use axum::http::{HeaderName, HeaderValue, header};
use serde_json::{Value, json};

use super::http_client::{Address, post_json};
use super::message::{Button, NoteMessage, NoteUrgency};
use super::send_error::SendError;
use crate::secret::Secret;

pub(super) async fn send(
    url: &Address,
    token: Option<&Secret>,
    message: &NoteMessage,
) -> Result<(), SendError> {
    let Some((server, topic)) = url.split_last_segment() else {
        return Err(SendError::Final(format!("{url} names no topic")));
    };
    let headers = token.map(|token| authorization(token.expose())).transpose()?;
    post_json(&server, headers.as_slice(), body(topic, message).to_string().into_bytes()).await
}

fn authorization(token: &str) -> Result<(HeaderName, HeaderValue), SendError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| SendError::Final("`token` has a character that no header may have".to_owned()))?;
    value.set_sensitive(true);
    Ok((header::AUTHORIZATION, value))
}

/// The server takes this form on its own address; headers could not carry every character.
fn body(topic: &str, message: &NoteMessage) -> Value {
    let priority = match message.urgency {
        NoteUrgency::High => 4,
        NoteUrgency::Normal => 3,
    };
    json!({
        "topic": topic,
        "title": message.title,
        "message": message.text,
        "priority": priority,
        "click": message.url,
        "actions": message.buttons.iter().map(action).collect::<Vec<_>>(),
    })
}

/// The phone posts to the button's address. The gate admits JSON only, and no site but our own.
fn action(button: &Button) -> Value {
    json!({
        "action": "http",
        "label": button.label,
        "url": button.url.expose(),
        "method": "POST",
        "headers": { "content-type": "application/json" },
        "body": "{}",
        "clear": true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_topic_its_click_address_and_its_buttons() {
        let buttons =
            vec![Button { label: "Allow", url: "https://deck/api/notify/answer/k1".to_owned().into() }];
        let message = NoteMessage {
            urgency: NoteUrgency::High,
            buttons,
            ..NoteMessage::test("https://deck/#/session/s")
        };
        let sent = body("topic", &message);
        assert_eq!((&sent["topic"], &sent["priority"]), (&json!("topic"), &json!(4)));
        assert_eq!(sent["click"], "https://deck/#/session/s");
        let action = &sent["actions"][0];
        assert_eq!((&action["label"], &action["method"]), (&json!("Allow"), &json!("POST")));
        assert_eq!(action["url"], "https://deck/api/notify/answer/k1");
        assert_eq!(action["headers"]["content-type"], "application/json");
    }

    #[test]
    fn a_token_with_a_line_break_is_refused() {
        assert!(authorization("a\nb").is_err());
        assert_eq!(authorization("tk").unwrap().1, "Bearer tk");
    }
}
