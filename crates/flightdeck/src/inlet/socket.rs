//! The Unix socket: newline-delimited JSON, one request a line. Hooks come in here, and the CLI asks here.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use flightdeck_core::ask::answer::Answer;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_core::wire::statusline;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::sync::broadcast::error::RecvError;

use crate::asks::answer as asks;
use crate::asks::holds::Held;
use crate::asks::policy;
use crate::clock;
use crate::inlet::frame::{FRAME_BYTES_MAX, Frame};
use crate::outlet::{api, terminal};
use crate::server::App;
use crate::store::Appended;

/// Connections served at once. A hook holds one for a few milliseconds; beyond this they wait in the backlog.
pub const CONNECTIONS_MAX: usize = 1024;
/// Room for a line that a connection keeps between two: most fit, and a 20 MB hook leaves nothing behind on one that stays.
const LINE_BYTES_KEPT_MAX: usize = 64 * 1024;

/// A refusal as it goes over the wire.
#[derive(Debug)]
pub struct Refusal {
    pub code: &'static str,
    pub message: String,
    /// What a program needs to ask the person.
    pub details: Option<Value>,
}

impl Refusal {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None }
    }
    fn json(&self) -> Value {
        let mut json = json!({ "ok": false, "error": self.code, "message": self.message });
        if let Some(details) = &self.details {
            json["details"] = details.clone();
        }
        json
    }
}

pub async fn serve(listener: UnixListener, app: App) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let app = app.clone();
                tokio::spawn(async move {
                    if let Err(error) = converse(stream, app).await {
                        tracing::debug!(%error, "a socket connection broke off");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "the socket cannot accept a connection");
                // Out of file descriptors, most likely: trying again at once would only spin.
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
    }
}

pub(crate) async fn converse(stream: UnixStream, app: App) -> std::io::Result<()> {
    // The folder is 0700 already; this also keeps out whoever was handed the descriptor.
    if stream.peer_cred()?.uid() != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read);
    let mut line = Vec::new();
    while read_line(&mut lines, &mut line).await? {
        if line.last() != Some(&b'\n') && line.len() >= FRAME_BYTES_MAX {
            let refusal =
                Refusal::new("VALIDATION_ERROR", format!("a line may be {FRAME_BYTES_MAX} bytes long"));
            return send(&mut write, &refusal.json()).await;
        }
        match Frame::parse(&line) {
            Ok(frame) if frame.cmd == "subscribe" => {
                return subscribe(&frame.args, &app, &mut lines, write).await;
            }
            Ok(frame) if frame.cmd == "hook" => {
                let bytes = line.len();
                line = Vec::new();
                hook(frame, bytes, &app, &mut lines, &mut write).await?;
            }
            Ok(frame) => {
                let answer = answer(frame, &app).await.unwrap_or_else(|refusal| refusal.json());
                send(&mut write, &answer).await?;
            }
            Err(error) => {
                tracing::warn!(%error, bytes = line.len(), "a line on the socket is no frame and was refused");
                send(&mut write, &Refusal::new("VALIDATION_ERROR", error.to_string()).json()).await?;
            }
        }
        line.clear();
        line.shrink_to(LINE_BYTES_KEPT_MAX);
    }
    Ok(())
}

/// False at the end. A last line without a newline still counts.
async fn read_line(lines: &mut BufReader<OwnedReadHalf>, line: &mut Vec<u8>) -> std::io::Result<bool> {
    lines.take(FRAME_BYTES_MAX as u64).read_until(b'\n', line).await?;
    Ok(!line.is_empty())
}

async fn send(write: &mut OwnedWriteHalf, answer: &Value) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    write.write_all(&line).await
}

