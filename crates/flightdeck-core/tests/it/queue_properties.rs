//! A queue of any length, with an Esc in any phase of a turn, again and again: after each Esc the next turn runs, the queue is empty,
//! and nothing of the interrupted turn is left. With and without a background agent, which keeps the client busy.

use std::fmt::Write;

use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::view::card::Card;
use proptest::prelude::*;
use serde_json::json;

use crate::registry::tell_all;
use crate::script::{card, read};

/// What a turn does when the person presses Esc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Call,
    Writing,
    /// Its hook is held, or not.
    Dialog {
        held: bool,
    },
    /// The turn waits for it.
    Agent,
}

/// One turn, and what the daemon hears of the Esc that ends it.
#[derive(Clone, Debug)]
struct TurnPlan {
    phase: Phase,
    /// Prompts typed ahead in it. None ends the play.
    queued: usize,
    /// The short idle entry between two turns is read.
    idle_is_read: bool,
    /// The marker is read after the first sign of the next turn.
    marker_is_late: bool,
    /// How long the end of the hold takes, in hundredths of a second.
    hold_end: u8,
}

fn turns() -> impl Strategy<Value = Vec<TurnPlan>> {
    let phase = prop_oneof![
        Just(Phase::Call),
        Just(Phase::Writing),
        Just(Phase::Dialog { held: true }),
        Just(Phase::Dialog { held: false }),
        Just(Phase::Agent),
    ];
    let turn = (phase, 0..4_usize, any::<bool>(), any::<bool>(), 0..30_u8);
    let turn = turn.prop_map(|(phase, queued, idle_is_read, marker_is_late, hold_end)| TurnPlan {
        phase,
        queued,
        idle_is_read,
        marker_is_late,
        hold_end,
    });
    prop::collection::vec(turn, 1..5)
}

/// The lines of a play, in the order in which the daemon hears them, and the state that the card has at certain times.
#[derive(Debug, Default)]
struct Play {
    lines: Vec<(f64, String)>,
    beside_an_agent: bool,
}

const BEGIN: f64 = 10.0;
const TYPED: f64 = 15.0;
const ASKS: f64 = 30.0;
const CHECKED: f64 = 39.0;
const ESC: f64 = 40.0;
const LATE: f64 = 70.5;
const TURN: f64 = 60.0;

impl Play {
    fn line(&mut self, received: f64, written: f64, text: &str) {
        self.lines.push((received, format!("{received:.3}@{written:.3} {text}")));
    }

    fn hook(&mut self, at: f64, text: &str) {
        self.line(at, at, text);
    }

    /// The first turn, to which the background agent belongs.
    fn begin(&mut self) {
        self.hook(0.0, "registry idle");
        self.hook(1.0, "UserPromptSubmit prompt=one prompt_id=p0");
        self.hook(1.1, "registry busy");
        if self.beside_an_agent {
            self.hook(2.0, "PreToolUse tool_name=Agent tool_use_id=bg prompt_id=p0");
            self.hook(2.1, "SubagentStart agent_id=x agent_type=Background prompt_id=p0");
            let response = r#"tool_response={"isAsync":true,"agentId":"x"}"#;
            self.hook(2.2, &format!("PostToolUse tool_name=Agent tool_use_id=bg prompt_id=p0 {response}"));
        }
    }

    fn turn(&mut self, n: usize, plan: &TurnPlan) {
        let at = n as f64 * TURN;
        let id = format!("prompt_id=p{n}");
        let call = |name: &str, which: &str| {
            format!(
                "{name} tool_name=Bash tool_use_id=c{n}{which} {id} tool_input={{\"command\":\"c{n}{which}\"}}"
            )
        };
        match plan.phase {
            Phase::Call | Phase::Dialog { .. } => self.hook(at + BEGIN, &call("PreToolUse", "a")),
            Phase::Agent => {
                self.hook(at + BEGIN, &format!("PreToolUse tool_name=Agent tool_use_id=f{n} {id}"));
                self.hook(at + BEGIN + 0.1, &format!("SubagentStart agent_id=f{n} agent_type=Awaited {id}"));
            }
            Phase::Writing => {}
        }
        for k in 0..plan.queued {
            self.hook(at + TYPED + k as f64, &format!("UserPromptSubmit prompt=q{n}{k} {id}"));
        }
        if matches!(plan.phase, Phase::Dialog { .. }) {
            self.hook(at + ASKS, &call("PostToolUse", "a"));
            self.hook(at + ASKS + 0.1, &call("PreToolUse", "b"));
            let asks = call("PermissionRequest", "b").replace(&format!("tool_use_id=c{n}b "), "");
            self.hook(at + ASKS + 0.2, &asks);
            self.hook(at + ASKS + 0.2, "registry waiting:permission~prompt");
        }
        self.esc(n, plan, at + ESC);
    }

