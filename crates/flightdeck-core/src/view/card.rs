//! The card of a session as it goes over the wire, and the order of cards on the board.

use serde::{Deserialize, Serialize};

use crate::approval::card::AskCard;
use crate::assignment::intent::DetectedIntent;
use crate::effort::EffortBrief;
use crate::ids::{HostId, SeatName, SessionId};
use crate::log::event::Background;
use crate::log::record::Source;
use crate::log::todo::Todo;
use crate::rules::FoldSettings;
use crate::session::agent::AgentState;
use crate::session::state_name::{Group, StateName};
use crate::session::{Failure, Parking, Seat, Session, Shown};
use crate::time::Timestamp;
use crate::usage::amounts::{Cache, CacheStatus, Context, Cost, Tokens};
use crate::usage::enrichment::Summary;
use crate::usage::session_files::Repository;
use crate::usage::status_line;
use crate::view::assignment::AssignmentBrief;
use crate::view::lens::{self, FleetStatus, Role, StatusCard, TerminalInput};
use crate::view::project::ProjectCard;
use crate::view::sub_agents::{self, SubAgentCard};
use crate::view::waiting::{self, WaitKind, WaitingCard};

/// One session as viewers see it. Fields may be added; these names stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Session"))]
pub struct Card {
    pub id: SessionId,
    pub continues: Option<SessionId>,
    pub replaced_by: Option<SessionId>,
    pub ended_at: Option<Timestamp>,
    pub end_reason: Option<String>,
    /// The name of the machine that it belongs to.
    #[serde(default)]
    pub host: Option<String>,
    /// Since when that machine is unreachable; the card keeps its state.
    #[serde(default)]
    pub unreachable_since: Option<Timestamp>,
    /// What may be done from here, if the session belongs to another machine.
    #[serde(default)]
    pub owner: Option<OwnerCard>,
    /// The place of the process that the card shows.
    pub seat: SeatCard,
    /// Every process that holds the session; the card shows the most urgent one.
    #[serde(default)]
    pub processes: Vec<ProcessCard>,
    pub project: ProjectCard,
    pub git_branch: Option<String>,
    pub transcript_path: Option<String>,
    pub title: Option<String>,
    pub last_user_message: Option<String>,
    pub model: Option<String>,
    pub permission_mode: Option<String>,
    /// The type that `claude --agent` was started with.
    #[serde(default)]
    pub agent_type: Option<String>,
    pub agent_state: StateCard,
    pub status: StatusCard,
    /// What can be typed into its terminal now; `None` if no terminal is known.
    #[serde(default)]
    pub takes: Option<TerminalInput>,
    pub fleet_status: FleetStatus,
    pub rank: Rank,
    pub quiet_since: Option<Timestamp>,
    pub stale: bool,
    pub seen: bool,
    pub current_activity: Option<String>,
    pub started_at: Timestamp,
    pub last_activity_at: Timestamp,
    /// The time from its start to its end, or to its last activity, so that the value does not change with the clock.
    #[serde(default)]
    pub duration_seconds: f64,
    pub turn_count: u32,
    pub current_turn_started_at: Option<Timestamp>,
    pub last_turn_task_seconds: Option<f64>,
    pub tokens: Option<Tokens>,
    pub cost: Option<Cost>,
    pub context: Option<Context>,
    pub cache: Cache,
    pub sub_agents: Vec<SubAgentCard>,
    pub progress_items: Vec<Todo>,
    pub background: Background,
    pub queued_prompts: u32,
    pub last_failure: Option<Failure>,
    /// Whether the agent continued after its last failure.
    #[serde(default)]
    pub failure_is_past: bool,
    /// Why it waits for the person; `None` while it works and after its end.
    #[serde(default)]
    pub waiting: Option<WaitingCard>,
    /// Set while the session is parked.
    #[serde(default)]
    pub parked: Option<Parking>,
    /// Paths that tools changed, at most [`FILES_TOUCHED_MAX`](crate::limits::FILES_TOUCHED_MAX); `files_touched_total`
    /// counts all.
    #[serde(default)]
    pub files_touched: Vec<String>,
    #[serde(default)]
    pub files_touched_total: u32,
    #[serde(default)]
    pub lines_added: u64,
    #[serde(default)]
    pub lines_removed: u64,
    #[serde(default)]
    pub compactions: u32,
    /// The end of the last message of the agent.
    #[serde(default)]
    pub last_assistant_text: Option<String>,
    pub asks: Vec<AskCard>,
    /// The intent of the last message, while the session waits for the next prompt.
    #[serde(default)]
    pub intent: Option<DetectedIntent>,
    /// What the person asked last, with its state.
    pub assignment: Option<AssignmentBrief>,
    /// The effort that it works on.
    pub effort: Option<EffortBrief>,
}