async fn answer(frame: Frame, app: &App) -> Result<Value, Refusal> {
    let data = match frame.cmd.as_str() {
        "statusline" => status_line(frame, app).await?,
        "fleet" => to_json(app.engine.overview().await.map_err(stopping)?)?,
        "ping" => json!({ "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id() }),
        "sessions" => api::sessions_json(app, &frame.args).await.map_err(not_found)?,
        "session" => api::session_json(app, &id_of(&frame.args)?).await.map_err(not_found)?,
        "explain" => api::explain_json(app, &id_of(&frame.args)?).await.map_err(not_found)?,
        "events" => api::events_json(app, &id_of(&frame.args)?, &frame.args).await.map_err(not_found)?,
        "seen" => api::see(app, &id_of(&frame.args)?).await.map_err(not_found)?,
        "ask" => to_json(asks::ask_card(app, &ask_id_of(&frame.args)?).await.map_err(not_answered)?)?,
        "answer" => {
            let id = ask_id_of(&frame.args)?;
            let given = Answer::sent(frame.args.get("answer").cloned().unwrap_or_default());
            let given = given.map_err(|e| Refusal::new("VALIDATION_ERROR", format!("`answer`: {e}")))?;
            to_json(asks::answer_sent(app, &id, given).await.map_err(not_answered)?)?
        }
        "prompt" => to_json(
            terminal::prompt(app, &id_of(&frame.args)?, &body(&frame.args)).await.map_err(not_found)?,
        )?,
        "interrupt" => {
            let id = id_of(&frame.args)?;
            to_json(terminal::interrupt(app, &id, &body(&frame.args)).await.map_err(not_found)?)?
        }
        "focus" => to_json(terminal::focus(app, &id_of(&frame.args)?).await.map_err(not_found)?)?,
        "usage" => crate::outlet::usage::usage_json(app, &frame.args).await.map_err(not_found)?,
        "policy.history" => policy::history_json(app, &frame.args).await.map_err(not_read)?,
        "index" => {
            if let Some(pause) = frame.args.get("pause").and_then(Value::as_bool) {
                app.history.pause(pause);
            }
            to_json(app.history.progress())?
        }
        "status" => crate::outlet::observe::status_json(app).await,
        other => return Err(Refusal::new("UNKNOWN_COMMAND", format!("there is no command {other:?}"))),
    };
    Ok(json!({ "ok": true, "data": data }))
}

/// One frame when it is stored; where it is held, a second one with the verdict.
async fn hook(
    frame: Frame,
    bytes: usize,
    app: &App,
    lines: &mut BufReader<OwnedReadHalf>,
    write: &mut OwnedWriteHalf,
) -> std::io::Result<()> {
    let (seq, held) = match take_hook(frame, bytes, app).await {
        Ok(taken) => taken,
        Err(refusal) => return send(write, &refusal.json()).await,
    };
    let hold_ms = held.as_ref().map_or(0, Held::hold_ms);
    let first = send(write, &hook_reply(seq, hold_ms, None)).await;
    let Some(mut held) = held else { return first };
    if first.is_err() {
        held.hook_left_early();
        return first;
    }
    let verdict = tokio::select! {
        // A verdict that is there is given, even to one that is leaving.
        biased;
        verdict = held.verdict() => verdict,
        // The client ended its hook: dropping the hold says so. One that goes on talking does not wait for a verdict.
        goes_on = goes_on(lines) => {
            if goes_on {
                held.hook_left_early();
            }
            return Ok(());
        }
    };
    send(write, &hook_reply(seq, 0, verdict.as_deref())).await
}

async fn take_hook(frame: Frame, bytes: usize, app: &App) -> Result<(u64, Option<Held>), Refusal> {
    let ends_after = frame.env.get("hold_s").and_then(Value::as_u64).and_then(|s| u32::try_from(s).ok());
    let draft = HookDraft { name_in_path: None, payload: frame.args, env: frame.env, bytes };
    let mut record =
        draft.into_record(clock::fresh_id()).map_err(|e| Refusal::new("VALIDATION_ERROR", e.to_string()))?;
    let rules = app.hold_rules.until_timeout(ends_after);
    let held = app.holds.open(&mut record, &rules, &app.engine);
    let ruled = policy::consider(app, &record, held.as_ref());
    let appended = match app.engine.append(vec![record]).await {
        Ok(appended) => appended,
        Err(error) => {
            held.into_iter().for_each(Held::forget);
            return Err(Refusal::new("HANDLER_ERROR", error.to_string()));
        }
    };
    match (held, appended.first().is_some_and(|a| a.duplicate)) {
        (Some(held), true) => {
            held.forget();
            Ok((seq_of(&appended), None))
        }
        (held, _) => {
            held.iter().for_each(|held| policy::say(app, held, ruled.clone()));
            Ok((seq_of(&appended), held))
        }
    }
}

fn seq_of(appended: &[Appended]) -> u64 {
    appended.first().map_or(0, |a| a.seq)
}

/// A verdict goes through as it was written.
pub(crate) fn hook_reply(seq: u64, hold_ms: u64, verdict: Option<&[u8]>) -> Value {
    let verdict = verdict.and_then(|v| serde_json::from_slice::<Value>(v).ok());
    json!({ "ok": true, "data": { "seq": seq, "hold_ms": hold_ms, "verdict": verdict } })
}

/// Whether the other side sends more; false once it has gone.
async fn goes_on(lines: &mut BufReader<OwnedReadHalf>) -> bool {
    lines.fill_buf().await.is_ok_and(|bytes| !bytes.is_empty())
}

/// `seq` is null where the fleet knew it all already.
async fn status_line(frame: Frame, app: &App) -> Result<Value, Refusal> {
    let record = statusline::draft(&frame.args, frame.env).into_record(clock::fresh_id());
    let record = record.map_err(|e| Refusal::new("VALIDATION_ERROR", e.to_string()))?;
    let appended = app.engine.append_if_news(record).await;
    let appended = appended.map_err(|e| Refusal::new("HANDLER_ERROR", e.to_string()))?;
    Ok(json!({ "seq": appended.first().map(|a| a.seq) }))
}

fn to_json(answer: impl serde::Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(answer).map_err(|e| Refusal::new("HANDLER_ERROR", e.to_string()))
}

/// `session_id`, `sessionId` or `id`.
fn id_of(args: &Map<String, Value>) -> Result<String, Refusal> {
    let id = ["session_id", "sessionId", "id"].iter().find_map(|key| args.get(*key)?.as_str());
    id.map(str::to_owned).ok_or_else(|| Refusal::new("VALIDATION_ERROR", "name the session as `session_id`"))
}

fn ask_id_of(args: &Map<String, Value>) -> Result<String, Refusal> {
    let id = ["ask_id", "askId"].iter().find_map(|key| args.get(*key)?.as_str());
    id.map(str::to_owned).ok_or_else(|| Refusal::new("VALIDATION_ERROR", "name the ask as `ask_id`"))
}

fn not_answered(error: asks::AnswerError) -> Refusal {
    Refusal::new(error.code(), error.to_string())
}

fn not_read(error: crate::store::StoreError) -> Refusal {
    Refusal::new("HANDLER_ERROR", error.to_string())
}

fn stopping(error: crate::engine::Stopped) -> Refusal {
    Refusal::new("HANDLER_ERROR", error.to_string())
}

fn not_found(error: api::ApiError) -> Refusal {
    let details = match &error {
        api::ApiError::Refused(refused) => Some(refused.json()),
        _ => None,
    };
    Refusal { details, ..Refusal::new(error.code(), error.to_string()) }
}

/// The arguments as a request over HTTP would have them.
fn body(args: &Map<String, Value>) -> Vec<u8> {
    serde_json::to_vec(args).unwrap_or_default()
}

/// The same changes as the event stream, a line each, until the viewer leaves or no longer writes: on a quiet board nothing
/// else would show that it has gone, and its place would be lost.
async fn subscribe(
    args: &Map<String, Value>,
    app: &App,
    lines: &mut BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
) -> std::io::Result<()> {
    tokio::select! {
        ended = tell_changes(args, app, write) => ended,
        () = until_it_leaves(lines) => Ok(()),
    }
}

/// Whatever else it says is not heard.
async fn until_it_leaves(lines: &mut BufReader<OwnedReadHalf>) {
    while let Ok(bytes) = lines.fill_buf().await
        && !bytes.is_empty()
    {
        let all = bytes.len();
        lines.consume(all);
    }
}

/// A reader that falls behind gets `gap` and a fresh snapshot.
async fn tell_changes(
    args: &Map<String, Value>,
    app: &App,
    mut write: OwnedWriteHalf,
) -> std::io::Result<()> {
    let last = ["last_event_id", "lastEventId"].iter().find_map(|key| args.get(*key)?.as_str());
    let mut last = last.map(str::to_owned);
    loop {
        let Ok(mut subscription) = app.engine.subscribe(last.take()).await else { return Ok(()) };
        for change in std::mem::take(&mut subscription.first) {
            write.write_all(&change.line()).await?;
        }
        loop {
            match subscription.next.recv().await {
                Ok(change) => write.write_all(&change.line()).await?,
                Err(RecvError::Lagged(_)) => break,
                Err(RecvError::Closed) => return Ok(()),
            }
        }
        app.health.metrics.gaps.fetch_add(1, Ordering::Relaxed);
        tracing::info!("a viewer fell behind and starts anew");
        // An id of no boot: the answer is a gap and a snapshot.
        last = Some(String::new());
    }
}
