//! The Unix socket: newline-delimited JSON, one request a line. Hooks and the CLI use it. The commands are those of the
//! table in `flightdeck-protocol`.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::log::record::Verbatim;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_protocol::types::*;
use flightdeck_protocol::{ALIASES, ApiRequest, ErrorCode, ErrorReply, endpoints, frame as wire};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::sync::broadcast::error::RecvError;

use crate::app::holds::HookHold;
use crate::app::{
    App, AppError, AppReply, Arguments, EffortVerdict, Handle, HandleHook, HookOutcome, HookWaits,
    IncomingHook, OrderedRestart, ReceivedHook, ScriptCall,
};
use crate::frame::{EventFrame, FRAME_BYTES_MAX};

/// Connections served at once. A hook needs one for a few milliseconds; more wait in the kernel's backlog.
pub const CONNECTIONS_MAX: usize = 1024;
/// Pause after a failed accept. The process has probably run out of file descriptors, so an immediate attempt would fail too.
const ACCEPT_RETRY_AFTER: Duration = Duration::from_millis(50);
/// Buffer that a connection keeps between two lines. Most lines fit, and a 20 MB hook does not stay in memory.
const LINE_BYTES_KEPT_MAX: usize = 64 * 1024;

/// The beginning of the line with which `flightdeck hook` confirms that it has printed a verdict.
const CONFIRMATION: &[u8] = br#"{"printed""#;
/// A sender that still has its connection after this time has read its reply: a hook and `flightdeck rpc` wait 50 ms for it.
const READ_WITHIN: Duration = Duration::from_secs(1);

pub async fn serve(listener: UnixListener, app: App) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let app = app.clone();
                tokio::spawn(async move {
                    if let Err(error) = serve_connection(stream, app).await {
                        tracing::debug!(%error, "a socket connection broke off");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "the socket cannot accept a connection; trying again");
                tokio::time::sleep(ACCEPT_RETRY_AFTER).await;
            }
        }
    }
}

pub(crate) async fn serve_connection(stream: UnixStream, app: App) -> std::io::Result<()> {
    // The folder is 0700 already; this also refuses a process of another user that was handed the descriptor.
    if stream.peer_cred()?.uid() != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read);
    let mut line = Vec::new();
    while read_line(&mut lines, &mut line).await? {
        if line.last() != Some(&b'\n') && line.len() >= FRAME_BYTES_MAX {
            let why = format!("a line may be {FRAME_BYTES_MAX} bytes long");
            return write.write_all(&invalid(why)).await;
        }
        let frame = EventFrame::parse(&line);
        match frame.map(|frame| (action(&frame.cmd), frame)) {
            Ok((Some(SocketAction::Hook), frame)) => {
                let bytes = line.len();
                // A held hook may wait for minutes. The buffer of its line is released before.
                line = Vec::new();
                hook(frame, bytes, &app, &mut lines, &mut write).await?;
            }
            Ok((Some(SocketAction::Subscribe), frame)) => {
                return subscribe(frame.args, &app, &mut lines, write).await;
            }
            Ok((Some(SocketAction::Supervise), frame)) => {
                return supervise(frame.args, &app, &mut lines, write).await;
            }
            Ok((Some(SocketAction::StatusLine), frame)) => {
                let reply = app.receive_status_line(&frame.args, frame.env).await;
                write.write_all(&reply_line(reply.map(AppReply::from))).await?;
            }
            Ok((Some(SocketAction::EngineHook(call)), frame)) => {
                let arguments = Arguments::new(frame.args);
                let script = ScriptCall { arguments, env: frame.env, bytes: line.len() };
                script_hook(call(&app, script), &app, &mut lines, &mut write).await?;
            }
            Ok((Some(SocketAction::Call(call)), frame)) => {
                write.write_all(&call(&app, Arguments::new(frame.args)).await).await?;
            }
            Ok((None, frame)) => write.write_all(&unknown_command(&frame.cmd)).await?,
            Err(error) => {
                tracing::warn!(%error, bytes = line.len(), "a line on the socket is not a frame; it was refused");
                write.write_all(&invalid(error.to_string())).await?;
            }
        }
        line.clear();
        line.shrink_to(LINE_BYTES_KEPT_MAX);
    }
    Ok(())
}