/// The other machine that a session belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Owner"))]
pub struct OwnerCard {
    /// What it lets a person do from here: `answer`, `prompt`, `interrupt`, `focus`.
    pub accepts: Vec<String>,
    /// Whether it sends prompts, commands and outputs. If not, a request cannot be allowed from here.
    pub shares_payloads: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Seat"))]
pub struct SeatCard {
    pub pid: Option<u32>,
    pub pane: Option<String>,
    pub tmux_socket: Option<String>,
    pub name: Option<SeatName>,
    pub host: Option<String>,
}

/// One of the processes that hold a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Process"))]
pub struct ProcessCard {
    pub pid: u32,
    pub pane: Option<String>,
    pub tty: Option<String>,
    pub entrypoint: Option<String>,
    pub state: StateName,
    pub label: String,
    pub role: Role,
    /// Whether the card shows the state, label and seat of this process.
    pub shown: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "AgentState"))]
pub struct StateCard {
    pub group: Group,
    pub state: StateName,
    pub label: String,
    pub icon: String,
    pub role: Role,
    pub since: Timestamp,
    pub source: Source,
}

/// Three texts by which viewers sort the cards of a group, in ascending order. Their format is not part of the interface. `default` puts
/// warm caches first, `urgency` the most urgent session, `waiting` the session that blocks or asks for the longest time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Rank {
    pub default: String,
    pub urgency: String,
    #[serde(default)]
    pub waiting: String,
}

pub fn card(session: &Session, settings: &FoldSettings) -> Card {
    let state = StateName::from_state(&session.shown.state);
    let summary = session.enrichment.as_deref().filter(|summary| summary.known.has_content());
    let known = summary.map(|summary| &summary.known);
    let line = session.status_line.as_ref();
    let cache = status_line::newest_cache(line, cache(session));
    let seat = seat(session, settings);
    let said = last_message(session);
    let waiting = waiting::waiting_card(session, said);
    let turn_started_at = turn_started_at(session);
    Card {
        id: session.id.clone(),
        continues: session.continues.clone(),
        replaced_by: session.replaced_by.clone(),
        ended_at: session.ended_at,
        end_reason: end_reason(session),
        host: host_name(&session.host, settings),
        unreachable_since: session.owner.as_ref().and_then(|owner| owner.unreachable_since),
        owner: owner(session),
        takes: accepted_input(session, state, &seat),
        seat,
        processes: processes(session),
        project: project(session),
        git_branch: git_branch(session),
        transcript_path: session.transcript_path.clone(),
        title: title(session),
        last_user_message: last_user_message(session),
        model: model(session),
        permission_mode: session.permission_mode.clone(),
        agent_type: session.agent_type.clone(),
        agent_state: state_card(session, state),
        status: StatusCard::new(&session.shown.state),
        fleet_status: lens::fleet_status(state, session.seen),
        rank: rank(session, state, cache.status, turn_started_at, waiting.as_ref()),
        quiet_since: session.quiet_since,
        stale: session.stale,
        seen: session.seen,
        current_activity: current_activity(session),
        started_at: session.started_at,
        last_activity_at: session.last_activity_at,
        duration_seconds: duration_seconds(session),
        turn_count: turn_count(session),
        current_turn_started_at: turn_started_at,
        last_turn_task_seconds: session.turn.last.map(|t| t.as_seconds()),
        tokens: known.map(|k| Tokens::sum_usage(k.usage.values())),
        cost: status_line::combined_cost(line, summary.map(|summary| Cost::from_bill(&summary.bill))),
        context: context_of(session),
        cache,
        sub_agents: sub_agents::sub_agent_cards(session),
        progress_items: progress(session),
        background: background(session),
        queued_prompts: queued_prompts(session),
        last_failure: session.last_failure.clone(),
        failure_is_past: session.last_failure.as_ref().is_some_and(|f| f.at < session.shown.since),
        waiting,
        parked: session.parked,
        files_touched: known.map(|k| k.files.iter().cloned().collect()).unwrap_or_default(),
        files_touched_total: known.map_or(0, |k| k.files_total() as u32),
        lines_added: known.map_or(0, |k| k.lines_added),
        lines_removed: known.map_or(0, |k| k.lines_removed),
        compactions: known.map_or(0, |k| k.compactions),
        last_assistant_text: said.map(str::to_owned),
        asks: session.all_asks().map(|ask| AskCard::new(&session.id, ask)).collect(),
        intent: session.idle_intent().cloned(),
        assignment: session.assignment().map(AssignmentBrief::new),
        effort: session.effort.clone(),
    }
}

