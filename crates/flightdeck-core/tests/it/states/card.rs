//! The text of a card and its place on the board.

use expect_test::expect;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::view::lens::FleetStatus;
use flightdeck_core::view::pane_status::pane_statuses;

use crate::script::{card, read, tell};

#[test]
fn data_events_change_the_card_and_not_the_state() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(
        &mut fleet,
        "0 UserPromptSubmit prompt=a
         1 PostModelSwitch to_model=claude-haiku-5-5
         2 TaskCreated task_id=1 task_subject=Write
         3 TaskCreated task_id=2 task_subject=Test
         4 TaskCompleted task_id=1 task_subject=Write
         5 ConfigChange source=user_settings
         6 BrandNewEvent anything=here",
    );
    let card = card(&fleet, "s");
    expect![[r#"running thinking "Thinking""#]].assert_eq(&read(&card));
    assert_eq!(card.model.as_deref(), Some("claude-haiku-5-5"));
    let todos: Vec<_> = card.progress_items.iter().map(|t| format!("{}={}", t.title, t.status)).collect();
    assert_eq!(todos, ["Write=completed", "Test=pending"]);
}

#[test]
fn since_does_not_change_while_the_card_shows_the_same_state() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(
        &mut fleet,
        "1 PreToolUse tool_name=Bash tool_use_id=a
         2 PostToolUse tool_name=Bash tool_use_id=a
         3 PostToolBatch",
    );
    assert_eq!(card(&fleet, "s").agent_state.since, crate::script::at_seconds("2"));
}

#[test]
fn needs_you_sorts_by_urgency_then_recency_and_running_by_turn() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(
        &mut fleet,
        "1 Stop session_id=idle-old
         2 Stop session_id=idle-new
         3 StopFailure session_id=failed error=overloaded
         4 PermissionRequest session_id=perm tool_name=Bash
         5 UserPromptSubmit session_id=run-old prompt=a
         6 UserPromptSubmit session_id=run-new prompt=a
         7 PreToolUse session_id=run-old tool_name=Bash tool_use_id=a",
    );
    let mut cards = flightdeck_core::view::board(&fleet);
    cards.sort_by(|a, b| (a.agent_state.group, &a.rank.default).cmp(&(b.agent_state.group, &b.rank.default)));
    let order: Vec<_> = cards.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(order, ["perm", "failed", "idle-new", "idle-old", "run-new", "run-old"]);
}

#[test]
fn an_idle_session_is_checked_once_the_person_opened_it_and_not_after_its_next_change() {
    use flightdeck_core::log::event::{Event, SEEN};
    use flightdeck_core::log::record::Source;
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 Stop");
    assert_eq!(card(&fleet, "s").fleet_status, FleetStatus::Done);
    let payload = serde_json::Map::from_iter([
        ("session_id".into(), "s".into()),
        ("hook_event_name".into(), SEEN.into()),
    ]);
    let mut seen = crate::script::record(
        payload,
        serde_json::Map::new(),
        2,
        crate::script::at_seconds("2"),
        fleet.now(),
    );
    seen.source = Source::User;
    fleet.apply(&Event::from_record(&seen));
    assert_eq!(card(&fleet, "s").fleet_status, FleetStatus::Checked);
    tell(&mut fleet, "3 UserPromptSubmit prompt=b\n 4 Stop");
    assert_eq!(card(&fleet, "s").fleet_status, FleetStatus::Done);
}

#[test]
fn looking_at_a_card_does_not_move_it_up() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 Stop");
    let before = card(&fleet, "s").rank;
    let payload = serde_json::Map::from_iter([
        ("session_id".into(), "s".into()),
        ("hook_event_name".into(), "seen".into()),
    ]);
    let mut seen = crate::script::record(
        payload,
        serde_json::Map::new(),
        2,
        crate::script::at_seconds("9"),
        fleet.now(),
    );
    seen.source = flightdeck_core::log::record::Source::User;
    let _ = fleet.apply(&flightdeck_core::log::event::Event::from_record(&seen));
    assert_eq!(card(&fleet, "s").rank, before);
}

#[test]
fn escape_sequences_are_removed_from_a_card() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 UserPromptSubmit prompt=a\u{1b}]0;x\u{7} cwd=/w/\u{1b}[31mapi TMUX_PANE=%\u{1b}[2J5");
    let json = serde_json::to_string(&card(&fleet, "s")).unwrap();
    assert!(!json.contains("\\u001b") && !json.contains('\u{1b}'), "{json}");
}

#[test]
fn the_type_of_a_session_started_with_agent_is_on_its_card() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "0 SessionStart source=startup agent_type=reviewer");
    tell(&mut fleet, "1 SubagentStart agent_id=x agent_type=Explore");
    assert_eq!(card(&fleet, "s").agent_type.as_deref(), Some("reviewer"));
    tell(&mut fleet, "2 SessionStart source=resume");
    assert_eq!(card(&fleet, "s").agent_type, None);
    tell(&mut fleet, "3 UserPromptSubmit prompt=a agent_type=planner");
    assert_eq!(card(&fleet, "s").agent_type.as_deref(), Some("planner"));
}

#[test]
fn subagents_have_three_state_words_their_session_and_a_duration() {
    let mut fleet = Fleet::new(FoldSettings::default());
    let told = |fleet: &Fleet| {
        let card = card(fleet, "s");
        let words = card.sub_agents.iter().map(|agent| {
            let parent = agent.parent_session_id.as_ref().unwrap();
            format!("{parent} {:?} {:?}", agent.status.as_ref().unwrap(), agent.duration_seconds)
        });
        (words.collect::<Vec<_>>().join(" · ").replace("StatusCard ", ""), card.duration_seconds)
    };
    tell(
        &mut fleet,
        "0 UserPromptSubmit prompt=a
         10 SubagentStart agent_id=x agent_type=Explore
         12 PreToolUse tool_name=Read tool_use_id=r agent_id=x agent_type=Explore",
    );
    let working = r#"s { kind: Working, detail: Some("Read"), reason: None } None"#;
    assert_eq!(told(&fleet), (working.to_owned(), 12.0));
    tell(&mut fleet, "14.5 PermissionRequest tool_name=Bash agent_id=x agent_type=Explore");
    let blocked = r#"s { kind: AttentionNeeded, detail: None, reason: Some("Permission for Bash") } None"#;
    assert_eq!(told(&fleet), (blocked.to_owned(), 14.5));
    tell(
        &mut fleet,
        "20 SubagentStop agent_id=x agent_type=Explore
         30 Stop
         40 SessionEnd reason=other",
    );
    let ended = "s { kind: Ended, detail: None, reason: None } Some(10.0)";
    assert_eq!(told(&fleet), (ended.to_owned(), 40.0));
}

#[test]
fn each_pane_of_a_session_has_a_status_until_the_session_leaves_it() {
    let mut fleet = Fleet::new(FoldSettings::default());
    let told = |fleet: &Fleet| {
        let panes = pane_statuses(fleet.get(&"s".into()).unwrap()).into_iter();
        panes.map(|(key, status)| format!("{} {} {status:?}", key.tmux_socket, key.pane)).collect::<Vec<_>>()
    };
    tell(&mut fleet, "0 UserPromptSubmit prompt=a pid=7");
    assert_eq!(told(&fleet), [""; 0], "no pane is known");
    tell(&mut fleet, "1 Stop pid=7 TMUX=/t/one,1,0 TMUX_PANE=%5");
    assert_eq!(told(&fleet), ["/t/one %5 Done"]);
    tell(&mut fleet, "2 SessionEnd reason=other pid=7");
    assert_eq!(told(&fleet), [""; 0]);
}
