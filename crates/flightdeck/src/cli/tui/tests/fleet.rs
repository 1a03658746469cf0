//! Cards for the tests: one in each state, with asks of each kind, and with Latin and Japanese text.

use flightdeck_core::approval::card::AskCard;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::EventId;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::session::state_name::StateName;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::usage::amounts::{Context, Cost};
use flightdeck_core::view::card::OwnerCard;
use flightdeck_core::view::lens::TerminalInput;
use flightdeck_core::view::sub_agents::{SubAgentCard, SubAgentState};
use flightdeck_core::view::waiting::{WaitKind, WaitingCard};
use flightdeck_core::view::{self, card::Card};
use flightdeck_core::wire::hook::HookDraft;
use serde_json::{Map, Value, json};

/// The present time in the tests: 10:30 in their time zone.
pub(crate) fn test_now() -> Timestamp {
    Timestamp::parse("2026-11-18T10:30:00.000Z").unwrap()
}

fn seconds_ago(seconds: i64) -> Timestamp {
    test_now() - Millis::seconds(seconds)
}

/// A card from the fold. Fields that are drawn are set to fixed values.
pub(crate) fn card(id: &str, state: StateName, label: &str, seconds: i64) -> Card {
    let payload =
        json!({ "session_id": id, "hook_event_name": "UserPromptSubmit", "prompt": "x", "cwd": "/w/shop" });
    let Value::Object(payload) = payload else { unreachable!() };
    let draft = HookDraft { name_in_path: None, payload, env: Map::new(), bytes: 0 };
    let mut fleet = Fleet::new(FoldSettings::default());
    fleet.apply(&Event::from_record(&draft.into_record(EventId(1)).unwrap()));
    let mut card = view::card(fleet.get(&id.into()).unwrap(), fleet.settings());
    card.agent_state.state = state;
    card.agent_state.group = state.group();
    card.agent_state.role = state.role();
    card.agent_state.label = label.to_owned();
    card.agent_state.since = seconds_ago(seconds);
    card.started_at = seconds_ago(seconds + 720);
    card.last_activity_at = seconds_ago(seconds);
    card.current_turn_started_at = Some(seconds_ago(seconds + 60));
    card.turn_count = 4;
    card.takes = state.terminal_input();
    card.waiting = waiting(state);
    card.ended_at = (state == StateName::SessionEnded).then(|| seconds_ago(seconds));
    let rank = format!("{}-{id}", state.urgency());
    (card.rank.default, card.rank.urgency, card.rank.waiting) = (rank.clone(), rank.clone(), rank);
    card.title = Some(format!("Work of session {id}"));
    card.model = Some("claude-opus-5-5-20260401".to_owned());
    card.project.name = "storefront".to_owned();
    card
}

fn waiting(state: StateName) -> Option<WaitingCard> {
    let kind = match state {
        StateName::NeedsPermission | StateName::AwaitingInput | StateName::AwaitingApproval => {
            WaitKind::Blocks
        }
        StateName::Interrupted => WaitKind::Interrupted,
        StateName::Error => WaitKind::Failed,
        StateName::Idle => WaitKind::Idle,
        _ => return None,
    };
    let counts = kind == WaitKind::Blocks;
    Some(WaitingCard { kind, label: String::new(), icon: String::new(), counts })
}

/// An ask with the fields that matter for its kind.
pub(crate) fn ask(session: &str, more: Value) -> AskCard {
    let mut ask = json!({
        "id": format!("ask-{session}"), "session_id": session, "agent_id": null, "kind": "permission", "tool_name": "Bash",
        "tool_input": {"command": "git rebase main"}, "questions": null, "suggestions": [], "caution": null, "message": null,
        "requested_schema": null, "url": null, "mcp_server_name": null, "opened_at": "2026-11-18T10:29:41.000Z",
        "expires_at": "2026-11-18T10:39:41.000Z", "answerable": true, "resolution": null
    });
    ask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(ask).unwrap()
}

pub(crate) fn asking(id: &str, label: &str, more: Value) -> Card {
    let ask = ask(id, more);
    let state = match ask.kind {
        flightdeck_core::approval::resolution::NeedKind::Permission => StateName::NeedsPermission,
        flightdeck_core::approval::resolution::NeedKind::Plan => StateName::AwaitingApproval,
        _ => StateName::AwaitingInput,
    };
    Card { asks: vec![ask], ..card(id, state, label, 19) }
}

pub(crate) fn permission(id: &str) -> Card {
    let suggestion = json!({"type": "addRules", "behavior": "allow", "destination": "localSettings",
        "rules": [{"toolName": "Bash", "ruleContent": "git rebase:*"}]});
    let mut card = asking(id, "Permission for Bash: git rebase main", json!({ "suggestions": [suggestion] }));
    card.status.reason = Some("Permission for Bash".to_owned());
    card
}

pub(crate) fn dangerous(id: &str) -> Card {
    asking(
        id,
        "Permission for Bash: rm -rf build",
        json!({ "tool_input": {"command": "rm -rf build"}, "caution": "Deletes files" }),
    )
}

