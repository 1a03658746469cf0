//! The table of all requests: one row each.

use serde_json::json;

use crate::types::*;
use crate::{ApiRequest, Endpoint, Method, Route, SocketCommand};

/// Passes every row of the interface to the macro `$then`. A row is
///
/// ```text
/// RequestType -> ReplyType, "what it does" {
///     socket "command", example {"argument": "…"};
///     http get "/path/{id}" [200 "what the status means", 404 "No such thing"];
/// }
/// ```
///
/// Both lines may be absent, and `http` may be there several times. The status of a success comes first. `by name` after a
/// command or a path names a handler of the transport for requests that do not fit "arguments in, one reply out"; a path
/// may have a summary of its own. To add a request: write its types, add a row, and implement it on `App`.
#[macro_export]
macro_rules! endpoints {
    ($then:ident) => {
        $then! {
            Hook -> HookReply, "Take a hook payload" {
                socket "hook" by hook, example {"session_id": "a1b2", "hook_event_name": "Stop"};
                http post "/api/live/hook" by live_hook [
                    200 "The verdict, where x-flightdeck-hold: 1 asked to wait for one",
                    204 "Stored; x-flightdeck-seq says where",
                    400 "Not a payload",
                    413 "Over 64 MB",
                    503 "Could not be stored",
                ];
                http post "/hook/{event}" by named_hook,
                    "Take a hook payload; the path names the event if the body does not"
                    [204 "Stored", 400 "Not a payload"];
            }
            StatusLine -> StatusLineReply, "Take the client's status line" {
                socket "statusline" by status_line, example {"session_id": "a1b2", "model": {"id": "claude-opus-5-5"}};
            }
            GetHookStatus -> HookStatus, "Whether our hooks are in place, and the events they sent; wanted: hooks were \
                asked for; stale: ours, but not as we would write them; problem: why the file cannot be used; fix: \
                the one command that puts it right; simulated: the sessions are made up, hooks are left out on purpose; \
                program: what to type to run the daemon's own binary" {
                http get "/hook/status" [200 "Status"];
            }
            Subscribe -> ChangeFrame, "The board as an event stream: a snapshot, then every change \
                (session_discovered, session_updated, session_completed, session_removed: it left Done, ask_opened, \
                ask_closed, assignment_updated, effort_updated, gap); Last-Event-ID replays" {
                socket "subscribe" by subscribe, example {"last_event_id": "6f2a-812"};
                http get "/api/live/stream" by stream [200 "text/event-stream"];
            }
            Supervise -> RestartOrder, "Orders for the supervisor of a client, until the connection ends: end the client and \
                start it fresh with a prompt. Each is answered with a line {accepted}" {
                socket "supervise" by supervise, example {"group": 4242};
            }
            ListSessions -> SessionList, "The board; all=1 adds every session that left it, stored or replaced, paged by \
                before and limit" {
                socket "sessions", example {"all": true, "limit": 50};
                http get "/api/sessions" [200 "Sessions"];
            }
            GetSession -> Card, "One session; replaced_by: the session that went on in its process; agent_state.role: \
                the colour of its state; takes: what can be typed into its terminal now" {
                socket "session", example {"session_id": "a1b2"};
                http get "/api/sessions/{id}" [200 "Session", 404 "No such session"];
            }
            ListEvents -> EventPage, "Its events, oldest first; after, or before for the newest; limit, payload=1; \
                by_person: a prompt that a person wrote" {
                socket "events", example {"session_id": "a1b2", "after": 0, "limit": 50};
                http get "/api/sessions/{id}/events" [200 "Events"];
            }
            GetConversation -> ConversationPage, "What the person and the agent said, from its transcript, oldest first: the \
                newest messages, or those before a cursor (before=next_before); limit at most 200; kind is text, tool, \
                failure or notice; missing says why there is none" {
                socket "conversation", example {"session_id": "a1b2", "limit": 50};
                http get "/api/sessions/{id}/conversation" [
                    200 "Messages",
                    400 "before is not a cursor",
                    404 "No such session",
                    503 "The transcript cannot be read",
                ];
            }
            ExplainSession -> Explanation, "Why the session is in its state" {
                socket "explain", example {"session_id": "a1b2"};
                http get "/api/sessions/{id}/explain" [200 "Explanation", 404 "No such session"];
            }
            GetNumbers -> Numbers, "Its context and cost over time, oldest first, at most 240 points: at, \
                context_tokens, usd_micros so far" {
                http get "/api/sessions/{id}/numbers" [200 "Points", 404 "No such session"];
            }
            MarkSeen -> Logged, "Mark a session as seen: the person opened its card" {
                socket "seen", example {"session_id": "a1b2"};
                http post "/api/sessions/{id}/seen" by seen [202 "Noted", 404 "No such session"];
            }
            ParkSession -> Logged, "Put an idle session aside: until a time, else until its next change; parked=false \
                takes it back" {
                socket "park", example {"session_id": "a1b2", "until": "2026-11-16T08:00:00Z"};
                http post "/api/sessions/{id}/park" [
                    200 "Noted",
                    404 "No such session",
                    409 "It does not wait, or it waits for an answer",
                    422 "The time is over",
                ];
            }
            ListAsks -> AskList, "Its asks: the open ones, and those resolved in the last minute" {
                socket "asks", example {"session_id": "a1b2"};
                http get "/api/sessions/{id}/asks" [200 "Asks", 404 "No such session"];
            }
            GetAsk -> AskCard, "One ask, whole" {
                socket "ask", example {"ask_id": "0f3c"};
                http get "/api/asks/{id}" [200 "Ask", 404 "No such ask"];
            }
            AnswerAsk -> ResolutionCard, "Answer it: decision, and message, interrupt, updated_permissions, answers, \
                content or mode as it needs" {
                socket "answer", example {"ask_id": "0f3c", "answer": {"decision": "allow", "via": "api"}};
                http post "/api/asks/{id}/answer" by answer [
                    200 "Resolution",
                    400 "The body is not JSON",
                    404 "No such ask",
                    409 "Already decided, or only the terminal can answer",
                    422 "The answer does not fit the ask",
                ];
            }
            SendPrompt -> Pressed, "Type the next prompt into its tmux pane: text; as=command|text; draft=keep|replace" {
                socket "prompt", example {"session_id": "a1b2", "text": "go on"};
                http post "/api/sessions/{id}/prompt" [
                    202 "Typed; confirmed says whether the client has taken it",
                    400 "No text, or not understood",
                    404 "No such session",
                    409 "Not now: error, message, and what to ask the person (confirm, draft, choices, resume)",
                ];
            }
            Interrupt -> Pressed, "Press Esc in its tmux pane; with stop=true end the client. Both need confirm=true" {
                socket "interrupt", example {"session_id": "a1b2", "confirm": true};
                http post "/api/sessions/{id}/interrupt" [
                    202 "Done; confirmed says whether it has stopped",
                    404 "No such session",
                    409 "Not now",
                ];
            }
            Focus -> Focused, "Bring its terminal to the front" {
                socket "focus", example {"session_id": "a1b2"};
                http post "/api/sessions/{id}/focus" [202 "In front", 404 "No such session", 409 "Not now"];
            }
            Peek -> PaneScreen, "What its tmux pane shows now, as text" {
                socket "peek", example {"session_id": "a1b2"};
            }
            ListAssignments -> AssignmentList, "What was asked, the newest first: the open ones, then the completed ones; \
                project, state (or open), since, until, text; before and limit page" {
                socket "assignment.list", example {"state": "awaiting_input", "limit": 50};
                http get "/api/assignments" [200 "Assignments", 400 "A filter is not understood"];
            }
            GetAssignment -> AssignmentCard, "One assignment" {
                socket "assignment.show", example {"id": "a-0f3c"};
                http get "/api/assignments/{id}" [200 "Assignment", 404 "No such assignment"];
            }
            ListMessages -> MessageList, "Its messages, oldest first: who said it, with what intent and why" {
                socket "assignment.messages", example {"id": "a-0f3c"};
                http get "/api/assignments/{id}/messages" [200 "Messages", 404 "No such assignment"];
            }
            GetDigest -> Digest, "What happened since a time (lunch, 9:00, yesterday, 2h, 7d, a date, else today): counts, \
                time working and time waiting for the person per project and day, what completed, what waits" {
                socket "digest", example {"since": "lunch"};
                http get "/api/digest" [200 "Digest", 400 "since is not understood"];
            }
            ListSeats -> SeatList, "All seats, occupied or free, and why each session was assigned its seat" {
                socket "seat.list", example {};
                http get "/api/seats" [200 "Seats"];
            }
            StartEffort -> StartedEffort, "Start an effort in a directory: sessions below it work on it, with a heartbeat, guard rules \
                and handoffs between context windows" {
                socket "effort.start", example {"dir": "/home/dev/work/api", "skill": "implement"};
            }
            ListEfforts -> EffortList, "Efforts, the active ones first: lifecycle, dir, skill, seat; before and limit page" {
                socket "effort.list", example {"lifecycle": "active"};
                http get "/api/efforts" [200 "Efforts", 400 "A filter is not understood"];
            }
            GetEffort -> EffortCard, "One effort" {
                socket "effort.show", example {"id": "e-0f3c"};
                http get "/api/efforts/{id}" [200 "Effort", 404 "No such effort"];
            }
            EnterPhase -> EffortCard, "Enter a phase; proof says why the one before is complete" {
                socket "effort.phase", example {"id": "e-0f3c", "phase": "2: Build", "proof": "the plan was approved"};
            }
            LogEffort -> EffortCard, "Add a log entry; the heartbeat of the session, or of all, starts again at 0" {
                socket "effort.log", example {"id": "e-0f3c", "text": "9 of 14 rules moved", "session_id": "a1b2"};
            }
            Dehydrate -> EffortCard, "Leave a handoff for the next context window, and end the one of the session, or the newest" {
                socket "effort.dehydrate", example {"id": "e-0f3c", "payload": "Where it stands: …", "session_id": "a1b2"};
            }
            InjectText -> EffortCard, "Give the agent a text with the next hook that can carry it" {
                socket "effort.inject", example {"id": "e-0f3c", "text": "The API key moved to the vault"};
            }
            PreloadFiles -> EffortCard, "Tell the agent, and every new window, to read files" {
                socket "effort.preload", example {"id": "e-0f3c", "files": ["docs/tax.md"]};
            }
            FinishEffort -> EffortCard, "Finish an effort: no call is counted or denied any more" {
                socket "effort.finish", example {"id": "e-0f3c"};
            }
            ListGuards -> GuardList, "The guard rules of an effort, in the order in which they are evaluated" {
                socket "guard.list", example {"effort": "e-0f3c"};
            }
            SetGuard -> EffortCard, "Add a guard rule, or replace the one with its id" {
                socket "guard.set", example {"effort": "e-0f3c", "rule": {"id": "no-force-push", "then": "deny",
                    "when": {"field": "/tool_input/command", "op": "contains", "value": "push --force"},
                    "message": "Do not rewrite what others have pulled."}};
            }
            RemoveGuard -> EffortCard, "Remove a guard rule" {
                socket "guard.remove", example {"effort": "e-0f3c", "rule_id": "no-force-push"};
            }
            TestGuards -> GuardReport, "Which recorded calls the guard rules would have denied, without changing anything" {
                socket "guard.test", example {"effort": "e-0f3c", "rule": {"id": "no-force-push", "then": "deny",
                    "when": {"field": "/tool_input/command", "op": "contains", "value": "push --force"}}};
                http get "/api/efforts/{effort}/guard-history" [200 "What each rule would have done", 404 "No such effort"];
            }
            ListWorkstreams -> WorkstreamList, "Directories that had efforts" {
                socket "workstream.list", example {};
            }
            GetWorkstream -> WorkstreamCard, "One workstream" {
                socket "workstream.show", example {"dir": "/home/dev/work/api"};
            }
            ListWindows -> WindowList, "The context windows of an effort, oldest first" {
                socket "window.list", example {"effort": "e-0f3c"};
            }
            GetWindow -> WindowCard, "One context window" {
                socket "window.show", example {"id": "w-0f3c"};
            }
            FinishWindow -> WindowCard, "End a context window; dehydration_payload is left for the next" {
                socket "window.finish", example {"id": "w-0f3c", "dehydration_payload": "Where it stands: …"};
            }
            DiscoverDirectives -> DirectiveList, "Directive files (AGENTS.md, CLAUDE.md and configured names) from files up to the \
                project root" {
                socket "directives.discover", example {"files": ["/home/dev/work/api/src/tax/mod.rs"], "effort": "e-0f3c"};
            }
            ClaimSeat -> SeatEfforts, "Assign an effort to a seat: only sessions with that AGENT_ID work on it" {
                socket "seat.claim", example {"name": "backend", "effort": "e-0f3c"};
            }
            ReleaseSeat -> SeatEfforts, "Release the efforts of a seat: they belong to no seat any more" {
                socket "seat.release", example {"name": "backend"};
            }
            AppendMessage -> MessageFiled, "Add a message to an effort" {
                socket "message.append", example {"effort": "e-0f3c", "text": "Tables stay as data", "kind": "decision"};
            }
            ListEffortMessages -> EffortMessageList, "The messages of an effort, oldest first; kind, before and limit" {
                socket "message.list", example {"effort": "e-0f3c", "limit": 50};
            }
            GetFleetStatus -> FleetSeats, "Every seat with its status (error, attention, working, checked, done) and its effort, the \
                worst first" {
                socket "fleet.status", example {};
            }
            HookSessionStart -> SessionStartReply, "A session starts: begins a context window and returns what it needs" {
                socket "hooks.sessionStart" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "SessionStart",
                    "source": "startup"};
            }
            HookSessionEnd -> SessionEndReply, "A session ends: ends its context window" {
                socket "hooks.sessionEnd" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "SessionEnd",
                    "reason": "clear"};
            }
            HookPreCompact -> PreCompactReply, "The client compacts: an automatic compaction ends the context window" {
                socket "hooks.preCompact" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "PreCompact",
                    "trigger": "auto"};
            }
            HookPreToolUse -> PreToolUseReply, "Before a tool call: counts it and says whether it may run" {
                socket "hooks.preToolUse" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "PreToolUse",
                    "tool_name": "Bash", "tool_input": {"command": "cargo test"}, "tool_use_id": "toolu_1"};
            }
            HookPostToolUse -> PostToolUseReply, "After a tool call: what waits for the agent" {
                socket "hooks.postToolUse" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "PostToolUse",
                    "tool_name": "Bash", "tool_input": {"command": "cargo test"},
                    "tool_response": {"stdout": "ok"}, "tool_use_id": "toolu_1"};
            }
            HookPostToolUseFailure -> PostToolUseFailureReply, "A tool call failed: filed as a message" {
                socket "hooks.postToolUseFailure" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "PostToolUseFailure",
                    "tool_name": "Bash", "tool_input": {"command": "cargo test"},
                    "tool_use_id": "toolu_1", "error": "exit 1"};
            }
            HookStop -> StopReply, "The turn ended" {
                socket "hooks.stop" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "Stop",
                    "stop_hook_active": false, "last_assistant_message": "Done."};
            }
            HookUserPrompt -> UserPromptReply, "The person submitted a prompt: one line of context" {
                socket "hooks.userPrompt" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "UserPromptSubmit",
                    "prompt": "go on"};
            }
            HookNotification -> SeatStatusReply, "The client notified the person" {
                socket "hooks.notification" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "Notification",
                    "message": "Claude needs your permission", "notification_type": "permission_prompt"};
            }
            HookPermissionRequest -> PermissionRequestReply, "The client asks for permission" {
                socket "hooks.permissionRequest" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "PermissionRequest",
                    "tool_name": "Bash", "tool_input": {"command": "cargo test"}};
            }
            HookTeammateIdle -> TeammateIdleReply, "A teammate has nothing to do: its parent seat is told" {
                socket "hooks.teammateIdle" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "TeammateIdle",
                    "teammate_name": "tests", "team_name": "api"};
            }
            HookTaskCompleted -> TaskCompletedReply, "A to-do of the client is done: filed as a message" {
                socket "hooks.taskCompleted" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "TaskCompleted",
                    "task_id": "1", "task_subject": "Write the parser"};
            }
            HookSubagentStart -> SubagentStartReply, "A subagent starts: a context window of its own on the effort" {
                socket "hooks.subagentStart" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "SubagentStart",
                    "agent_id": "a1", "agent_type": "Explore"};
            }
            HookSubagentStop -> SubagentStopReply, "A subagent stopped: its window ends, its loaded files are merged" {
                socket "hooks.subagentStop" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "SubagentStop",
                    "stop_hook_active": false, "agent_id": "a1", "agent_type": "Explore",
                    "agent_transcript_path": "/home/dev/.claude/projects/api/a1.jsonl", "last_assistant_message": "Found it."};
            }
            HookConfigChange -> ConfigChangeReply, "The client's settings changed: skills are read again" {
                socket "hooks.configChange" by engine_hook, example {"session_id": "a1b2", "transcript_path": "/home/dev/.claude/projects/api/a1b2.jsonl", "cwd": "/home/dev/work/api",
                    "permission_mode": "default", "hook_event_name": "ConfigChange",
                    "source": "project_settings"};
            }
            ListHosts -> HostList, "The hosts of the fleet, what needs a look first: last seen, backlog, version, sessions, clock; \
                link: the connection to the server that joins them" {
                socket "hosts.list", example {};
                http get "/api/hosts" [200 "Hosts"];
            }
            TestNotify -> NotifyTests, "Send a test to every target of notifications, or to target" {
                socket "notify.test", example {"target": "desktop"};
            }
            AnswerByKey -> ResolutionCard, "Answer an ask with the key of a notification's button: the key is enough, no \
                token is needed, and it works once" {
                http post "/api/notify/answer/{key}" [
                    200 "Resolution",
                    404 "No such key: it was used, or its ask is over",
                    409 "Already decided, or only the terminal can answer",
                ];
            }
            ReportVisibility -> VisibilityNoted, "A page says whether the person sees it, and which sessions it shows (all, \
                unless sessions are given): no notification is sent about those" {
                http post "/api/notify/visible" [200 "Noted; wanted: whether notifications are sent", 400 "Not understood"];
            }
            GetFleet -> FleetOverview, "How many sessions each column has, and the rate limits of the subscription if known" {
                socket "fleet", example {};
                http get "/api/fleet" [200 "Overview"];
            }
            GetFleetHistory -> FleetHistory, "What every session on the board did since a time (since, else eight hours \
                ago): spans of one state each" {
                http get "/api/fleet/history" [200 "Spans of state"];
            }
            GetUsage -> Report, "What was spent, and the rate limits where known; since=today, 7d, a date or a time; \
                by=hour, day, project, model or session gives rows, with offset and limit; refresh=true looks at the disk \
                first" {
                socket "usage", example {"since": "7d", "by": "project"};
                http get "/api/usage" [200 "Report", 400 "since or by is not understood"];
            }
            ControlIndexing -> Indexing, "How many past transcripts are left to read; pause pauses or resumes the reading" {
                socket "index", example {"pause": true};
            }
            GetPolicyHistory -> PolicyHistory, "Permission requests and answers of the log, paged by after" {
                socket "policy.history", example {"after": 0};
            }
            SuggestRules -> RuleSuggestions, "Suggests policy rules for an ask, narrowest first" {
                socket "policy.suggest", example {"ask_id": "0f3c"};
                http get "/api/asks/{id}/rules" [200 "Rules, none for a question, a plan or a form", 404 "No such ask"];
            }
            PreviewRule -> PolicyReport, "What one more rule would have answered: only requests that the present rules treat \
                otherwise are counted; since leaves older requests out. Nothing is written" {
                socket "policy.preview", example {"rule": {"tool": "Bash", "match": "cargo test*", "decision": "allow"}};
                http post "/api/policy/preview" [200 "Report", 400 "The rule is not possible"];
            }
            AddRule -> RuleAdded, "Write a rule into config.toml, after the present ones, keeping comments and order; \
                enable also turns the policy on. It applies from the next request on" {
                socket "policy.add", example {"rule": {"tool": "Bash", "match": "make*", "decision": "deny"}};
                http post "/api/policy/rules" [
                    200 "Written",
                    400 "The rule is not possible",
                    503 "config.toml has a mistake or cannot be written",
                ];
            }
            Ping -> Pong, "The version and process of the daemon" {
                socket "ping", example {};
            }
            GetStatus -> DaemonStatus, "The status of the daemon: health, counts, hooks" {
                socket "status", example {};
            }
            GetHealth -> HealthReport, "Whether events can be stored" {
                http get "/healthz" by healthz [200 "ok", 503 "degraded"];
            }
            GetMetrics -> Metrics, "Prometheus text" {
                http get "/metrics" by metrics [200 "Metrics"];
            }
            GetOpenApi -> OpenApi, "This document" {
                http get "/api/openapi.json" [200 "OpenAPI"];
            }
        }
    };
}

