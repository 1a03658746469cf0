//! Writes `docs/events.md`: the effect of every hook event, found by running the reducer on an example of each.
//!
//! Names, versions and forms come from the table of hooks, states and labels from the fold, sentences from the rules, times
//! from the limits. The examples are in `events_doc/cases.rs`.

mod cases;
mod play;
mod wire_name;

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::approval::resolution::NeedKind;
use crate::limits::{COMPLETED_AFTER, DISORDER_MAX, DONE_KEEPS, QUIET_AFTER, STALE_AFTER};
use crate::log::event::EndReason;
use crate::rules::Rule;
use crate::session::agent::{Activity, AgentState, IdleReason};
use crate::session::ledger::Need;
use crate::session::state_name::StateName;
use crate::time::{Millis, Timestamp};
use crate::view::lens::{fleet_status, status};
use crate::wire::hook_name::{HookForm, HookInfo, HookName};
use cases::{DocCase, SECTIONS};
use wire_name::wire_name;

const OPENING: &str = "\
# Events: what each fact does to a session

<!-- Generated from flightdeck-core by `cargo xtask gen`. Do not edit. -->

Every line below shows what the code does: an example of the event was sent to a real fleet in the state under
*starting from*, and the card was read before and after. `cargo xtask gen --check` fails if this page and the code differ.
";

/// The whole document.
pub fn events_doc() -> String {
    let mut doc = OPENING.to_owned();
    // Writing to a String cannot fail.
    let _ = write!(doc, "\n{}\n{}\n{}\n{}\n{}", events(), forms(), row_by_row(), timers(), lenses());
    let _ = write!(doc, "\n{}", rules());
    doc
}

fn events() -> String {
    let mut text = format!("## 1. The {} hook events\n\n", HookName::ALL.len());
    text += "*Form* is explained in §2. *Usual effect* is the effect of the event's first example in §3.\n\n";
    text += &table_head(&["event", "since", "form", "over http", "usual effect"]);
    for info in HookName::ALL {
        let (major, minor, patch) = info.since;
        text += &row(&[
            format!("{}", info.name),
            format!("{major}.{minor}.{patch}"),
            form_name(info.form).to_owned(),
            if info.over_http { "yes" } else { "no" }.to_owned(),
            usual_effect(info),
        ]);
    }
    text
}

fn usual_effect(info: &HookInfo) -> String {
    let first = cases::cases_of_event(info.name.as_str()).next().map(|case| play::play(&case));
    match first {
        Some(played) if played.moved => played.state_names(),
        Some(played) if !played.also.is_empty() => "data on the card".to_owned(),
        _ => "timeline only".to_owned(),
    }
}

fn form_name(form: HookForm) -> &'static str {
    match form {
        HookForm::Sync => "sync",
        HookForm::Async => "async",
        HookForm::Held => "held",
        HookForm::Never { .. } => "never",
    }
}

fn forms() -> String {
    let mut text = "## 2. How each hook is registered, and why\n\n".to_owned();
    text += &table_head(&["form", "why", "events"]);
    let explained = [
        ("sync", "the client waits: the event must arrive, and in order"),
        ("held", "the client waits while a person decides"),
        ("async", "fire and forget: no latency and no flicker in the client's spinner"),
    ];
    for (name, why) in explained {
        let of_form = HookName::ALL.iter().filter(|info| form_name(info.form) == name);
        let names: Vec<_> = of_form.map(|info| info.name.as_str()).collect();
        text += &row(&[name.into(), why.into(), names.join(", ")]);
    }
    for info in HookName::ALL {
        if let HookForm::Never { why } = info.form {
            text += &row(&["never".into(), why.into(), info.name.as_str().into()]);
        }
    }
    text += "\nAn event with an unknown name is stored and shown in the timeline; it changes no state.\n";
    text
}

fn row_by_row() -> String {
    let mut text = "## 3. Row by row\n\n".to_owned();
    text += "*Becomes* is group · state (icon, colour role). *Card says* is the label, then the status detail (working) or\n";
    text += "reason (waiting). *Also* is other data on the card that changed.\n";
    for section in SECTIONS {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n### {}\n\n", section.title);
        text += &table_head(&["event", "starting from", "becomes", "card says", "because", "also"]);
        for case in (section.cases)() {
            text += &case_row(&case);
        }
    }
    text
}

fn case_row(case: &DocCase) -> String {
    let played = play::play(case);
    row(&[
        case.title(),
        case.from.sentence().to_owned(),
        played.new_state(),
        played.says(),
        played.because.map_or("–", Rule::sentence).to_owned(),
        played.also.join("; "),
    ])
}