pub(crate) fn edit(id: &str) -> Card {
    let input = json!({"file_path": "/w/shop/src/cart.rs", "old_string": "fn total() {\n    let a = 1;\n    a\n}",
        "new_string": "fn total() {\n    let a = 2;\n    let b = 3;\n    a\n}"});
    asking(id, "Permission for Edit", json!({ "tool_name": "Edit", "tool_input": input }))
}

pub(crate) fn question(id: &str) -> Card {
    let input = json!({"questions": [
        {"question": "Which currency?", "header": "Money", "multiSelect": false, "options": [
            {"label": "Euro", "description": "as in the old shop"}, {"label": "円"}]},
        {"question": "Which sizes?", "header": "Sizes", "multiSelect": true, "options": [
            {"label": "S"}, {"label": "M"}, {"label": "L"}]}]});
    let questions = input["questions"].clone();
    asking(
        id,
        "Question: Which currency?",
        json!({ "kind": "question", "tool_name": "AskUserQuestion", "tool_input": input, "questions": questions }),
    )
}

pub(crate) fn one_question(id: &str) -> Card {
    let mut card = question(id);
    card.asks[0].questions.as_mut().unwrap().truncate(1);
    card
}

pub(crate) fn plan(id: &str) -> Card {
    let plan = "# Plan\n\n1. Move the cart into its own crate\n2. Add tests for every currency\n3. Remove the old code";
    asking(
        id,
        "Plan ready",
        json!({ "kind": "plan", "tool_name": "ExitPlanMode", "tool_input": {"plan": plan} }),
    )
}

pub(crate) fn form(id: &str) -> Card {
    let schema = json!({"required": ["env"], "properties": {
        "env": {"type": "string", "enum": ["test", "live"]}, "count": {"type": "integer", "description": "how many"}}});
    asking(
        id,
        "deploy asks: Where to?",
        json!({ "kind": "elicitation", "tool_name": null, "tool_input": null, "message": "Where to?", "requested_schema": schema }),
    )
}

fn agent(kind: &str, state: SubAgentState, about: &str) -> SubAgentCard {
    SubAgentCard {
        id: "a1".into(),
        agent_type: kind.to_owned(),
        state,
        label: "Read src/lib.rs".to_owned(),
        status: None,
        parent_session_id: None,
        started_at: seconds_ago(31),
        ended_at: None,
        duration_seconds: None,
        description: Some(about.to_owned()),
        prompt: None,
        tool_use_id: None,
        tokens: None,
        cost: None,
    }
}

/// The same session on another machine, which accepts these actions from here.
pub(crate) fn on_host(host: &str, accepts: &[&str], card: Card) -> Card {
    let owner = OwnerCard {
        accepts: accepts.iter().map(|action| (*action).to_owned()).collect(),
        shares_payloads: true,
    };
    let host = Some(host.to_owned());
    Card {
        id: format!("{}@{}", card.id, host.as_deref().unwrap_or_default()).into(),
        host,
        owner: Some(owner),
        ..card
    }
}

/// A fleet with a session in each state, in three projects.
pub(crate) fn fleet() -> Vec<Card> {
    let mut cards = vec![permission("s-permission"), question("s-question"), plan("s-plan")];
    cards.extend([
        card("s-interrupted", StateName::Interrupted, "You interrupted Bash", 300),
        card("s-error", StateName::Error, "Failed: rate_limit", 400),
        card("s-idle", StateName::Idle, "Waiting for your next prompt", 3600),
        card("s-thinking", StateName::Thinking, "Thinking", 7),
        card("s-acting", StateName::Acting, "Bash: cargo test -p pay", 12),
        card("s-delegating", StateName::Delegating, "Running Explore subagent", 31),
        card("s-compacting", StateName::Compacting, "Compacting", 5),
        card("s-background", StateName::WaitingBackground, "Waiting on 1 background agent", 90),
        card("s-ended", StateName::SessionEnded, "Session closed", 7200),
    ]);
    for (n, card) in cards.iter_mut().enumerate() {
        card.context =
            Some(Context { tokens: 20_000 * n as u64, window: Some(200_000), percent: Some(9.0 * n as f64) });
        card.cost = Some(Cost {
            usd_micros: 410_000 * n as u64,
            client_usd_micros: None,
            unpriced_models: Vec::new(),
            by_model: Vec::new(),
        });
        card.git_branch = Some("fix/keyboard-traps".to_owned());
        card.project.name = ["storefront", "payments", "ログイン"][n % 3].to_owned();
        card.project.worktree = (n % 4 == 1).then(|| "a11y".to_owned());
        card.seat.name = Some(format!("seat-{n}").into());
    }
    cards[0].title = Some("キーボードの操作を直す 🦀 and keep every test green".to_owned());
    cards[8].sub_agents = vec![
        agent("Explore", SubAgentState::Working, "find the css"),
        agent("Plan", SubAgentState::Blocked, "which way"),
    ];
    cards[5].last_assistant_text = Some("All tests pass. I moved the cart into its own crate.".to_owned());
    debug_assert_eq!(cards[8].takes, Some(TerminalInput::Interrupt));
    cards
}
