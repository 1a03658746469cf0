//! No false alarm calls a person to a terminal: every alarm over the corpus is compared with what that terminal showed,
//! by the scenario's own record. A dialog is what the client's registry says while it waits; an interrupt is the mark it
//! left in the transcript.

use std::collections::BTreeMap;

use flightdeck_core::log::record::Source;
use flightdeck_core::session::state_name::StateName;
use flightdeck_core::time::Timestamp;
use flightdeck_sim::corpus::{CapturedScenario, scenarios, transcript};
use serde_json::Value;

use crate::corpus::replay;

/// The client writes its registry around the hook, and its transcript up to a moment later.
const AROUND_MS: i64 = 1000;
/// Shortest time that a state known only from the registry is shown.
const SHOWN_MS_MIN: i64 = 250;

/// The recorder polls. If an entry repeats its status with a new time, another status was written in between and missed.
const BETWEEN_LOOKS: &str = "(between two looks)";

/// A card came to show a state.
#[derive(Debug)]
struct RegistryEntry {
    session: String,
    state: StateName,
    since_ms: i64,
    source: Source,
    shown_ms: i64,
    /// `None` if it still does at the end.
    gone_ms: Option<i64>,
}

fn entries(scenario: &CapturedScenario) -> Vec<RegistryEntry> {
    let mut all: Vec<RegistryEntry> = Vec::new();
    let mut now: BTreeMap<String, usize> = BTreeMap::new();
    replay(scenario, |fleet, t_ms, _| {
        for session in fleet.sessions() {
            let state = StateName::from_state(&session.shown.state);
            let since_ms = session.shown.since.as_millis();
            let last = now.get(session.id.as_str()).copied();
            if last.is_some_and(|last| all[last].state == state) {
                continue;
            }
            if let Some(last) = last {
                all[last].gone_ms = Some(t_ms);
            }
            now.insert(session.id.to_string(), all.len());
            let (session, source) = (session.id.to_string(), session.shown.source);
            all.push(RegistryEntry { session, state, since_ms, source, shown_ms: t_ms, gone_ms: None });
        }
    });
    all
}

/// What the terminals of a scenario showed, as the client itself wrote it down.
#[derive(Debug, Default)]
struct ScenarioRecord {
    /// (session, what it waits for, from, to)
    waits: Vec<(String, String, i64, i64)>,
    /// (session, when): the person stopped it.
    stops: Vec<(String, i64)>,
    /// (session, when): the person refused a tool.
    refusals: Vec<(String, i64)>,
    /// (session, from, to): a prompt that was taken back before the first token; the next one takes its place.
    taken_back: Vec<(String, i64, i64)>,
    print_mode: Vec<String>,
}

impl ScenarioRecord {
    fn from_scenario(scenario: &CapturedScenario) -> Self {
        let mut record = Self::default();
        record.read_registry(scenario);
        scenario.transcripts.iter().for_each(|path| record.read_transcript(&transcript(path)));
        record
    }

    fn read_registry(&mut self, scenario: &CapturedScenario) {
        let mut open: BTreeMap<&str, usize> = BTreeMap::new();
        let mut last: BTreeMap<&str, (String, i64)> = BTreeMap::new();
        for entry in &scenario.registry {
            let word =
                |key: &str| entry.content.as_ref().and_then(|c| c.get(key)?.as_str()).unwrap_or_default();
            let at =
                entry.content.as_ref().and_then(|c| c.get("statusUpdatedAt")?.as_i64()).unwrap_or(entry.t_ms);
            if word("entrypoint") == "sdk-cli" {
                self.print_mode.push(word("sessionId").to_owned());
            }
            if let Some(place) = open.remove(entry.file.as_str()) {
                self.waits[place].3 = at;
            }
            let before = last.insert(&entry.file, (word("status").to_owned(), at));
            if let Some((_, from)) = before.filter(|(status, from)| status == word("status") && *from < at) {
                self.waits.push((word("sessionId").to_owned(), BETWEEN_LOOKS.to_owned(), from, at));
            }
            if word("status") == "waiting" {
                open.insert(&entry.file, self.waits.len());
                self.waits.push((word("sessionId").to_owned(), word("waitingFor").to_owned(), at, i64::MAX));
            }
        }
    }