/// Reads one line. Returns false at the end of the connection. A last line without a newline counts as a line.
async fn read_line(lines: &mut BufReader<OwnedReadHalf>, line: &mut Vec<u8>) -> std::io::Result<bool> {
    lines.take(FRAME_BYTES_MAX as u64).read_until(b'\n', line).await?;
    Ok(!line.is_empty())
}

type LineReply<'a> = Pin<Box<dyn Future<Output = Vec<u8>> + Send + 'a>>;

type ScriptHookReply<'a> = Pin<Box<dyn Future<Output = (Vec<u8>, Option<EffortVerdict>)> + Send + 'a>>;

/// What a command does.
enum SocketAction {
    /// One reply.
    Call(for<'a> fn(&'a App, Arguments) -> LineReply<'a>),
    /// A reply when the event is stored, and a second one with the verdict.
    Hook,
    StatusLine,
    /// A hook that a script sends: one reply. Its verdict is recorded after the reply was written.
    EngineHook(for<'a> fn(&'a App, ScriptCall) -> ScriptHookReply<'a>),
    /// Sends changes until the viewer disconnects.
    Subscribe,
    /// Sends orders until the supervisor disconnects.
    Supervise,
}

/// One arm for each `socket` line of the table.
macro_rules! actions {
    ($(
        $request:ident -> $reply:ty, $summary:literal {
            $(socket $command:literal $(by $special:ident)?, example $example:tt;)?
            $(http $method:ident $path:literal $(by $handler:ident)? $(, $about:literal)? [$($responses:tt)*];)*
        }
    )*) => {
        fn action(command: &str) -> Option<SocketAction> {
            let named = ALIASES.iter().find(|(alias, _)| *alias == command);
            match named.map_or(command, |(_, command)| command) {
                $($($command => Some(action_of!($request $($special)?)),)?)*
                _ => None,
            }
        }
    };
}

macro_rules! action_of {
    ($request:ident) => {
        SocketAction::Call(|app, args| Box::pin(call::<$request>(app, args)))
    };
    ($request:ident hook) => {
        SocketAction::Hook
    };
    ($request:ident engine_hook) => {
        SocketAction::EngineHook(|app, call| Box::pin(engine_hook::<$request>(app, call)))
    };
    ($request:ident status_line) => {
        SocketAction::StatusLine
    };
    ($request:ident subscribe) => {
        SocketAction::Subscribe
    };
    ($request:ident supervise) => {
        SocketAction::Supervise
    };
}

endpoints!(actions);

async fn call<R: ApiRequest>(app: &App, arguments: Arguments) -> Vec<u8>
where
    App: Handle<R>,
{
    let reply = match arguments.read::<R>() {
        Ok(request) => app.handle(request).await,
        Err(error) => Err(error),
    };
    reply_line(reply)
}

async fn engine_hook<R>(app: &App, call: ScriptCall) -> (Vec<u8>, Option<EffortVerdict>)
where
    R: ApiRequest + EngineHook,
    R::Reply: Default,
    App: HandleHook<R>,
{
    match app.receive_script_hook::<R>(call).await {
        Ok((reply, verdict)) => (reply_line(Ok(AppReply::Typed(reply))), verdict),
        Err(error) => (failure(&error.reply()), None),
    }
}

fn reply_line<T: Serialize>(reply: Result<AppReply<T>, AppError>) -> Vec<u8> {
    let line = match reply {
        Ok(AppReply::Typed(data)) => wire::success_line(&data).map_err(AppError::from),
        Ok(AppReply::Encoded(data)) => Ok(wire::success_line_of_json(data.json())),
        Err(error) => Err(error),
    };
    line.unwrap_or_else(|error| failure(&error.reply()))
}

fn invalid(why: String) -> Vec<u8> {
    failure(&AppError::Invalid(why).reply())
}

fn unknown_command(command: &str) -> Vec<u8> {
    let message = format!("there is no command {command:?}");
    failure(&ErrorReply { error: ErrorCode::UnknownCommand, message, details: None })
}

fn failure(error: &ErrorReply) -> Vec<u8> {
    // A code, a message and a JSON value can always be written.
    wire::failure_line(error).unwrap_or_default()
}