    fn esc(&mut self, n: usize, plan: &TurnPlan, at: f64) {
        if plan.phase == (Phase::Dialog { held: true }) {
            let ended = at + f64::from(plan.hold_end) / 100.0;
            self.lines.push((ended, format!("{ended:.3} hold_end closed")));
        }
        let in_dialog = matches!(plan.phase, Phase::Dialog { .. });
        match (self.beside_an_agent, plan.queued > 0) {
            (true, _) if in_dialog => self.hook(at + 0.02, "registry busy"),
            (true, _) => {}
            (false, false) => self.hook(at, "registry idle"),
            (false, true) => {
                if plan.idle_is_read {
                    self.hook(at, "registry idle");
                }
                self.hook(at + 0.05, "registry busy");
            }
        }
        let read = if plan.marker_is_late { at - ESC + LATE } else { at + 0.3 };
        // On a call, the client takes out its queue before it writes the marker.
        let next = matches!(plan.phase, Phase::Call | Phase::Agent) && plan.queued > 0;
        let next = if next { format!(" p{}", n + 1) } else { String::new() };
        let written = if in_dialog { at - 0.01 } else { at + 0.01 };
        self.line(read, written, &format!("marker p{n}{next}"));
    }

    fn lines_until(&mut self, time: f64) -> String {
        self.lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        let count = self.lines.partition_point(|(at, _)| *at <= time);
        let mut text = String::new();
        for (_, line) in self.lines.drain(..count) {
            let _ = writeln!(text, "{}", line.replace("0.000@0.000", "0"));
        }
        text + &format!("{time} tick")
    }
}

fn main_reads(card: &Card) -> String {
    let text = read(card);
    text.split(" · ").next().unwrap_or_default().to_owned()
}

fn during(phase: Phase, n: usize) -> String {
    match phase {
        Phase::Call => format!(r#"running acting "Bash: c{n}a""#),
        Phase::Writing => r#"running thinking "Thinking""#.to_owned(),
        Phase::Dialog { .. } => format!(r#"needs_you needs_permission "Permission for Bash: c{n}b""#),
        Phase::Agent => r#"running delegating "Running Awaited subagent""#.to_owned(),
    }
}

/// The subagents that work, by the type on the card.
fn at_work(card: &Card) -> Vec<&str> {
    let working = card.sub_agents.iter().filter(|agent| json!(agent.state) == "working");
    working.map(|agent| agent.agent_type.as_str()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_queue_of_any_length_with_an_esc_in_any_phase_ends_empty(plans in turns(), beside_an_agent in any::<bool>()) {
        let mut fleet = Fleet::new(FoldSettings::default());
        let mut play = Play { beside_an_agent, ..Play::default() };
        play.begin();
        for (n, plan) in plans.iter().enumerate() {
            play.turn(n, plan);
            if plan.queued == 0 {
                break;
            }
        }
        let background: &[&str] = if beside_an_agent { &["Background"] } else { &[] };
        for (n, plan) in plans.iter().enumerate() {
            let at = n as f64 * TURN;
            tell_all(&mut fleet, &play.lines_until(at + CHECKED));
            let now = card(&fleet, "s");
            prop_assert_eq!(main_reads(&now), during(plan.phase, n), "turn {}", n);
            prop_assert_eq!(now.queued_prompts as usize, plan.queued, "turn {}", n);
            let awaited: &[&str] = if plan.phase == Phase::Agent { &["Awaited"] } else { &[] };
            let mut working = at_work(&now);
            working.sort_unstable();
            prop_assert_eq!(working, [awaited, background].concat(), "turn {}", n);
            tell_all(&mut fleet, &play.lines_until(at + LATE + 0.2));
            let after = card(&fleet, "s");
            prop_assert_eq!(at_work(&after).contains(&"Background"), beside_an_agent);
            let refused = |ask: &&flightdeck_core::approval::card::AskCard| ask.resolution.is_some();
            let hows: Vec<_> = after.asks.iter().filter(refused).map(|a| json!(a.resolution.as_ref().unwrap().how)).collect();
            prop_assert!(hows.iter().all(|how| how == "refused_in_terminal"), "turn {}: {:?}", n, hows);
            if plan.queued == 0 {
                prop_assert!(main_reads(&after).starts_with("needs_you interrupted"), "turn {}: {}", n, read(&after));
                return Ok(());
            }
            prop_assert_eq!(after.queued_prompts, 0, "turn {}: {}", n, read(&after));
            prop_assert!(!read(&after).contains(&format!("c{n}")), "turn {}: {}", n, read(&after));
        }
    }
}