/// Other names of commands, as scripts of other tools send them.
pub const ALIASES: [(&str, &str); 2] =
    [("session.finish", "window.finish"), ("agent.directives.discover", "directives.discover")];

/// Implements [`ApiRequest`] and [`SocketCommand`] for every row, and lists the rows.
macro_rules! describe {
    ($(
        $request:ident -> $reply:ty, $summary:literal {
            $(socket $command:literal $(by $special:ident)?, example $example:tt;)?
            $(http $method:ident $path:literal $(by $handler:ident)? $(, $about:literal)?
                [$($status:literal $meaning:literal),* $(,)?];)*
        }
    )*) => {
        $(
            impl ApiRequest for $request {
                type Reply = $reply;
                const ENDPOINT: Endpoint = Endpoint {
                    summary: $summary,
                    command: first!($(Some($command),)? None),
                    example: || first!($(json!($example),)? json!({})),
                    routes: &[$(Route {
                        method: method!($method),
                        path: $path,
                        summary: first!($($about,)? $summary),
                        responses: &[$(($status, $meaning)),*],
                    }),*],
                };
            }
            $(impl SocketCommand for $request {
                const COMMAND: &'static str = $command;
            })?
        )*

        /// Every row of the table, in its order.
        pub const ENDPOINTS: &[Endpoint] = &[$($request::ENDPOINT),*];
    };
}