fn state_card(session: &Session, state: StateName) -> StateCard {
    StateCard {
        group: state.group(),
        state,
        label: lens::session_label(session),
        icon: state.icon().to_owned(),
        role: state.role(),
        since: session.shown.since,
        source: session.shown.source,
    }
}

/// What a person may type into the session's terminal now. `None` if the session is in no pane that can be typed into.
fn accepted_input(session: &Session, state: StateName, seat: &SeatCard) -> Option<TerminalInput> {
    let has_pane = seat.pane.is_some() && seat.tmux_socket.is_some();
    state.terminal_input().filter(|input| has_pane && may_type(session, *input))
}

/// From the start of the session to its end, or to its last activity if it lives.
fn duration_seconds(session: &Session) -> f64 {
    lens::seconds_between(session.started_at, session.ended_at.unwrap_or(session.last_activity_at))
}

/// Whether the session blocks or asks, and is not parked: the sessions that "need you" in every header, line and list.
pub fn needs_person(session: &Session) -> bool {
    let waiting = waiting::waiting_card(session, last_message(session));
    session.parked.is_none() && waiting.is_some_and(|waiting| waiting.counts)
}

impl Card {
    /// Whether the session blocks or asks, and is not parked.
    pub fn needs_person(&self) -> bool {
        self.parked.is_none() && self.waiting.as_ref().is_some_and(|waiting| waiting.counts)
    }
}

/// The last message of the agent. A Stop hook reports the message before the transcript is read; a line of the transcript from after that
/// Stop is newer. If an earlier version stored the summary, the time of its line is unknown: the line then counts as newer while the
/// session works.
fn last_message(session: &Session) -> Option<&str> {
    let known = session.enrichment.as_deref().map(|e| &e.known);
    let in_transcript = known.and_then(|known| known.last_answer.as_deref());
    let at_stop = session.last_said.as_deref();
    let is_newer = match known.and_then(|known| known.last_answer_at) {
        Some(at) => Some(at) > session.said_at,
        None => session.main.state.is_working(),
    };
    if is_newer { in_transcript.or(at_stop) } else { at_stop.or(in_transcript) }
}

/// The prompt that began this turn and its time, if only the transcript has the prompt because our hooks were away.
fn unheard_prompt(session: &Session) -> Option<(&String, Timestamp)> {
    session.turn.unheard_since?;
    let known = &session.enrichment.as_ref()?.known;
    let at = known.last_prompt_at.filter(|at| Some(*at) > session.turn.started_at)?;
    Some((known.last_prompt.as_ref()?, at))
}

