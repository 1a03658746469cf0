//! Efforts, their guard rules, windows, workstreams, messages and seats.

use flightdeck_core::effort::guard::GuardRule;
use flightdeck_core::effort::{EffortMessage, SkillSettings};
use flightdeck_core::ids::{EffortId, MessageId, SessionId, WindowId};
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::effort::{EffortCard, WindowCard, WorkstreamCard};
use flightdeck_core::view::lens::FleetStatus;
use flightdeck_core::view::seats::KnownSeatCard;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::arguments;

/// Starts an effort in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartEffort {
    /// The directory, absolute. Sessions below it work on the effort.
    pub dir: String,
    pub skill: String,
    #[serde(default)]
    pub mode: Option<String>,
    /// Only sessions with this `AGENT_ID` or `FLIGHTDECK_SEAT` work on it.
    #[serde(default)]
    pub seat: Option<String>,
    /// What it is about; the first prompt unless given.
    #[serde(default)]
    pub title: Option<String>,
    /// What the skill says; read from the front matter of its SKILL.md unless given.
    #[serde(default)]
    pub settings: Option<SkillSettings>,
    /// What the workstream is about; unless given, what it was about before, else the title of its first effort.
    #[serde(default)]
    pub workstream_title: Option<String>,
    /// Words by which the workstream is found; those that it had before unless given.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// What the sender knows the effort by. It is stored and shown as it is.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// An effort that was started, and whether its verdicts reach the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartedEffort {
    #[serde(flatten)]
    pub effort: EffortCard,
    /// A sentence for the person about the registered hooks.
    pub hooks: String,
}

/// A page of efforts: the active ones, then the finished ones, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListEfforts {
    /// active, finished, or all; all unless given.
    pub lifecycle: Option<String>,
    /// The directory of a workstream, or a folder below one.
    pub dir: Option<String>,
    pub skill: Option<String>,
    pub seat: Option<String>,
    /// `next_before` of the page before.
    pub before: Option<String>,
    /// Efforts of one page, at most 200. Unless given: all active ones, and 50 finished ones.
    #[serde(deserialize_with = "arguments::number")]
    pub limit: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct EffortList {
    pub efforts: Vec<EffortCard>,
    /// `None` on the last page.
    pub next_before: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetEffort {
    pub id: EffortId,
}

/// Enters a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnterPhase {
    pub id: EffortId,
    pub phase: String,
    /// Why the phase before is complete.
    #[serde(default)]
    pub proof: Option<String>,
}

/// Adds an entry to the log of the effort, and sets the heartbeat of the session that logs back to 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEffort {
    pub id: EffortId,
    pub text: String,
    /// The session that logs. Unless given, or if it has no open window here, the heartbeat of every window is set back.
    #[serde(default)]
    pub session_id: Option<SessionId>,
}

/// Leaves a payload for the next window, and ends the window of the session that hands over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dehydrate {
    pub id: EffortId,
    pub payload: String,
    /// The session that hands over. Unless given, or if it has no open window here, the newest window ends.
    #[serde(default)]
    pub session_id: Option<SessionId>,
}

/// Gives the agent a text with the next hook that can carry it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectText {
    pub id: EffortId,
    pub text: String,
}