/// One frame when the event is stored. If the hook is held, a second one with the verdict.
async fn hook(
    frame: EventFrame,
    bytes: usize,
    app: &App,
    lines: &mut BufReader<OwnedReadHalf>,
    write: &mut OwnedWriteHalf,
) -> std::io::Result<()> {
    let confirms = VerdictConfirmation::from_env(&frame.env);
    let ReceivedHook { seq, outcome } = match app.receive_hook(incoming(frame, bytes)).await {
        Ok(received) => received,
        Err(error) => return write.write_all(&failure(&error.reply())).await,
    };
    match outcome {
        HookOutcome::Nothing => write.write_all(&wire::hook_success_line(seq, 0, None)).await,
        HookOutcome::Verdict(verdict) => {
            write.write_all(&wire::hook_success_line(seq, 0, Some(&verdict.json))).await?;
            if sender_has_read(lines, confirms).await {
                app.note_verdict(*verdict).await;
            }
            Ok(())
        }
        HookOutcome::Restart(restart) => {
            write.write_all(&wire::hook_success_line(seq, restart.hold_ms(), None)).await?;
            hook_of_ending_client(restart, seq, lines, write).await
        }
        HookOutcome::Hold(hold) => held_hook(hold, seq, lines, write).await,
    }
}

/// Replies to a hook that a script sends, and records its verdict after the script has read it.
async fn script_hook(
    reply: ScriptHookReply<'_>,
    app: &App,
    lines: &mut BufReader<OwnedReadHalf>,
    write: &mut OwnedWriteHalf,
) -> std::io::Result<()> {
    let (reply, verdict) = reply.await;
    write.write_all(&reply).await?;
    if let Some(verdict) = verdict
        && sender_has_read(lines, VerdictConfirmation::No).await
    {
        app.note_verdict(verdict).await;
    }
    Ok(())
}

/// Whether a sender confirms that it has printed the verdict, as `flightdeck hook` does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VerdictConfirmation {
    Yes,
    No,
}

impl VerdictConfirmation {
    fn from_env(env: &Map<String, Value>) -> Self {
        if env.get("confirms") == Some(&Value::Bool(true)) { Self::Yes } else { Self::No }
    }
}

/// Whether the sender has read the verdict that was written to it. A sender that gave up waiting closes the connection without reading; the
/// kernel reports that as an error. The content of such a verdict then waits for the next hook.
async fn sender_has_read(lines: &mut BufReader<OwnedReadHalf>, confirms: VerdictConfirmation) -> bool {
    match confirms {
        VerdictConfirmation::Yes => match lines.fill_buf().await {
            Ok(next) if next.starts_with(CONFIRMATION) => {
                read_line(lines, &mut Vec::new()).await.unwrap_or(false)
            }
            // An empty read is the end of the connection: the hook was killed. Other bytes are the next request of a sender that is
            // no hook.
            Ok(next) => !next.is_empty(),
            Err(_) => false,
        },
        VerdictConfirmation::No => match tokio::time::timeout(READ_WITHIN, lines.fill_buf()).await {
            // The sender sent its next request or closed the connection in order, so it had read the reply before.
            Ok(next) => next.is_ok(),
            // The sender neither sent nor closed anything. A sender that gave up waiting would have closed the connection.
            Err(_) => true,
        },
    }
}

/// Holds the hook until a person decides.
async fn held_hook(
    mut hold: HookHold,
    seq: u64,
    lines: &mut BufReader<OwnedReadHalf>,
    write: &mut OwnedWriteHalf,
) -> std::io::Result<()> {
    let first = write.write_all(&wire::hook_success_line(seq, hold.hold_ms(), None)).await;
    if first.is_err() {
        hold.hook_left_early();
        return first;
    }
    let verdict = tokio::select! {
        // If a verdict is ready, it is sent first, even if the hook is disconnecting.
        biased;
        verdict = hold.verdict() => verdict,
        // The client ended its hook: dropping the hold reports that. A hook that sends another line does not wait.
        sends_more = sends_more(lines) => {
            if sends_more {
                hold.hook_left_early();
            }
            return Ok(());
        }
    };
    write.write_all(&wire::hook_success_line(seq, 0, verdict.as_deref())).await
}

