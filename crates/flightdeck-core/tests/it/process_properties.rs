//! Properties of several processes on one session, with any steps of theirs in any order.

use std::collections::BTreeMap;

use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::log::{from_hook, from_registry};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::session::state_name::Group;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::card::Card;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::script::{self, NOON, card, read};

/// What a person does at one terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Prompt,
    /// The client asks for permission.
    Ask,
    Question,
    /// The person answers in the terminal, and the call ends.
    Answer,
    Stop,
    /// `/clear`: the client goes on with another session.
    Clear,
    Exit,
    Kill,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    terminal: usize,
    act: Act,
    /// Whether the daemon reads the client's registry entry after the act, and whether the entry settles before the next act.
    entry: Option<Settles>,
}

type Settles = bool;

const TERMINALS: usize = 3;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let act = prop_oneof![
        3 => Just(Act::Prompt), 4 => Just(Act::Ask), 2 => Just(Act::Question), 3 => Just(Act::Answer),
        2 => Just(Act::Stop), 1 => Just(Act::Clear), 1 => Just(Act::Exit), 1 => Just(Act::Kill),
    ];
    let step = (0..TERMINALS, act, any::<Option<Settles>>());
    let step = step.prop_map(|(terminal, act, entry)| Step { terminal, act, entry });
    prop::collection::vec(step, 1..40)
}

/// What is true of one terminal.
#[derive(Clone, Debug, Default)]
struct Terminal {
    /// Each client is a process of its own: a terminal that was closed comes back with another pid.
    pid: u32,
    /// Its client runs and holds the session.
    lives: bool,
    /// Its client runs and holds another session, after `/clear`.
    elsewhere: bool,
    works: bool,
    /// The clients that ran here before.
    before: u32,
    /// The open calls that wait for a person.
    asks: Vec<String>,
}

#[derive(Debug)]
struct Play {
    fleet: Fleet,
    terminals: Vec<Terminal>,
    sent: u64,
    clock: Timestamp,
    closed: Vec<String>,
}

impl Play {
    fn new() -> Self {
        let terminals = vec![Terminal::default(); TERMINALS];
        let (fleet, clock) = (Fleet::new(FoldSettings::default()), time(0));
        Self { fleet, terminals, sent: 0, clock, closed: Vec::new() }
    }

    fn step(&mut self, Step { terminal, act, entry }: Step) {
        self.begin(terminal);
        self.act(terminal, act);
        if let Some(settles) = entry {
            self.registry_entry(terminal);
            if settles {
                self.clock = self.clock + SETTLED;
                let _ = self.fleet.tick(self.clock);
            }
        }
    }

    /// Starts a client, or returns with `/resume` in a client that holds another session.
    fn begin(&mut self, terminal: usize) {
        let it = self.terminals[terminal].clone();
        if it.elsewhere {
            self.hook_of(terminal, &elsewhere(it.pid), "SessionEnd", json!({"reason": "resume"}));
        }
        if !it.lives {
            self.sent += 1;
            let pid = if it.elsewhere { it.pid } else { 100 + self.sent as u32 };
            self.terminals[terminal] = Terminal { pid, lives: true, ..Terminal::default() };
            self.hook(terminal, "SessionStart", json!({"source": "resume"}));
        }
    }

    fn act(&mut self, terminal: usize, act: Act) {
        match act {
            Act::Prompt => {
                self.hook(terminal, "UserPromptSubmit", json!({"prompt": format!("go {}", self.sent)}));
                self.terminals[terminal].asks.clear();
                self.terminals[terminal].works = true;
            }
            Act::Ask => self.ask(terminal, "Bash"),
            Act::Question => self.ask(terminal, "AskUserQuestion"),
            Act::Answer => {
                let Some(call) = self.terminals[terminal].asks.pop() else { return };
                self.hook(terminal, "PostToolUse", call_of(&call));
            }
            Act::Stop => {
                self.hook(terminal, "Stop", json!({}));
                self.terminals[terminal].asks.clear();
                self.terminals[terminal].works = false;
            }
            Act::Clear => {
                self.hook(terminal, "SessionEnd", json!({"reason": "clear"}));
                let pid = self.terminals[terminal].pid;
                self.hook_of(terminal, &elsewhere(pid), "SessionStart", json!({"source": "clear"}));
                self.terminals[terminal] = Terminal { pid, elsewhere: true, ..Terminal::default() };
            }
            Act::Exit => {
                self.hook(terminal, "SessionEnd", json!({"reason": "other"}));
                self.terminals[terminal] = Terminal::default();
            }
            Act::Kill => {
                self.gone(terminal);
                self.terminals[terminal] = Terminal::default();
            }
        }
    }

