//! The lines of the socket: a call and its reply, one line of JSON each.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::{ErrorCode, ErrorReply, SocketCommand};

#[derive(Serialize)]
struct Call<'a, R> {
    cmd: &'static str,
    args: &'a R,
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<&'a Map<String, Value>>,
}

/// `{"cmd", "args"}` and a newline.
pub fn call_line<R: SocketCommand>(request: &R) -> serde_json::Result<Vec<u8>> {
    json_line(&Call { cmd: R::COMMAND, args: request, env: None })
}

/// Like [`call_line`], with the client's environment, which hooks and status lines send.
pub fn call_line_in_env<R: SocketCommand>(
    request: &R,
    env: &Map<String, Value>,
) -> serde_json::Result<Vec<u8>> {
    json_line(&Call { cmd: R::COMMAND, args: request, env: Some(env) })
}

/// Like [`call_line_in_env`], for a command that is only known by its name.
pub fn named_call_line(cmd: &str, args: &Value, env: &Map<String, Value>) -> serde_json::Result<Vec<u8>> {
    json_line(&serde_json::json!({ "cmd": cmd, "args": args, "env": env }))
}

#[derive(Serialize)]
struct Success<'a, T: ?Sized> {
    ok: bool,
    data: &'a T,
}

#[derive(Serialize)]
struct FailureFrame<'a> {
    ok: bool,
    #[serde(flatten)]
    error: &'a ErrorReply,
}

/// `{"ok": true, "data"}` and a newline.
pub fn success_line<T: Serialize + ?Sized>(data: &T) -> serde_json::Result<Vec<u8>> {
    json_line(&Success { ok: true, data })
}

/// `{"ok": true, "data"}` and a newline, around data that is already encoded as JSON.
pub fn success_line_of_json(data: &[u8]) -> Vec<u8> {
    [br#"{"ok":true,"data":"#, data, b"}\n"].concat()
}

/// A [`HookReply`](crate::hooks::HookReply) in its frame, around a verdict that was encoded when it was decided.
pub fn hook_success_line(seq: u64, hold_ms: u64, verdict: Option<&[u8]>) -> Vec<u8> {
    let mut line = format!(r#"{{"ok":true,"data":{{"seq":{seq},"hold_ms":{hold_ms},"verdict":"#).into_bytes();
    line.extend_from_slice(verdict.unwrap_or(b"null"));
    line.extend_from_slice(b"}}\n");
    line
}

/// `{"ok": false, "error", "message", "details"?}` and a newline.
pub fn failure_line(error: &ErrorReply) -> serde_json::Result<Vec<u8>> {
    json_line(&FailureFrame { ok: false, error })
}

fn json_line(frame: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(frame)?;
    line.push(b'\n');
    Ok(line)
}

#[derive(Deserialize)]
struct ReplyFrame<'a> {
    ok: bool,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<ErrorCode>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    details: Option<Value>,
}

/// Reads the line that answers a call. The outer error is about the line; the inner error is the daemon's refusal.
pub fn read_reply<T: DeserializeOwned>(line: &[u8]) -> serde_json::Result<Result<T, ErrorReply>> {
    let reply: ReplyFrame<'_> = serde_json::from_slice(line)?;
    if reply.ok {
        return serde_json::from_str(reply.data.map_or("null", RawValue::get)).map(Ok);
    }
    Ok(Err(ErrorReply {
        error: reply.error.unwrap_or(ErrorCode::Other),
        message: reply.message.unwrap_or_else(|| "the daemon refused".to_owned()),
        details: reply.details,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::daemon::Ping;
    use crate::hooks::HookReply;
    use crate::sessions::GetSession;

    fn text(line: Vec<u8>) -> String {
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn a_call_is_one_line_with_its_command_and_arguments() {
        let line = call_line(&GetSession { session_id: "s".into() }).unwrap();
        assert_eq!(text(line), "{\"cmd\":\"session\",\"args\":{\"session_id\":\"s\"}}\n");
        assert_eq!(text(call_line(&Ping {}).unwrap()), "{\"cmd\":\"ping\",\"args\":{}}\n");
    }

    #[test]
    fn a_hook_reply_reads_as_its_type() {
        let line = hook_success_line(7, 900, Some(br#"{"decision":"allow"}"#));
        let reply = read_reply::<HookReply>(&line).unwrap().unwrap();
        assert_eq!(reply, HookReply { seq: 7, hold_ms: 900, verdict: Some(json!({"decision": "allow"})) });
        let reply = read_reply::<HookReply>(&hook_success_line(7, 0, None)).unwrap().unwrap();
        assert_eq!(reply, HookReply { seq: 7, hold_ms: 0, verdict: None });
    }

    #[test]
    fn a_reply_reads_as_it_was_written() {
        let line = success_line(&json!({"seq": 7})).unwrap();
        assert_eq!(line, success_line_of_json(br#"{"seq":7}"#));
        assert_eq!(read_reply::<Value>(&line).unwrap(), Ok(json!({"seq": 7})));
        let refused = ErrorReply {
            error: ErrorCode::Refused,
            message: "not now".into(),
            details: Some(json!({"confirm": "stop"})),
        };
        let line = failure_line(&refused).unwrap();
        assert_eq!(
            text(line.clone()),
            "{\"ok\":false,\"error\":\"REFUSED\",\"message\":\"not now\",\"details\":{\"confirm\":\"stop\"}}\n"
        );
        assert_eq!(read_reply::<Value>(&line).unwrap(), Err(refused));
    }
}