fn timers() -> String {
    let mut text = "## 4. What happens without an event\n\n".to_owned();
    text += "No state expires: blocked and idle stay until an event changes them. Timers run before each event, live and in replay.\n\n";
    text += &table_head(&["after", "what", "limit"]);
    for (after, what, limit) in [
        (
            QUIET_AFTER,
            "without a sign of life, while working: marked `quiet_since`; the state stays",
            "QUIET_AFTER",
        ),
        (STALE_AFTER, "without activity: marked `stale`; the state stays", "STALE_AFTER"),
        (COMPLETED_AFTER, "after its end: out of the live set, still in Done", "COMPLETED_AFTER"),
        (
            DONE_KEEPS,
            "after its end: off the board, unless configured otherwise; kept in the store",
            "DONE_KEEPS",
        ),
        (
            DISORDER_MAX,
            "of disorder is tolerated between events without a timestamp or with a late timestamp",
            "DISORDER_MAX",
        ),
    ] {
        text += &row(&[in_words(after), what.to_owned(), format!("`{limit}`")]);
    }
    text
}

fn in_words(time: Millis) -> String {
    match time.0 / 1000 {
        seconds if seconds % 3600 == 0 => format!("{} h", seconds / 3600),
        seconds if seconds % 60 == 0 && seconds > 60 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

fn lenses() -> String {
    let mut text = "## 5. Lenses: one state, three views\n\n".to_owned();
    text += "Agent states with the same view share a row. The last column is the fleet status before and after the person\n";
    text += "opened the card, where that differs.\n\n";
    text += &table_head(&["agent state", "group", "state", "icon · role", "status", "fleet"]);
    let mut by_name: BTreeMap<StateName, Vec<(&str, AgentState)>> = BTreeMap::new();
    for (words, state) in every_state() {
        by_name.entry(StateName::from_state(&state)).or_default().push((words, state));
    }
    for name in StateName::ALL {
        let Some((words, states)) =
            by_name.remove(&name).map(|s| s.into_iter().unzip::<_, _, Vec<_>, Vec<_>>())
        else {
            continue;
        };
        let kind = states.first().map(|state| wire_name(&status(state).0)).unwrap_or_default();
        let (unseen, seen) = (wire_name(&fleet_status(name, false)), wire_name(&fleet_status(name, true)));
        text += &row(&[
            words.join(", "),
            name.group().as_str().to_owned(),
            name.as_str().to_owned(),
            format!("{} · {}", name.icon(), wire_name(&name.role())),
            kind,
            if unseen == seen { unseen } else { format!("{unseen} / {seen}") },
        ]);
    }
    text
}

/// One state of each kind, in the order of the rows.
fn every_state() -> Vec<(&'static str, AgentState)> {
    use AgentState::{Blocked, Ended, Idle, Working};
    let need = |kind| Blocked(Need::without_call(kind, String::new(), Timestamp::default(), None));
    vec![
        ("Blocked(Permission)", need(NeedKind::Permission)),
        ("Blocked(Question)", need(NeedKind::Question)),
        ("Blocked(Elicitation)", need(NeedKind::Elicitation)),
        ("Blocked(Plan)", need(NeedKind::Plan)),
        ("Idle(Interrupted)", Idle(IdleReason::Interrupted { tool: None })),
        ("Idle(Failed)", Idle(IdleReason::Failed { cause: String::new() })),
        ("Idle(TurnEnded)", Idle(IdleReason::TurnEnded)),
        ("Idle(Fresh)", Idle(IdleReason::Fresh)),
        ("Working(Thinking)", Working(Activity::Thinking { after_tool: false })),
        ("Working(Setup)", Working(Activity::Setup)),
        ("Working(Tool)", Working(Activity::Tool { name: String::new(), label: String::new() })),
        ("Working(Delegating)", Working(Activity::Delegating { agent_type: String::new() })),
        ("Working(Compacting)", Working(Activity::Compacting)),
        ("Working(Background)", Working(Activity::Background { agents: 1 })),
        ("Ended", Ended(EndReason::Clear)),
    ]
}

fn rules() -> String {
    let mut text = "## 6. The rules\n\n".to_owned();
    text += "The sentence that `flightdeck explain` gives as the reason.\n\n";
    text += &table_head(&["rule", "sentence"]);
    for rule in Rule::ALL {
        text += &row(&[format!("`{}`", wire_name(rule)), rule.sentence().to_owned()]);
    }
    text
}

fn table_head(names: &[&str]) -> String {
    format!("| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()))
}

fn row(cells: &[String]) -> String {
    let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | ")).replace("  |", " |")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_event_and_an_unknown_one_have_a_row() {
        for info in HookName::ALL {
            assert!(cases::cases_of_event(info.name.as_str()).next().is_some(), "{}", info.name);
        }
        assert!(cases::all_cases().any(|case| HookName::parse(case.event).is_none()));
    }

    #[test]
    fn every_rule_is_seen_at_work_in_a_row() {
        let seen: Vec<Rule> = cases::all_cases().filter_map(|case| play::play(&case).because).collect();
        for rule in Rule::ALL {
            assert!(seen.contains(rule), "{rule:?}");
        }
    }

    #[test]
    fn every_state_of_the_board_has_its_row_in_the_lenses() {
        let text = lenses();
        for state in StateName::ALL {
            assert!(text.contains(&format!("| {} |", state.as_str())), "{state:?}");
        }
    }

    #[test]
    fn the_same_code_writes_the_same_page() {
        assert_eq!(events_doc(), events_doc());
    }
}
