//! A scripted stand-in for the Messages API, on loopback, to drive the real client without a model.
//!
//! The reply is chosen by the last `SCRIPT:<name>` in the user's text ([`scripts`]); the step is the number of assistant
//! messages after it. It runs on a thread of its own, so that a plain test or `xtask` can use it.

mod choose;
pub mod scripts;
mod sse;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

use scripts::{ModelReply, ScriptStep};
use sse::{DelayedFrame, ReplyContext};

/// Most requests answered in one run; it stops a client that loops.
const REQUESTS_MAX: u64 = 400;
/// Longest request body: the client sends its whole prompt each time.
const BODY_BYTES_MAX: usize = 64 << 20;

/// One received request.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    pub path: String,
    pub script: Option<String>,
    pub step: usize,
    pub model: String,
    pub tools: usize,
    pub messages: usize,
    /// Results of the tools called last.
    pub told: Vec<String>,
    /// The session that asked, by the client's own header.
    pub session_id: String,
    /// The request as the client wrote it.
    pub body: Bytes,
}

#[derive(Debug)]
pub struct ModelApi {
    addr: SocketAddr,
    shared: Arc<ApiState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct ApiState {
    count: AtomicU64,
    seen: Mutex<Vec<SeenRequest>>,
    summaries_held: watch::Sender<bool>,
    summaries_fail: AtomicBool,
    writing_may_end: watch::Sender<bool>,
}

impl ModelApi {
    /// Binds a free port on loopback; requests are answered from here on.
    pub fn start() -> io::Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(ApiState::default());
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let state = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("model-api".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    served = serve(listener, state) => drop(served),
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Self { addr, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// The address of the stand-in, for `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// While set, requests for a summary wait, so that a test can observe the compaction.
    pub fn hold_summaries(&self, held: bool) {
        self.shared.summaries_held.send_replace(held);
    }

    /// Answers requests for a summary with an error, from now on.
    pub fn fail_summaries(&self) {
        self.shared.summaries_fail.store(true, Ordering::Relaxed);
    }

    /// Lets the script `writes` finish its text, now and from now on.
    pub fn end_writing(&self) {
        self.shared.writing_may_end.send_replace(true);
    }

    /// Requests so far, oldest first.
    pub fn seen(&self) -> Vec<SeenRequest> {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ModelApi {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panic there has failed its requests already.
            let _ = thread.join();
        }
    }
}

async fn serve(listener: std::net::TcpListener, shared: Arc<ApiState>) -> io::Result<()> {
    let app = axum::Router::new()
        .fallback(answer)
        .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(shared);
    axum::serve(TcpListener::from_std(listener)?, app).await
}

async fn answer(
    State(shared): State<Arc<ApiState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    if method == Method::HEAD {
        return Response::new(Body::empty());
    }
    let number = shared.count.fetch_add(1, Ordering::Relaxed) + 1;
    if number > REQUESTS_MAX {
        return failure(400, "invalid_request_error", "stub request budget used up");
    }
    let path = uri.path().to_owned();
    let written = body;
    let body: Value = serde_json::from_slice(&written).unwrap_or_default();
    let choice = choose::choose(&body);
    let session_id =
        headers.get("x-claude-code-session-id").and_then(|v| v.to_str().ok()).unwrap_or_default();
    let seen = SeenRequest {
        path: path.clone(),
        script: choice.script.clone(),
        step: choice.index,
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        tools: body["tools"].as_array().map_or(0, Vec::len),
        messages: body["messages"].as_array().map_or(0, Vec::len),
        told: choose::last_tool_results(&body),
        session_id: session_id.to_owned(),
        body: written,
    };
    shared.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    if path.ends_with("/count_tokens") {
        return document(200, &json!({"input_tokens": 1234}));
    }
    if path != "/v1/messages" {
        return failure(404, "not_found_error", "stub");
    }
    if choice.script.as_deref() == Some(choose::SUMMARY) {
        // The sender lives as long as this answer.
        let _ = shared.summaries_held.subscribe().wait_for(|held| !held).await;
        if shared.summaries_fail.load(Ordering::Relaxed) {
            return failure(400, "invalid_request_error", "stub cannot summarize");
        }
    }
    perform(choice.step, &body, number, shared.writing_may_end.subscribe()).await
}

async fn perform(
    step: ScriptStep,
    body: &Value,
    number: u64,
    writing_may_end: watch::Receiver<bool>,
) -> Response<Body> {
    let reply = match step {
        ScriptStep::Reply(reply) => reply,
        ScriptStep::Hang(time) => {
            tokio::time::sleep(time).await;
            return failure(500, "api_error", "stub hung");
        }
        ScriptStep::Error { status, kind, message } => return failure(status, kind, message),
    };
    let cwd = choose::cwd(body);
    let context = ReplyContext {
        model: body["model"].clone(),
        messages: body["messages"].as_array().map_or(0, Vec::len) as u64,
        plan_file: choose::plan_file(body).unwrap_or_else(|| format!("{cwd}/plan.md")),
        command: choose::command(body).unwrap_or_else(|| "true".to_owned()),
        cwd,
        number,
    };
    if body["stream"] != true {
        return document(200, &sse::document(&reply, &context));
    }
    events(sse::frames(&reply, &context), &reply, writing_may_end)
}

fn events(
    frames: Vec<DelayedFrame>,
    reply: &ModelReply,
    writing_may_end: watch::Receiver<bool>,
) -> Response<Body> {
    let end_of_text =
        frames.iter().rposition(|DelayedFrame(text, _)| text.starts_with("event: content_block_stop"));
    let held_at = end_of_text.filter(|_| reply.held);
    let mut ending: Vec<io::Result<DelayedFrame>> = frames.into_iter().map(Ok).collect();
    if reply.drop {
        ending.push(Err(io::Error::from(io::ErrorKind::ConnectionReset)));
    }
    let rest = (ending.into_iter().enumerate(), writing_may_end);
    let body = stream::unfold(rest, move |(mut rest, mut writing_may_end)| async move {
        let (n, frame) = rest.next()?;
        let sent = match frame {
            Ok(DelayedFrame(text, pause)) => {
                tokio::time::sleep(pause).await;
                if held_at == Some(n) {
                    // Fails when the test is over.
                    let _ = writing_may_end.wait_for(|may_end| *may_end).await;
                }
                Ok(Bytes::from(text))
            }
            Err(e) => Err(e),
        };
        Some((sent, (rest, writing_may_end)))
    });
    let mut response = Response::new(Body::from_stream(body));
    response
        .headers_mut()
        .insert("content-type", axum::http::HeaderValue::from_static("text/event-stream; charset=utf-8"));
    response
}

fn document(status: u16, value: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert("content-type", axum::http::HeaderValue::from_static("application/json"));
    response
}

fn failure(status: u16, kind: &str, message: &str) -> Response<Body> {
    let mut response =
        document(status, &json!({"type": "error", "error": {"type": kind, "message": message}}));
    if status == 429 {
        response.headers_mut().insert("retry-after", axum::http::HeaderValue::from_static("1"));
    }
    response
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    fn post(api: &ModelApi, body: &Value) -> String {
        let body = body.to_string();
        let mut stream = TcpStream::connect(api.addr).unwrap();
        write!(
            stream,
            "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        // A dropped stream ends with an error; the events before it count.
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    fn request(text: &str, stream: bool) -> Value {
        json!({"model": "m", "stream": stream, "tools": [{"name": "Bash"}],
            "messages": [{"role": "user", "content": text}]})
    }

    #[test]
    fn a_script_is_streamed_to_its_end_and_logged() {
        let api = ModelApi::start().unwrap();
        let answer = post(&api, &request("SCRIPT:bash go", true));
        assert!(
            answer.contains("event: message_start") && answer.contains("event: message_stop"),
            "{answer}"
        );
        assert!(answer.contains("made-by-bash"), "{answer}");
        assert_eq!(api.seen()[0].script.as_deref(), Some("bash"));
    }

    #[test]
    fn an_error_has_its_status_and_a_drop_has_no_end() {
        let api = ModelApi::start().unwrap();
        assert!(post(&api, &request("SCRIPT:err529", true)).starts_with("HTTP/1.1 529"));
        assert!(!post(&api, &request("SCRIPT:drop", true)).contains("message_stop"));
        assert!(post(&api, &request("SCRIPT:hello", false)).contains("Hello from the stub model."));
    }

    #[test]
    fn a_text_in_writing_ends_when_it_may() {
        let api = ModelApi::start().unwrap();
        std::thread::scope(|scope| {
            let writes = scope.spawn(|| post(&api, &request("SCRIPT:writes", true)));
            assert!(post(&api, &request("SCRIPT:hello", true)).contains("message_stop"));
            while api.seen().len() < 2 {
                std::thread::yield_now();
            }
            assert!(!writes.is_finished());
            api.end_writing();
            assert!(writes.join().unwrap().contains("message_stop"));
        });
    }

    #[test]
    fn a_summary_that_is_held_comes_when_it_is_let_go_and_nothing_else_waits() {
        let api = ModelApi::start().unwrap();
        api.hold_summaries(true);
        std::thread::scope(|scope| {
            let summary = scope.spawn(|| post(&api, &request("create a detailed summary", true)));
            assert!(post(&api, &request("SCRIPT:hello", true)).contains("message_stop"));
            while api.seen().len() < 2 {
                std::thread::yield_now();
            }
            assert!(!summary.is_finished());
            api.hold_summaries(false);
            assert!(summary.join().unwrap().contains("message_stop"));
        });
    }
}
