//! An afternoon of 54 sessions: every target gets exactly the notes that a person would expect, over two restarts, beside a
//! target that hangs and one that fails.

use std::collections::{BTreeMap, BTreeSet};

use flightdeck::store::Store;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::session::state_name::StateName;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::{self, card::Card};
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_e2e::testkit::until;
use flightdeck_sim::fleet::{FleetConfig, SimEvent, SimFleet as Sim};
use serde_json::json;

use super::{NoteServer, notes_in_file, script, undone};
use crate::in_process::InProcessDaemon;

/// Real time passes while notes are gathered, so the afternoon uses a short settle time.
const SETTLE: Millis = Millis(20);
const AGAIN_AFTER: Millis = Millis::minutes(5);
/// How much of the afternoon is played.
const PLAYED: Millis = Millis::minutes(30);

/// What a person would expect, written down from the cards alone and without the rules of the fold.
#[derive(Default)]
struct Person {
    /// By session: the state that is worth a note, since when it is there, and whether the note was expected already.
    present: BTreeMap<String, (&'static str, Timestamp, bool)>,
    last_note: BTreeMap<String, Timestamp>,
    expected: Vec<String>,
}

impl Person {
    fn worth(card: &Card) -> Option<&'static str> {
        match card.agent_state.state {
            StateName::NeedsPermission => Some("needs_permission"),
            StateName::AwaitingInput | StateName::AwaitingApproval => Some("asks"),
            StateName::Error => Some("failed"),
            StateName::Idle if card.agent_state.label.starts_with("Asks: ") => Some("asks"),
            StateName::Idle if card.agent_state.label != "Ready" => Some("completed"),
            _ => None,
        }
    }

    /// The next moment at which a note is due.
    fn next(&self) -> Option<Timestamp> {
        let due = |(id, (_, since, noted)): (&String, &(&str, Timestamp, bool))| {
            let again = self.last_note.get(id).map_or(Timestamp::default(), |at| *at + AGAIN_AFTER);
            (!noted).then(|| (*since + SETTLE).max(again))
        };
        self.present.iter().filter_map(due).min()
    }

    fn look(&mut self, fleet: &Fleet, now: Timestamp) {
        let mut seen = BTreeSet::new();
        for session in fleet.sessions() {
            let card = view::card(session, fleet.settings());
            let id = session.id.to_string();
            match Self::worth(&card) {
                Some(kind) if self.present.get(&id).is_some_and(|(before, ..)| *before == kind) => {}
                Some(kind) => drop(self.present.insert(id.clone(), (kind, now, false))),
                None => drop(self.present.remove(&id)),
            }
            seen.insert(id);
        }
        self.present.retain(|id, _| seen.contains(id));
        while self.next().is_some_and(|due| due <= now) {
            for (id, (kind, since, noted)) in &mut self.present {
                let again = self.last_note.get(id).map_or(Timestamp::default(), |at| *at + AGAIN_AFTER);
                if !*noted && (*since + SETTLE).max(again) <= now {
                    *noted = true;
                    self.last_note.insert(id.clone(), now);
                    self.expected.push(format!("{kind} {id}"));
                }
            }
        }
    }
}

fn record(n: usize, event: &SimEvent) -> Record {
    let mut env = event.env.clone();
    env.insert("fired_at".into(), json!(Timestamp::from_millis(event.fired_ms).to_string()));
    let draft = HookDraft { name_in_path: None, payload: event.payload.clone(), env, bytes: 0 };
    draft.into_record(EventId(n as u128 + 1)).unwrap()
}

/// The daemon, and the same events in a fleet of our own, which says when the next timer is due.
struct Afternoon {
    deck: Option<InProcessDaemon>,
    store: Store,
    settings: String,
    mirror: Fleet,
    person: Person,
    now: Timestamp,
}

impl Afternoon {
    fn deck(&self) -> &InProcessDaemon {
        self.deck.as_ref().unwrap()
    }

    fn start(&mut self) {
        let builder = InProcessDaemon::builder().store(self.store.clone()).now(self.now);
        self.deck = Some(builder.notify(&self.settings).start());
    }