/// Tells the agent, and every new window, to read files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreloadFiles {
    pub id: EffortId,
    /// Absolute, or relative to the workstream.
    pub files: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishEffort {
    pub id: EffortId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListGuards {
    pub effort: EffortId,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuardList {
    /// In the order in which they are evaluated.
    pub guards: Vec<GuardRule>,
}

/// Adds a guard rule, or replaces the one with its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetGuard {
    pub effort: EffortId,
    pub rule: GuardRule,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoveGuard {
    pub effort: EffortId,
    pub rule_id: String,
}

/// Which calls of the recorded history the rules of an effort would have denied. Nothing is changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestGuards {
    pub effort: EffortId,
    /// A rule to try beside the saved ones; the saved ones alone unless given.
    #[serde(default)]
    pub rule: Option<GuardRule>,
    /// How many of the newest events of the log are looked through; 200,000 unless given, and at most.
    #[serde(default)]
    pub events: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct GuardReport {
    /// Calls that were evaluated.
    pub calls: u64,
    /// Older calls were not evaluated. `null` if all recorded calls were.
    pub since: Option<Timestamp>,
    pub rules: Vec<GuardReportRow>,
    /// The newest calls that would have been denied, the newest first.
    pub denied: Vec<DeniedCall>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct GuardReportRow {
    pub rule: String,
    pub then: String,
    /// Calls that the rule matches.
    pub matched: u64,
    /// Calls that it decides.
    pub decided: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct DeniedCall {
    pub at: Timestamp,
    pub session_id: SessionId,
    /// `Bash: git push --force`
    pub call: String,
    pub rule: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListWorkstreams {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkstreamList {
    pub workstreams: Vec<WorkstreamCard>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetWorkstream {
    pub dir: String,
}

/// The windows of an effort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListWindows {
    pub effort: EffortId,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowList {
    pub windows: Vec<WindowCard>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetWindow {
    pub id: WindowId,
}

/// Ends a window, and may leave a payload for the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishWindow {
    pub id: WindowId,
    #[serde(default)]
    pub dehydration_payload: Option<String>,
}

/// Directive files from the given files up to the project root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoverDirectives {
    /// Files that the agent touched, absolute.
    pub files: Vec<String>,
    /// Where the search ends. Unless given: the root of the project (the nearest folder with `.git`) that the effort's workstream, or
    /// without an effort the file, is in; without one the workstream, or the folder of the file.
    #[serde(default)]
    pub root: Option<String>,
    /// New ones are given to the windows of this effort, each once.
    #[serde(default)]
    pub effort: Option<EffortId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectiveList {
    /// Real paths, the outermost folder first.
    pub directives: Vec<String>,
}

/// An effort belongs to a seat from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimSeat {
    /// What the sessions have as `AGENT_ID` or `FLIGHTDECK_SEAT`.
    pub name: String,
    /// Unless given: with a parent none, otherwise the newest active effort without a seat.
    #[serde(default)]
    pub effort: Option<EffortId>,
    /// The name of the seat that is told when this one is idle.
    #[serde(default)]
    pub parent: Option<String>,
}

/// An effort belongs to no seat any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseSeat {
    pub name: String,
    /// Every active effort of the seat unless given.
    #[serde(default)]
    pub effort: Option<EffortId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatEfforts {
    pub name: String,
    /// The active efforts that belong to it now.
    pub efforts: Vec<EffortId>,
}

/// Files a message with an effort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppendMessage {
    pub effort: EffortId,
    pub text: String,
    /// One word of the sender: note, decision, question. `log` is refused, because `effort.log` adds log entries.
    pub kind: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageFiled {
    pub id: MessageId,
}

/// The messages of an effort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListEffortMessages {
    pub effort: EffortId,
    #[serde(default)]
    pub kind: Option<String>,
    /// The oldest message of the page before.
    #[serde(default)]
    pub before: Option<MessageId>,
    #[serde(default, deserialize_with = "arguments::number")]
    pub limit: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffortMessageList {
    /// Oldest first: the newest messages, or those before a cursor.
    pub messages: Vec<EffortMessage>,
    /// `None` on the last page.
    pub next_before: Option<MessageId>,
}

/// Every seat with its status and its effort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetFleetStatus {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetSeats {
    /// The worst of all seats: error, attention, working, checked, done.
    pub status: FleetStatus,
    /// The worst first.
    pub seats: Vec<SeatStatus>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeatStatus {
    #[serde(flatten)]
    pub seat: KnownSeatCard,
    /// The active effort of the seat.
    pub effort: Option<EffortId>,
    pub skill: Option<String>,
    pub phase: Option<String>,
    /// What its session does, as its card says it.
    pub label: Option<String>,
}