fn turn_started_at(session: &Session) -> Option<Timestamp> {
    let unheard = unheard_prompt(session).map(|(_, at)| at);
    let in_transcript = || session.enrichment.as_ref()?.known.last_prompt_at;
    unheard.or(session.turn.started_at).or_else(in_transcript)
}

/// The title that the person gave; otherwise the title that Claude gave; otherwise the first prompt.
fn title(session: &Session) -> Option<String> {
    let known = session.enrichment.as_ref().map(|e| &e.known);
    let named = known.and_then(|k| k.custom_title.clone().or_else(|| k.ai_title.clone()));
    named.or_else(|| session.title.clone()).or_else(|| known?.first_prompt.clone())
}

/// The newest model: from a hook or from the last answer.
fn model(session: &Session) -> Option<String> {
    let known = session.enrichment.as_ref().map(|e| &e.known);
    let newer = known.filter(|k| session.model.is_none() || k.model_at > Some(session.model_at));
    newer.and_then(|k| k.model.clone()).or_else(|| session.model.clone())
}

fn cache(session: &Session) -> Cache {
    let expires_at = session.cache_expires_at();
    let status = match (expires_at, session.cache_is_cold) {
        (None, _) => CacheStatus::Unknown,
        (Some(_), true) => CacheStatus::Cold,
        (Some(_), false) => CacheStatus::Warm,
    };
    Cache { status, expires_at }
}

/// How full the context of a session is.
pub fn context_of(session: &Session) -> Option<Context> {
    let summary = session.enrichment.as_deref();
    let line = session.status_line.as_ref();
    let answered_at = summary.and_then(|summary| summary.known.model_at);
    status_line::newest_context(line, summary.and_then(context_in_transcript), answered_at)
}

fn context_in_transcript(summary: &Summary) -> Option<Context> {
    let tokens = summary.known.context_tokens?;
    let window = summary.window;
    let percent = window.filter(|w| *w > 0).map(|w| (tokens as f64 * 1000.0 / w as f64).round() / 10.0);
    Some(Context { tokens, window, percent })
}

/// The to-dos of the client's own list. If that is empty, those of the transcript, and those that only a hook has reported so far.
fn progress(session: &Session) -> Vec<Todo> {
    let tasks = session.enrichment.as_ref().map(|e| &e.files.tasks);
    if let Some(tasks) = tasks.filter(|tasks| !tasks.is_empty()) {
        return tasks.clone();
    }
    let mut todos = session.enrichment.as_ref().map(|e| e.known.todos.clone()).unwrap_or_default();
    let more: Vec<_> = session.todos.iter().filter(|t| todos.iter().all(|k| k.id != t.id)).cloned().collect();
    todos.extend(more);
    todos
}

/// What runs in the background. The transcript names each ended task, so the number of shells is exact. Without a transcript, hooks give a
/// lower and an upper bound.
fn background(session: &Session) -> Background {
    let mut background = session.background;
    if let Some(summary) = session.enrichment.as_deref().filter(|summary| summary.known.has_content()) {
        let ended = session.background_shells.iter().filter(|id| summary.known.has_ended_task(**id)).count();
        background.shells = background.shells.saturating_sub(ended as u32);
        background.shells_min = background.shells;
    }
    background
}

/// The newest message of the person: a prompt, or a command that the person ran with `!`, which no hook reports.
fn last_user_message(session: &Session) -> Option<String> {
    let known = session.enrichment.as_ref().map(|e| &e.known);
    let command = known.and_then(|k| k.shell_command.as_ref());
    match command.filter(|c| c.at > session.turn.started_at) {
        Some(command) => Some(command.text.clone()),
        None if unheard_prompt(session).is_some() => unheard_prompt(session).map(|(text, _)| text.clone()),
        None => last_sent(session).or_else(|| known?.last_prompt.clone()),
    }
}