macro_rules! first {
    ($first:expr $(, $others:expr)*) => {
        $first
    };
}

macro_rules! method {
    (get) => {
        Method::Get
    };
    (post) => {
        Method::Post
    };
}

endpoints!(describe);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_example_reads_as_its_request() {
        macro_rules! check {
            ($($request:ident -> $reply:ty, $summary:literal { $($lines:tt)* })*) => {
                $(
                    let example = ($request::ENDPOINT.example)();
                    let read = serde_json::from_value::<$request>(example.clone());
                    assert!($request::ENDPOINT.command.is_none() || read.is_ok(), "{example}: {read:?}");
                )*
            };
        }
        endpoints!(check);
    }

    #[test]
    fn no_command_and_no_route_is_there_twice() {
        let commands: Vec<_> = ENDPOINTS.iter().filter_map(|endpoint| endpoint.command).collect();
        assert_eq!(commands.iter().collect::<BTreeSet<_>>().len(), commands.len());
        let routes: Vec<_> = crate::openapi::routes().map(|r| (r.method.as_str(), r.path)).collect();
        assert_eq!(routes.iter().collect::<BTreeSet<_>>().len(), routes.len());
    }

    #[test]
    fn every_row_can_be_called() {
        for endpoint in ENDPOINTS {
            assert!(endpoint.command.is_some() || !endpoint.routes.is_empty(), "{}", endpoint.summary);
        }
    }
}