/// Holds the hook of a client that the supervisor is ending. If the hook ended first, the client would compact.
async fn hook_of_ending_client(
    restart: OrderedRestart,
    seq: u64,
    lines: &mut BufReader<OwnedReadHalf>,
    write: &mut OwnedWriteHalf,
) -> std::io::Result<()> {
    tokio::select! {
        _ = restart.wait_until_accepted() => write.write_all(&wire::hook_success_line(seq, 0, None)).await,
        // The hook has closed its connection, because it ended with the client.
        _ = sends_more(lines) => Ok(()),
    }
}

fn incoming(frame: EventFrame, bytes: usize) -> IncomingHook {
    let draft = HookDraft { name_in_path: None, payload: frame.args, env: frame.env, bytes };
    IncomingHook { draft, verbatim: Verbatim::default(), waits: HookWaits::UntilTimeout }
}

/// False once the other side has closed the connection.
async fn sends_more(lines: &mut BufReader<OwnedReadHalf>) -> bool {
    lines.fill_buf().await.is_ok_and(|bytes| !bytes.is_empty())
}

/// Sends the same changes as the event stream, one line each, until the viewer closes its side. It watches for the close, because on
/// a quiet board no write would fail.
async fn subscribe(
    args: Map<String, Value>,
    app: &App,
    lines: &mut BufReader<OwnedReadHalf>,
    mut write: OwnedWriteHalf,
) -> std::io::Result<()> {
    let Subscribe { last_event_id } = match Subscribe::deserialize(Value::Object(args)) {
        Ok(request) => request,
        Err(error) => return write.write_all(&invalid(error.to_string())).await,
    };
    tokio::select! {
        ended = send_changes(last_event_id, app, write) => ended,
        () = wait_until_closed(lines) => Ok(()),
    }
}

/// Sends orders to one supervisor and passes its answers to the application layer, until the supervisor disconnects.
async fn supervise(
    args: Map<String, Value>,
    app: &App,
    lines: &mut BufReader<OwnedReadHalf>,
    mut write: OwnedWriteHalf,
) -> std::io::Result<()> {
    let Supervise { group } = match Supervise::deserialize(Value::Object(args)) {
        Ok(request) => request,
        Err(error) => return write.write_all(&invalid(error.to_string())).await,
    };
    let mut orders = app.supervise(group);
    loop {
        let order = tokio::select! {
            order = orders.next() => order,
            () = wait_until_closed(lines) => None,
        };
        let Some(order) = order else { return Ok(()) };
        let frame = wire::success_line(&RestartOrder { prompt: order.prompt.clone() })?;
        write.write_all(&frame).await?;
        let mut answer = Vec::new();
        if !read_line(lines, &mut answer).await? {
            return Ok(());
        }
        order.answer(serde_json::from_slice(&answer).is_ok_and(|OrderReply { accepted }| accepted));
    }
}

/// Returns when the other side closes the connection; other lines are ignored.
async fn wait_until_closed(lines: &mut BufReader<OwnedReadHalf>) {
    while let Ok(bytes) = lines.fill_buf().await
        && !bytes.is_empty()
    {
        let all = bytes.len();
        lines.consume(all);
    }
}

/// A viewer that falls behind gets `gap` and a fresh snapshot.
async fn send_changes(
    last_event_id: Option<String>,
    app: &App,
    mut write: OwnedWriteHalf,
) -> std::io::Result<()> {
    let mut subscribed = app.subscribe(last_event_id).await;
    // An error means that the daemon is stopping: the connection ends.
    while let Ok(mut subscription) = subscribed {
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
        subscribed = app.resubscribe_after_gap().await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flightdeck_protocol::ENDPOINTS;

    use super::*;

    #[test]
    fn every_command_of_the_table_has_an_action() {
        for command in ENDPOINTS.iter().filter_map(|endpoint| endpoint.command) {
            assert!(action(command).is_some(), "{command}");
        }
        assert!(action("no such command").is_none());
    }

    #[test]
    fn the_hook_recognises_a_plain_reply_without_parsing_it() {
        let is_plain = flightdeck_hook::is_plain_acknowledgement;
        assert!(is_plain(&wire::hook_success_line(7, 0, None)));
        assert!(!is_plain(&wire::hook_success_line(7, 9, None)));
        assert!(!is_plain(&wire::hook_success_line(7, 0, Some(b"{}"))));
    }
}