/// The last prompt that a hook reported, unless the person took it back from the queue.
fn last_sent(session: &Session) -> Option<String> {
    let prompt = session.last_user_message.as_ref()?;
    let known = session.enrichment.as_ref().map(|e| &e.known);
    let is_taken_back =
        |typed_at: Timestamp| known.is_some_and(|known| known.taken_back.holds(prompt, typed_at));
    (!session.turn.started_at.is_some_and(is_taken_back)).then(|| prompt.clone())
}

/// The prompts that hooks reported, without those that the person took back from the queue.
fn turn_count(session: &Session) -> u32 {
    let known = session.enrichment.as_ref().map(|e| &e.known);
    let taken_back = known.map_or(0, |known| known.taken_back.count_since(session.started_at));
    session.turn.count.saturating_sub(taken_back)
}

/// The number of queued prompts: those in the transcript, and those that hooks have reported since. The transcript is written a moment
/// after the hooks.
fn queued_prompts(session: &Session) -> u32 {
    let turn = &session.turn;
    let known = session.enrichment.as_ref().map(|e| &e.known);
    let Some((known, at)) =
        known.and_then(|k| Some((k, k.queue_at?))).filter(|(_, at)| *at > turn.queue_taken_at)
    else {
        return turn.queued.len() as u32;
    };
    known.queued_prompts(session.began_at)
        + turn.queued.iter().filter(|typed_at| **typed_at > at).count() as u32
}

fn end_reason(session: &Session) -> Option<String> {
    match &session.shown.state {
        AgentState::Ended(reason) => Some(reason.as_str().to_owned()),
        _ => None,
    }
}

/// The configured name of this machine, or the name of another.
fn host_name(host: &HostId, settings: &FoldSettings) -> Option<String> {
    if host.is_this() { settings.host.clone() } else { Some(host.to_string()) }
}

/// Whether the machine of the session lets a person here type into its terminal, and can be reached.
fn may_type(session: &Session, input: TerminalInput) -> bool {
    if session.host.is_this() {
        return true;
    }
    let action = match input {
        TerminalInput::Prompt => "prompt",
        TerminalInput::Interrupt => "interrupt",
    };
    let terms = session.owner.as_deref();
    terms
        .is_some_and(|t| t.unreachable_since.is_none() && t.accepts.iter().any(|accepted| accepted == action))
}

/// The other machine that the session belongs to. `None` for a session of this machine. Nothing is accepted until the other machine has
/// said what it accepts.
fn owner(session: &Session) -> Option<OwnerCard> {
    if session.host.is_this() {
        return None;
    }
    let terms = session.owner.as_deref();
    Some(OwnerCard {
        accepts: terms.map(|terms| terms.accepts.clone()).unwrap_or_default(),
        shares_payloads: terms.is_none_or(|terms| terms.shares_payloads),
    })
}

fn seat(session: &Session, settings: &FoldSettings) -> SeatCard {
    let seat = &session.seat;
    // The seat names its host once a process is known.
    let host = if seat.host.is_this() { &session.host } else { &seat.host };
    SeatCard {
        pid: seat.pid,
        pane: seat.pane.clone(),
        tmux_socket: seat.tmux_socket.clone(),
        name: seat.name.clone(),
        host: host_name(host, settings),
    }
}

/// The live processes of a session, sorted by pid, so that the order stays the same when the card shows another process.
pub(super) fn processes(session: &Session) -> Vec<ProcessCard> {
    let shown = process(&session.seat, session.entrypoint.as_ref(), &session.shown, true);
    let beside = session.beside.iter();
    let beside = beside.filter_map(|p| process(&p.seat, p.entrypoint.as_ref(), &p.shown, false));
    let mut cards: Vec<_> = shown.into_iter().chain(beside).collect();
    cards.sort_by(|a, b| (a.pid, &a.pane).cmp(&(b.pid, &b.pane)));
    cards
}