    /// Moves the clock to every moment at which something may happen, up to `until`.
    fn pass(&mut self, until: Timestamp) {
        loop {
            let next = [self.mirror.next_wake(), self.person.next()].into_iter().flatten().min();
            let Some(at) = next.filter(|at| *at <= until) else { break };
            self.now = self.now.max(at);
            drop(self.mirror.tick(self.now));
            self.deck().set_clock(self.now);
            // The engine replies after it has run the timers that are due.
            self.deck().append(Vec::new()).unwrap();
            self.looked();
        }
        self.now = until;
    }

    fn event(&mut self, record: Record) {
        self.deck().set_clock(self.now);
        let seq = self.deck().append(vec![record.clone()]).unwrap()[0].seq;
        let mut mirrored = record;
        mirrored.seq = seq;
        stamp(&mut mirrored, self.now, self.mirror.now());
        drop(self.mirror.apply(&Event::from_record(&mirrored)));
        self.looked();
    }

    /// The person looks at the cards. If a note is due, waits until it is sent: the next event must not overtake it.
    fn looked(&mut self) {
        let before = self.person.expected.len();
        self.person.look(&self.mirror, self.now);
        if self.person.expected.len() > before {
            let (deck, store) = (self.deck(), &self.store);
            until("the notes are sent", || (undone(deck, store, "hanging") == 0).then_some(()));
        }
    }
}

#[test]
fn an_afternoon_of_54_sessions_gives_every_target_exactly_the_expected_notes() {
    let folder = tempfile::tempdir().unwrap();
    let (server, told_file) = (NoteServer::start(), folder.path().join("told"));
    let teller = script(folder.path(), "teller", &format!("cat >> {0}; echo >> {0}", told_file.display()));
    let settings = format!(
        "settle_ms = {}\nper_session_seconds = {}\ntargets = [\
         {{ kind = \"webhook\", url = \"http://{}/\" }}, {{ kind = \"command\", command = \"{}\" }},\
         {{ name = \"hanging\", kind = \"command\", command = \"sleep 3600\" }},\
         {{ name = \"failing\", kind = \"command\", command = \"false\" }}]",
        SETTLE.0,
        AGAIN_AFTER.0 / 1000,
        server.addr,
        teller.display()
    );
    let config = FleetConfig { jitter_ms: 0, ..FleetConfig::default() };
    let begin = Timestamp::from_millis(config.start_ms);
    let mut afternoon = Afternoon {
        deck: None,
        store: Store::in_memory().unwrap(),
        settings,
        mirror: Fleet::new(FoldSettings::default()),
        person: Person::default(),
        now: begin,
    };
    afternoon.start();
    let (mut kills, mut stops) = (vec![begin + Millis::minutes(10)], vec![begin + Millis::minutes(20)]);
    let mut sessions = BTreeSet::new();
    for (n, event) in Sim::new(config).enumerate() {
        let at = Timestamp::from_millis(event.at_ms);
        if at > begin + PLAYED {
            break;
        }
        afternoon.pass(at);
        if kills.pop_if(|kill| *kill <= at).is_some() {
            // Without a snapshot: the next daemon replays everything, and must not send it again.
            afternoon.deck = None;
            afternoon.start();
        }
        if stops.pop_if(|stop| *stop <= at).is_some() {
            afternoon.deck().stop();
            afternoon.start();
        }
        sessions.insert(event.session_id.clone());
        afternoon.event(record(n, &event));
    }
    let Person { expected, .. } = afternoon.person;
    assert!(
        sessions.len() >= 54 && expected.len() > 100,
        "{} sessions, {} notes",
        sessions.len(),
        expected.len()
    );
    for kind in ["needs_permission", "asks", "completed"] {
        assert!(expected.iter().any(|note| note.starts_with(kind)), "no {kind}");
    }
    let sorted = |mut notes: Vec<String>| {
        notes.sort();
        notes
    };
    let expected = sorted(expected);
    assert_eq!(sorted(server.notes()), expected);
    assert_eq!(sorted(notes_in_file(&told_file)), expected);
    let status = afternoon.deck.as_ref().unwrap().socket().ask(&json!({"cmd": "status", "args": {}}));
    let failing = &status["data"]["notify"][3];
    assert!(failing["undelivered"].as_u64() > Some(0) && failing["sent"] == 0, "{failing}");
}