    /// A client at rest asks only after a prompt.
    fn ask(&mut self, terminal: usize, tool: &str) {
        if !self.terminals[terminal].works {
            self.act(terminal, Act::Prompt);
        }
        let call = format!("{tool}-{}", self.sent);
        self.hook(terminal, "PreToolUse", call_of(&call));
        self.hook(terminal, "PermissionRequest", request_of(&call));
        self.terminals[terminal].asks.push(call);
        self.terminals[terminal].works = true;
    }

    /// The entry that a client in this state writes.
    fn registry_entry(&mut self, terminal: usize) {
        let it = &self.terminals[terminal];
        if !it.lives && !it.elsewhere {
            return;
        }
        let session = if it.elsewhere { elsewhere(it.pid) } else { "s".to_owned() };
        let (status, waiting_for) = match (it.asks.is_empty(), it.works) {
            (false, _) => ("waiting", "permission prompt"),
            (true, true) => ("busy", ""),
            (true, false) => ("idle", ""),
        };
        let pid = it.pid;
        self.forward();
        let entry = json!({"pid": pid, "procStart": "1", "sessionId": session, "cwd": "/w/api", "status": status,
            "waitingFor": waiting_for, "statusUpdatedAt": self.clock.as_millis(), "startedAt": time(0).as_millis()});
        let Value::Object(entry) = entry else { unreachable!() };
        self.apply(from_registry::registry_record(&entry, EventId(1)).unwrap());
    }

    fn hook(&mut self, terminal: usize, name: &str, payload: Value) {
        self.hook_of(terminal, "s", name, payload);
    }

    fn hook_of(&mut self, terminal: usize, session: &str, name: &str, payload: Value) {
        self.forward();
        let record = hook_record((session, name), payload, self.terminals[terminal].pid, self.clock);
        self.apply(record);
    }

    fn gone(&mut self, terminal: usize) {
        self.forward();
        self.apply(gone_record(self.terminals[terminal].pid, self.clock));
    }

    fn forward(&mut self) {
        self.sent += 1;
        self.clock = self.clock + Millis(10);
    }

    fn apply(&mut self, mut record: Record) {
        (record.seq, record.id.0) = (self.sent, self.sent.into());
        from_hook::stamp(&mut record, self.clock, self.fleet.now());
        for effect in self.fleet.apply(&Event::from_record(&record)) {
            if let Effect::AskClosed(ask) = effect {
                self.closed.push(ask.tool_input.and_then(|i| Some(i["call"].as_str()?.to_owned())).unwrap());
            }
        }
    }

    fn card(&self) -> Card {
        card(&self.fleet, "s")
    }

    fn open(&self) -> Vec<String> {
        let mut open: Vec<_> = self.terminals.iter().flat_map(|t| t.asks.clone()).collect();
        open.sort();
        open
    }
}

/// Longer than a registry entry needs to settle.
const SETTLED: Millis = Millis(400);

/// The session of a client after `/clear`.
fn elsewhere(pid: u32) -> String {
    format!("t{pid}")
}

fn time(n: u64) -> Timestamp {
    Timestamp::from_millis(NOON) + Millis(n as i64 * 10)
}

fn call_of(call: &str) -> Value {
    let tool = call.split('-').next().unwrap();
    json!({"tool_name": tool, "tool_use_id": call, "tool_input": {"call": call}})
}

/// A PermissionRequest names no call.
fn request_of(call: &str) -> Value {
    let mut request = call_of(call);
    request.as_object_mut().unwrap().remove("tool_use_id");
    request
}

fn hook_record((session, name): (&str, &str), payload: Value, pid: u32, at: Timestamp) -> Record {
    let Value::Object(mut payload) = payload else { unreachable!() };
    payload.insert("session_id".into(), json!(session));
    payload.insert("hook_event_name".into(), json!(name));
    let env = Map::from_iter([
        ("pid".into(), json!(pid)),
        ("proc_start".into(), json!("1")),
        ("fired_at".into(), json!(at.to_string())),
    ]);
    let mut record = script::record(payload, env, 1, at, Timestamp::default());
    record.id = EventId(at.as_millis() as u128);
    record
}

fn gone_record(pid: u32, at: Timestamp) -> Record {
    from_registry::process_gone_record(&"s".into(), pid, Some("1"), at, EventId(at.as_millis() as u128))
}

/// The asks that are open on a card, by their call.
fn open_asks(card: &Card) -> Vec<String> {
    let open = card.asks.iter().filter(|ask| ask.resolution.is_none());
    let mut calls: Vec<_> =
        open.map(|ask| ask.tool_input.as_ref().unwrap()["call"].as_str().unwrap().to_owned()).collect();
    calls.sort();
    calls
}