/// The card of one process. `None` if the process has ended or its pid is unknown.
fn process(seat: &Seat, entrypoint: Option<&String>, shown: &Shown, is_shown: bool) -> Option<ProcessCard> {
    let state = StateName::from_state(&shown.state);
    let pid = seat.pid.filter(|_| !shown.state.is_ended())?;
    Some(ProcessCard {
        pid,
        pane: seat.pane.clone(),
        tty: seat.tty.clone(),
        entrypoint: entrypoint.cloned(),
        state,
        label: lens::label(&shown.state),
        role: state.role(),
        shown: is_shown,
    })
}

fn repository(session: &Session) -> Option<&Repository> {
    session.enrichment.as_ref()?.files.repository.as_ref()
}

/// The branch of the repository. If the repository cannot be read, the branch that the client reported last.
fn git_branch(session: &Session) -> Option<String> {
    let of_line = || session.status_line.as_ref()?.data.worktree.as_ref()?.branch.clone();
    let of_transcript = || session.enrichment.as_ref()?.known.git_branch.clone();
    repository(session).and_then(|r| r.branch.clone()).or_else(of_line).or_else(of_transcript)
}

fn project(session: &Session) -> ProjectCard {
    let mut project = session.project.clone();
    // If only a transcript reports the session, it also gives the folder.
    project.learn_from(None, session.enrichment.as_ref().and_then(|e| e.known.cwd.as_deref()));
    let linked = repository(session).and_then(|r| r.worktree.as_ref());
    let project = linked.and_then(|w| w.fold(&project)).unwrap_or(project);
    let in_status_line = || session.status_line.as_ref()?.data.worktree.as_ref().map(|w| w.name.clone());
    let card = ProjectCard::new(&project);
    let worktree = linked.map(|w| w.name.clone()).or(card.worktree).or_else(in_status_line);
    ProjectCard { worktree, ..card }
}

fn current_activity(session: &Session) -> Option<String> {
    let last_command = session.enrichment.as_ref().and_then(|e| e.known.shell_command.as_ref());
    let command = last_command.filter(|c| c.runs && c.at > session.turn.started_at).map(|c| c.text.clone());
    let label = || session.main.state.is_working().then(|| lens::label(&session.main.state));
    command.filter(|_| session.main.state.is_working()).or_else(label)
}

/// The texts by which cards of a column are sorted. In Needs You, `default` sorts by cache status, urgency and last activity, `urgency` by
/// urgency first, and `waiting` puts the session first that blocks or asks for the longest time; idle sessions that ask come before other
/// idle ones. Running begins with the newest turn, Done with the session that ended last.
fn rank(
    session: &Session,
    state: StateName,
    cache: CacheStatus,
    turn_started_at: Option<Timestamp>,
    waiting: Option<&WaitingCard>,
) -> Rank {
    let newest_first =
        |at: Timestamp| format!("{:013}", 9_999_999_999_999_i64 - at.as_millis().min(9_999_999_999_999));
    let id = session.id.get(..8).unwrap_or(&session.id);
    match state.group() {
        Group::NeedsYou => {
            let asks = waiting.is_some_and(|w| w.kind == WaitKind::Asks);
            let urgency = if asks { lens::ASKS_URGENCY } else { state.urgency() };
            let tier = cache as u8;
            let recency = newest_first(session.last_activity_at);
            let later = u8::from(!waiting.is_some_and(|w| w.counts));
            Rank {
                default: format!("{tier}{urgency}-{recency}-{id}"),
                urgency: format!("{urgency}{tier}-{recency}-{id}"),
                waiting: format!("{later}-{:013}-{id}", session.shown.since.as_millis().max(0)),
            }
        }
        group => {
            let at = match group {
                Group::Done => session.ended_at.unwrap_or(session.last_activity_at),
                _ => turn_started_at.unwrap_or(session.last_activity_at),
            };
            let rank = format!("{}-{id}", newest_first(at));
            Rank { default: rank.clone(), urgency: rank.clone(), waiting: rank }
        }
    }
}