    fn read_transcript(&mut self, bytes: &[u8]) {
        let mut prompts: BTreeMap<String, i64> = BTreeMap::new();
        for line in bytes.split(|b| *b == b'\n') {
            let Ok(line) = serde_json::from_slice::<Value>(line) else { continue };
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let Some(at) = Timestamp::parse(&text("timestamp")).map(Timestamp::as_millis) else { continue };
            let session = text("sessionId");
            if line["type"] == "user" && line["message"].to_string().contains("[Request interrupted by user")
            {
                self.stops.push((session.clone(), at));
            }
            if line["toolDenialKind"] == "user-rejected" {
                self.refusals.push((session.clone(), at));
            }
            if line["type"] == "user" && line["origin"]["kind"] == "human" {
                let parent = line["parentUuid"].to_string();
                if let Some(first) = prompts.insert(parent, at) {
                    self.taken_back.push((session, first, at));
                }
            }
        }
    }

    fn showed_a_permission(&self, entry: &RegistryEntry) -> bool {
        let asks = |what: &str, to: i64| match what {
            "permission prompt" | "sandbox request" => true,
            BETWEEN_LOOKS => entry.source == Source::Hook,
            // A menu that the person opened is a dialog too; this one was about a tool that they then refused.
            _ => self.refusals.iter().any(|(id, at)| *id == entry.session && (at - to).abs() < AROUND_MS),
        };
        self.waits.iter().any(|(id, what, from, to)| {
            *id == entry.session
                && from - AROUND_MS < entry.since_ms
                && entry.since_ms < *to
                && asks(what, *to)
        })
    }

    fn showed_an_interrupt(&self, entry: &RegistryEntry) -> bool {
        let stopped =
            |(id, at): &(String, i64)| *id == entry.session && (at - entry.since_ms).abs() < AROUND_MS;
        let took_back = |(id, from, to): &(String, i64, i64)| {
            *id == entry.session && *from < entry.since_ms && entry.since_ms < *to
        };
        self.stops.iter().any(stopped) || self.taken_back.iter().any(took_back)
    }
}

#[test]
fn no_card_calls_for_a_person_whom_the_terminal_did_not() {
    let (mut permissions, mut interrupts) = (0, 0);
    for scenario in scenarios() {
        let record = ScenarioRecord::from_scenario(&scenario);
        for entry in entries(&scenario) {
            let told = match entry.state {
                StateName::NeedsPermission => record.showed_a_permission(&entry),
                StateName::Interrupted => record.showed_an_interrupt(&entry),
                _ => continue,
            };
            permissions += usize::from(entry.state == StateName::NeedsPermission);
            interrupts += usize::from(entry.state == StateName::Interrupted);
            assert!(told, "{}: {entry:?} but the client wrote {record:#?}", scenario.name);
            assert!(
                !record.print_mode.contains(&entry.session),
                "{}: print mode shows nothing",
                scenario.name
            );
        }
    }
    assert!(permissions >= 15 && interrupts >= 8, "{permissions} permissions, {interrupts} interrupts");
}

#[test]
fn every_interrupt_that_the_client_wrote_down_is_shown() {
    for scenario in scenarios() {
        let (record, entries) = (ScenarioRecord::from_scenario(&scenario), entries(&scenario));
        let shown = |id: &str, from: i64, to: i64| {
            let of = |e: &&RegistryEntry| e.session == id && e.state == StateName::Interrupted;
            entries.iter().filter(of).any(|e| from < e.since_ms && e.since_ms < to)
        };
        for (id, at) in &record.stops {
            assert!(shown(id, at - AROUND_MS, at + AROUND_MS), "{}: {id} at {at}", scenario.name);
        }
        for (id, from, to) in &record.taken_back {
            assert!(shown(id, *from, *to), "{}: {id} took a prompt back", scenario.name);
        }
    }
}

#[test]
fn nothing_flickers_because_of_the_registry() {
    for scenario in scenarios() {
        let entries = entries(&scenario);
        for (n, entry) in entries.iter().enumerate() {
            // The word that discovers a session counts at once: there is nothing it could flicker against.
            let discovered = entries[..n].iter().all(|e| e.session != entry.session);
            let shown = entry.gone_ms.map_or(i64::MAX, |gone| gone - entry.shown_ms);
            let lasted = discovered || entry.source != Source::Registry || shown >= SHOWN_MS_MIN;
            assert!(lasted, "{}: {entry:?} for {shown} ms", scenario.name);
        }
    }
}