/// The events of each terminal in its own order, each with the moment at which it fired.
fn tellings(steps: &[Step]) -> BTreeMap<u32, Vec<Record>> {
    let mut all: BTreeMap<u32, Vec<Record>> = BTreeMap::new();
    let mut terminals: Vec<Terminal> = vec![Terminal::default(); TERMINALS];
    let mut n = 0;
    for (step, Step { terminal, act, .. }) in steps.iter().enumerate() {
        let it = &mut terminals[*terminal];
        let mut tell = |pid: u32, name: &str, payload: Value| {
            n += 1;
            all.entry(pid).or_default().push(hook_record(("s", name), payload, pid, time(n)));
        };
        if !it.lives {
            let pid = 100 * (*terminal as u32 + 1) + it.before;
            *it = Terminal { pid, lives: true, before: it.before + 1, ..Terminal::default() };
            tell(it.pid, "SessionStart", json!({"source": "resume"}));
        }
        match act {
            Act::Prompt => tell(it.pid, "UserPromptSubmit", json!({"prompt": format!("go {step}")})),
            Act::Ask | Act::Question => {
                let tool = if *act == Act::Ask { "Bash" } else { "AskUserQuestion" };
                let call = format!("{tool}-{}-{}", it.pid, it.asks.len());
                tell(it.pid, "PreToolUse", call_of(&call));
                tell(it.pid, "PermissionRequest", request_of(&call));
                it.asks.push(call);
            }
            Act::Answer => {
                if let Some(call) = it.asks.last() {
                    tell(it.pid, "PostToolUse", call_of(call));
                }
            }
            Act::Stop => tell(it.pid, "Stop", json!({})),
            Act::Exit | Act::Clear => {
                let reason = if *act == Act::Clear { "clear" } else { "other" };
                tell(it.pid, "SessionEnd", json!({"reason": reason}));
                it.lives = false;
            }
            Act::Kill => {
                n += 1;
                all.entry(it.pid).or_default().push(gone_record(it.pid, time(n)));
                it.lives = false;
            }
        }
    }
    all
}

/// Mixes the events of the processes: each keeps its own order. `picks` says whose event arrives next.
fn fleet_of_mixed(tellings: &BTreeMap<u32, Vec<Record>>, picks: &[usize]) -> Fleet {
    let mut queues: Vec<_> = tellings.values().map(|records| records.iter()).collect();
    let mut picks = picks.iter().cycle();
    let mut fleet = Fleet::new(FoldSettings::default());
    // All arrive after the last one fired.
    let mut received = time(10_000);
    while !queues.is_empty() {
        let n = picks.next().unwrap() % queues.len();
        match queues[n].next() {
            None => drop(queues.remove(n)),
            Some(record) => {
                let mut record = record.clone();
                received = received + Millis(1);
                (record.seq, record.received_at) = (fleet.last_seq() + 1, received);
                let _ = fleet.apply(&Event::from_record(&record));
            }
        }
    }
    fleet
}

/// What a person reads: the state, the terminal it is about, every terminal, and the open asks. How an ended session ended
/// is what was reported last.
fn board(fleet: &Fleet) -> String {
    let card = card(fleet, "s");
    if card.agent_state.group == Group::Done {
        return "done".to_owned();
    }
    format!("{} {:?} {:?} {:?}", read(&card), card.seat.pid, card.processes, open_asks(&card))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_session_lives_as_long_as_one_of_its_processes_and_shows_every_open_need(steps in steps()) {
        let mut play = Play::new();
        for step in steps {
            let (asked, before) = (play.terminals[step.terminal].asks.clone(), play.closed.len());
            play.step(step);
            let card = play.card();
            let lives = play.terminals.iter().any(|t| t.lives);
            prop_assert_eq!(card.agent_state.group == Group::Done, !lives, "{:?}", step);
            prop_assert_eq!(open_asks(&card), play.open(), "{:?}", step);
            let foreign: Vec<_> = play.closed[before..].iter().filter(|call| !asked.contains(*call)).collect();
            prop_assert!(foreign.is_empty(), "{:?} closed {:?}", step, foreign);
            let shown = play.terminals.iter().find(|t| Some(t.pid) == card.seat.pid && t.lives);
            let waits = play.terminals.iter().any(|t| !t.asks.is_empty());
            prop_assert_eq!(shown.is_some(), lives);
            prop_assert_eq!(shown.is_some_and(|t| !t.asks.is_empty()), waits, "{:?}", read(&card));
            let living = play.terminals.iter().filter(|t| t.lives).count();
            prop_assert_eq!(card.processes.len(), living);
        }
    }

    #[test]
    fn any_interleaving_of_the_processes_ends_at_the_same_board(
        steps in steps(),
        picks in prop::collection::vec(any::<usize>(), 1..60),
        others in prop::collection::vec(any::<usize>(), 1..60),
    ) {
        let tellings = tellings(&steps);
        prop_assert_eq!(board(&fleet_of_mixed(&tellings, &picks)), board(&fleet_of_mixed(&tellings, &others)));
    }
}
