//! What the client's registry does, status by status and state by state, and when its word counts.

use expect_test::{Expect, expect};
use flightdeck_core::approval::resolution::HoldEnd;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::approvals::hold_ended_record;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_transcript::{TurnMark, TurnMarkLine};
use flightdeck_core::log::hook_presence::{self, HookPresence};
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::log::{from_hook, from_registry, from_transcript};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::session::state_name::Group;
use serde_json::{Value, json};

use crate::script::{at_seconds, card, read, tell};

/// Lines as in [`tell`], and `<seconds> registry <status>[:<waitingFor>] [key=value…]`, written when it is read;
/// `<seconds> hooks gone|back|gone_at_start`; `<seconds> marker [<prompt id> [<next prompt id>]]`, `<seconds> hook_stop` and `<seconds> prompt_blocked`,
/// lines of a transcript about the end of a turn, which are stored only if they say something new; `<seconds> hold_end <why>`, the end
/// of the oldest hook hold.
/// Afterwards half a second passes.
#[track_caller]
pub(crate) fn check(script: &str, expect: Expect) {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, script);
    let _ = fleet.tick(fleet.now() + flightdeck_core::time::Millis(500));
    expect.assert_eq(&read(&card(&fleet, "s")));
}

pub(crate) fn tell_all(fleet: &mut Fleet, script: &str) {
    for line in script.lines().map(str::trim) {
        let words: Vec<_> = line.split_whitespace().collect();
        match words.as_slice() {
            [when, "registry", status, rest @ ..] => hear(fleet, when, status, rest),
            [when, "gone", pid] => gone(fleet, when, pid),
            [when, "hooks", how] => hooks_seen(fleet, when, how),
            [when, "marker"] => mark(fleet, when, TurnMark::Interrupted, [None, None]),
            [when, "marker", prompt] => mark(fleet, when, TurnMark::Interrupted, [Some(prompt), None]),
            [when, "marker", prompt, next] => {
                mark(fleet, when, TurnMark::Interrupted, [Some(prompt), Some(next)])
            }
            [when, "hook_stop"] => mark(fleet, when, TurnMark::StoppedByHook, [None, None]),
            [when, "prompt_blocked"] => mark(fleet, when, TurnMark::PromptBlocked, [None, None]),
            [when, "hold_end", why] => hold_end(fleet, when, why),
            _ => tell(fleet, line),
        }
    }
}

pub(crate) fn hear(fleet: &mut Fleet, when: &str, status: &str, rest: &[&str]) {
    let (received, written) = when.split_once('@').unwrap_or((when, when));
    let (status, waiting) = status.split_once(':').unwrap_or((status, ""));
    let mut entry = json!({
        "pid": 7, "procStart": "1", "sessionId": "s", "cwd": "/w/api", "startedAt": at_seconds("0").as_millis() - 60_000,
        "status": status, "waitingFor": waiting.replace('~', " "), "statusUpdatedAt": at_seconds(written).as_millis(),
    });
    for pair in rest {
        let (key, value) = pair.split_once('=').unwrap();
        entry[key] = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    }
    let Value::Object(entry) = entry else { unreachable!() };
    let mut record = from_registry::registry_record(&entry, EventId(1)).unwrap();
    record.seq = fleet.last_seq() + 1;
    // Hooks of a script are named by their place in the log; no two events have one name.
    record.id = EventId(u128::from(record.seq) << 64);
    from_hook::stamp(&mut record, at_seconds(received), fleet.now());
    let _ = fleet.apply(&Event::from_record(&record));
}

fn gone(fleet: &mut Fleet, when: &str, pid: &str) {
    let (pid, start) = pid.split_once('@').unwrap();
    let mut record = from_registry::process_gone_record(
        &"s".into(),
        pid.parse().unwrap(),
        Some(start),
        at_seconds(when),
        EventId(1),
    );
    record.seq = fleet.last_seq() + 1;
    from_hook::stamp(&mut record, at_seconds(when), fleet.now());
    let _ = fleet.apply(&Event::from_record(&record));
}

fn hooks_seen(fleet: &mut Fleet, when: &str, how: &str) {
    let seen = HookPresence { present: how == "back", at_start: how == "gone_at_start" };
    ours(fleet, when, hook_presence::hooks_seen_record(seen, EventId(1)));
}

fn mark(fleet: &mut Fleet, when: &str, mark: TurnMark, [prompt, next]: [Option<&str>; 2]) {
    let (received, written) = when.split_once('@').unwrap_or((when, when));
    let line = TurnMarkLine {
        mark,
        at: at_seconds(written),
        prompt_id: prompt.map(str::to_owned),
        next_prompt_id: next.map(str::to_owned),
    };
    let record = from_transcript::turn_mark_record(&line, &"s".into(), EventId(1));
    if fleet.is_news(&Event::from_record(&record)) {
        ours(fleet, received, record);
    }
}

fn hold_end(fleet: &mut Fleet, when: &str, why: &str) {
    let ask =
        fleet.get(&"s".into()).unwrap().all_asks().find(|ask| ask.resolution.is_none()).unwrap().id.clone();
    let why = HoldEnd::parse(why).unwrap();
    ours(fleet, when, hold_ended_record(&"s".into(), &ask, why, EventId(1)));
}

fn ours(fleet: &mut Fleet, when: &str, mut record: Record) {
    record.seq = fleet.last_seq() + 1;
    from_hook::stamp(&mut record, at_seconds(when), fleet.now());
    let _ = fleet.apply(&Event::from_record(&record));
}

#[test]
fn a_session_older_than_our_hooks_appears_with_the_right_column_at_once() {
    for (status, expect) in [
        ("idle", expect![[r#"needs_you idle "Ready""#]]),
        ("busy", expect![[r#"running thinking "Thinking""#]]),
        ("waiting:permission~prompt", expect![[r#"needs_you needs_permission "Permission needed""#]]),
        ("waiting:input~needed", expect![[r#"needs_you awaiting_input "Awaiting input""#]]),
        ("waiting:dialog~open", expect![[r#"needs_you idle "Ready""#]]),
        ("shell", expect![[r#"needs_you idle "Ready" · 1 shells"#]]),
    ] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, &format!("10@1 registry {status}"));
        expect.assert_eq(&read(&card(&fleet, "s")));
    }
}

#[test]
fn an_esc_shows_as_interrupted_in_every_phase_a_hook_was_heard_in() {
    for (phase, expect) in [
        ("", expect![[r#"needs_you interrupted "You interrupted""#]]),
        (
            "1 PreToolUse tool_name=Bash tool_use_id=a",
            expect![[r#"needs_you interrupted "You interrupted Bash""#]],
        ),
        (
            "1 PreToolUse tool_name=Bash tool_use_id=a\n 2 PermissionRequest tool_name=Bash",
            expect![[r#"needs_you interrupted "You interrupted Bash""#]],
        ),
        (
            "1 PreToolUse tool_name=AskUserQuestion tool_use_id=a",
            expect![[r#"needs_you interrupted "You interrupted AskUserQuestion""#]],
        ),
        (
            "1 PreToolUse tool_name=Agent tool_use_id=a\n 2 SubagentStart agent_id=x agent_type=Explore",
            expect![[r#"needs_you interrupted "You interrupted" · Explore Done "Done""#]],
        ),
        (
            "1 PreToolUse tool_name=Bash tool_use_id=a\n 2 PostToolUse tool_name=Bash tool_use_id=a",
            expect![[r#"needs_you interrupted "You interrupted""#]],
        ),
    ] {
        check(
            &format!("0 UserPromptSubmit prompt=a\n {phase}\n 0.1 registry busy\n 5 registry idle"),
            expect,
        );
    }
}

#[test]
fn the_word_counts_only_once_it_has_stood_for_a_quarter_of_a_second() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, "0 UserPromptSubmit prompt=a\n 5 registry idle\n 5.24 tick");
    expect![[r#"running thinking "Thinking""#]].assert_eq(&read(&card(&fleet, "s")));
    tell_all(&mut fleet, "5.25 tick");
    expect![[r#"needs_you interrupted "You interrupted""#]].assert_eq(&read(&card(&fleet, "s")));
    assert_eq!(card(&fleet, "s").agent_state.since, at_seconds("5"));
}

#[test]
fn a_newer_word_starts_the_wait_anew_and_a_hook_in_between_wins() {
    check(
        "0 UserPromptSubmit prompt=a\n 5 registry idle\n 5.2 registry busy",
        expect![[r#"running thinking "Thinking""#]],
    );
    check(
        "0 UserPromptSubmit prompt=a\n 5 registry idle\n 5.1 Stop",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
    check(
        "0 Stop\n 5 registry busy\n 5.1 UserPromptSubmit prompt=b",
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn an_older_word_never_overrules_a_hook() {
    check(
        "0 UserPromptSubmit prompt=a\n 5 Stop\n 6@4.9 registry busy",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
    check("6 UserPromptSubmit prompt=a\n 6.1@5.9 registry idle", expect![[r#"running thinking "Thinking""#]]);
}

/// The hook of a tool is a process of its own. If Esc is pressed when the tool ends, the registry entry may be written before that
/// hook reads the clock. The turn is over, in whichever order the two arrive.
#[test]
fn an_esc_at_the_very_end_of_a_tool_is_not_hidden_by_the_hook_of_that_tool() {
    let turn = "0 UserPromptSubmit prompt=a\n 1 registry busy\n 2 PreToolUse tool_name=Bash tool_use_id=t";
    for end in [
        "5.03@5 registry idle\n 5.05@5.02 PostToolUse tool_name=Bash tool_use_id=t",
        "5.05@5.02 PostToolUse tool_name=Bash tool_use_id=t\n 5.06@5 registry idle",
        "5.05@5.02 PostToolUse tool_name=Bash tool_use_id=t\n 5.9@5 registry idle",
        "5.03@5 registry idle\n 5.4@5.02 PostToolUse tool_name=Bash tool_use_id=t",
        "5.03@5 registry idle\n 5.05@5.02 PostToolUse tool_name=Bash tool_use_id=t\n 5.07@5.04 PostToolBatch",
    ] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, &format!("{turn}\n{end}\n 6.2 tick"));
        // The card names the tool only if the registry entry arrived first.
        let card = read(&card(&fleet, "s"));
        assert!(card.starts_with(r#"needs_you interrupted "You interrupted"#), "{end}: {card}");
    }
}

/// The events of a real client on a busy machine.
#[test]
fn a_turn_that_ended_is_no_interrupt_although_its_last_call_was_reported_late() {
    check(
        r#"1.385 UserPromptSubmit prompt=a
           1.393@1.338 registry busy
           1.613@1.6 PreToolUse tool_name=Bash tool_use_id=a tool_input={"command":"ls"}
           1.663@1.629 PermissionRequest tool_name=Bash tool_input={"command":"ls"}
           1.681@1.642 registry waiting:permission~prompt
           3.345@3.304 registry busy
           3.448@3.445 PostToolUse tool_name=Bash tool_use_id=a tool_input={"command":"ls"}
           3.449@3.387 PostToolBatch
           3.449@3.429 Stop
           3.497@3.489 registry idle"#,
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn a_stop_that_was_heard_after_the_clients_own_word_was_no_interrupt() {
    let turn = "1 UserPromptSubmit prompt=a\n 1.02 registry busy\n 10.12@10.08 registry idle\n 10.4 tick";
    check(turn, expect![[r#"needs_you interrupted "You interrupted""#]]);
    check(&format!("{turn}\n 10.45@10 Stop"), expect![[r#"needs_you idle "Waiting for your next prompt""#]]);
}

#[test]
fn after_an_esc_a_call_of_that_turn_moves_nothing_and_one_of_the_next_does() {
    let esc = "1 UserPromptSubmit prompt=a prompt_id=1\n 1.02 registry busy\n 10 registry idle\n 10.3 tick";
    check(
        &format!(
            "{esc}\n 10.4 PreToolUse tool_name=Bash tool_use_id=a prompt_id=1\n 10.41 PermissionRequest tool_name=Bash prompt_id=1"
        ),
        expect![[r#"needs_you interrupted "You interrupted""#]],
    );
    // The prompt of the turn is still in the spool.
    check(
        &format!(
            "{esc}\n 10.4 PreToolUse tool_name=Bash tool_use_id=a prompt_id=2\n 10.41 PermissionRequest tool_name=Bash prompt_id=2"
        ),
        expect![[r#"needs_you needs_permission "Permission for Bash""#]],
    );
}

#[test]
fn an_idle_word_of_the_turn_before_never_ends_this_one() {
    let before = "0 UserPromptSubmit prompt=a\n 1 registry busy\n 3 Stop\n 3.01 registry idle";
    let tool = "3.3 UserPromptSubmit prompt=b\n 3.6 PreToolUse tool_name=Bash tool_use_id=t\n 9 tick";
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, &format!("{before}\n{tool}"));
    expect![[r#"running acting "Bash""#]].assert_eq(&read(&card(&fleet, "s")));
}

#[test]
fn a_turn_that_no_hook_reported_ends_as_a_turn() {
    check(
        "0 registry idle\n 1 registry busy\n 5 registry idle",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn print_mode_that_ends_without_a_stop_failed() {
    check(
        "0 UserPromptSubmit prompt=a CLAUDE_CODE_ENTRYPOINT=sdk-cli\n 5 registry idle",
        expect![[r#"needs_you error "Failed: ended without an answer""#]],
    );
}

#[test]
fn busy_while_blocked_means_answered_in_the_terminal() {
    let asked = "0 UserPromptSubmit prompt=a\n 1 PreToolUse tool_name=Bash tool_use_id=a\n 2 PermissionRequest tool_name=Bash";
    check(&format!("{asked}\n 3 registry busy"), expect![[r#"running acting "Bash""#]]);
    check(
        "0 PermissionRequest tool_name=Bash\n 3 registry busy\n 4 registry idle",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn an_answer_in_the_terminal_and_a_quick_end_is_no_interrupt() {
    check(
        "0 PermissionRequest tool_name=Bash\n 3 registry busy\n 3.1 registry idle",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn waiting_blocks_a_working_session_and_a_hook_that_knows_more_takes_over() {
    let waits = "0 UserPromptSubmit prompt=a\n 1 registry waiting:permission~prompt\n 1.5 tick";
    check(waits, expect![[r#"needs_you needs_permission "Permission needed""#]]);
    check(
        &format!(
            "{waits}\n 2@0.9 PreToolUse tool_name=Bash tool_use_id=a\n 2.1@0.95 PermissionRequest tool_name=Bash"
        ),
        expect![[r#"needs_you needs_permission "Permission for Bash""#]],
    );
}

#[test]
fn a_menu_the_person_opened_raises_no_alarm() {
    check(
        "0 UserPromptSubmit prompt=a\n 1 registry waiting:dialog~open",
        expect![[r#"running thinking "Thinking""#]],
    );
    check(
        "0 Stop\n 1 registry waiting:dialog~open",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
    check(
        "0 PreToolUse tool_name=Bash tool_use_id=a\n 1 registry waiting:dialog~open",
        expect![[r#"needs_you needs_permission "Permission needed""#]],
    );
}

/// A dialog of the client itself is about no call. A permission prompt is, and a notice of one too.
#[test]
fn only_a_permission_prompt_names_the_call_that_runs() {
    let runs = "0 UserPromptSubmit prompt=a\n 0.5 PreToolUse tool_name=Bash tool_use_id=a";
    let named = || expect![[r#"needs_you needs_permission "Permission for Bash""#]];
    check(&format!("{runs}\n 1 registry waiting:permission~prompt"), named());
    check(&format!("{runs}\n 1 Notification notification_type=permission_prompt"), named());
    check(
        &format!("{runs}\n 1 registry waiting:dialog~open\n 2 registry waiting:permission~prompt"),
        named(),
    );
    for other in ["worker~request", "goal~proposal"] {
        check(
            &format!("{runs}\n 1 registry waiting:{other}"),
            expect![[r#"needs_you needs_permission "Permission needed""#]],
        );
    }
    check(
        &format!("{runs}\n 1 registry waiting:dialog~open\n 2 registry busy"),
        expect![[r#"running acting "Bash""#]],
    );
}

#[test]
fn idle_ends_background_work_and_its_agents() {
    check(
        r#"0 SubagentStart agent_id=x agent_type=Explore
           1 Stop background_tasks=[{"type":"subagent","status":"running"}]
           2 registry busy
           9 registry shell"#,
        expect![[r#"needs_you idle "Waiting for your next prompt" · Explore Done "Done" · 1 shells"#]],
    );
}

#[test]
fn a_client_still_busy_a_second_after_its_stop_was_sent_on() {
    let script = "0 UserPromptSubmit prompt=a\n 0.1 registry busy\n 5 Stop";
    check(&format!("{script}\n 5.9 tick"), expect![[r#"running thinking "Thinking""#]]);
    check(
        &format!("{script}\n 5.1 registry idle\n 6.5 tick"),
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
    check(
        &format!("{script}\n 6.5 tick\n 8 registry idle"),
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn the_last_idle_after_the_end_brings_no_session_back_but_work_does() {
    check(
        "0 Stop\n 1 SessionEnd reason=other\n 1.1 registry idle",
        expect![[r#"done session_ended "Session closed""#]],
    );
    check(
        "0 Stop\n 1 SessionEnd reason=other\n 1.1@0.9 registry busy",
        expect![[r#"done session_ended "Session closed""#]],
    );
    check(
        "0 Stop\n 1 SessionEnd reason=other\n 9 registry busy",
        expect![[r#"running thinking "Thinking""#]],
    );
    let later = format!(
        "0 Stop\n 1 SessionEnd reason=other\n 9 registry idle startedAt={}",
        at_seconds("8").as_millis()
    );
    check(&later, expect![[r#"needs_you idle "Ready""#]]);
}

#[test]
fn a_death_ends_the_session_and_its_children_and_a_reused_pid_does_not_revive_it() {
    let died = "0 UserPromptSubmit prompt=a pid=7 proc_start=1\n 1 SubagentStart agent_id=x agent_type=Explore\n 2 gone 7@1";
    check(died, expect![[r#"done session_ended "Process died" · Explore Done "Done""#]]);
    check(
        &format!("{died}\n 3@1.5 registry busy"),
        expect![[r#"done session_ended "Process died" · Explore Done "Done""#]],
    );
    check(
        "0 UserPromptSubmit prompt=a pid=7 proc_start=2\n 2 gone 7@1",
        expect![[r#"running thinking "Thinking""#]],
    );
    check(
        "0 UserPromptSubmit prompt=a pid=8 proc_start=1\n 2 gone 7@1",
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn a_session_id_that_changes_in_place_replaces_the_card() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, "0 registry idle sessionId=a\n 5 registry idle sessionId=b\n 6 tick");
    let board: Vec<_> =
        flightdeck_core::view::board(&fleet).into_iter().map(|c| (c.id, c.continues)).collect();
    assert_eq!(board, [("b".into(), Some("a".into()))]);
}

#[test]
fn hook_and_registry_in_either_order_give_the_same_card() {
    let hook = "1.05@1 UserPromptSubmit prompt=a pid=7 proc_start=1 event_id=9";
    let word = "1.1@0.96 registry busy";
    let cards = [[hook, word], [word, hook]].map(|order| {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, "0 SessionStart source=startup pid=7 proc_start=1");
        tell_all(&mut fleet, &order.join("\n").replace("1.05@", "1.2@"));
        let _ = fleet.tick(at_seconds("3"));
        serde_json::to_string(&card(&fleet, "s")).unwrap()
    });
    assert_eq!(cards[0], cards[1]);
}

#[test]
fn a_late_notice_does_not_hide_that_the_prompt_was_answered_in_the_terminal() {
    check(
        "0 UserPromptSubmit prompt=a
         0.5 PreToolUse tool_name=Bash tool_use_id=a
         1 PermissionRequest tool_name=Bash
         6.97@6.95 registry busy
         7 Notification notification_type=permission_prompt",
        expect![[r#"running acting "Bash""#]],
    );
}

#[test]
fn a_spooled_goodbye_replaces_what_the_process_table_had_to_guess() {
    check(
        "0 SessionStart source=startup pid=7 proc_start=1\n 5 gone 7@1\n 6@4.9 SessionEnd reason=other pid=7 proc_start=1",
        expect![[r#"done session_ended "Session closed""#]],
    );
}

#[test]
fn a_word_from_the_future_does_not_deafen_the_session() {
    check(
        "5@99 registry busy\n 6 UserPromptSubmit prompt=a\n 7 Stop",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn a_file_read_between_the_goodbye_and_the_next_start_does_not_double_the_card() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        "0 SessionStart source=startup session_id=a pid=7 proc_start=1
         5 SessionEnd reason=clear session_id=a pid=7 proc_start=1
         5.02@4.99 registry busy sessionId=b
         5.03 SessionStart source=clear session_id=b pid=7 proc_start=1
         6 tick",
    );
    let board: Vec<_> =
        flightdeck_core::view::board(&fleet).into_iter().map(|c| (c.id, c.continues)).collect();
    assert_eq!(board, [("b".into(), Some("a".into()))]);
}

/// One file of one process, read twice: the second reading is the newer one. A start says so itself.
#[test]
fn a_clock_that_was_set_back_keeps_no_dead_session_on_the_board() {
    for script in [
        "20 registry busy sessionId=a\n 20.5@19.9 registry idle sessionId=b",
        "20 registry busy sessionId=a\n 3 registry idle sessionId=b",
        // A word of the old one comes in between, and resets what it knows of the time.
        "20 UserPromptSubmit session_id=a pid=7 proc_start=1
         3 Stop session_id=a pid=7 proc_start=1
         4 registry idle sessionId=b",
        "20 SessionStart source=startup session_id=a pid=7 proc_start=1
         3 SessionStart source=clear session_id=b pid=7 proc_start=1",
    ] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, script);
        assert_eq!(card(&fleet, "a").replaced_by.as_deref(), Some("b"), "{script}");
        assert_eq!(card(&fleet, "b").continues.as_deref(), Some("a"), "{script}");
    }
}

/// Both files are read when the daemon starts, in whatever order the folder has them.
#[test]
fn a_session_that_was_resumed_elsewhere_is_not_ended_by_who_took_its_old_process() {
    let started = at_seconds("25").as_millis();
    let moved = format!("31@30 registry idle sessionId=a pid=8 procStart=2 startedAt={started}");
    let cleared = "31@20 registry idle sessionId=b".to_owned();
    for words in [[&moved, &cleared], [&cleared, &moved]] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, "10 registry busy sessionId=a");
        words.into_iter().for_each(|word| tell_all(&mut fleet, word));
        tell_all(&mut fleet, "33 SessionStart source=clear session_id=c pid=7 proc_start=1");
        assert_eq!(card(&fleet, "b").replaced_by.as_deref(), Some("c"), "{words:?}");
        assert_ne!(card(&fleet, "a").agent_state.group, Group::Done, "{words:?}");
    }
}

#[test]
fn what_the_registry_repeats_at_a_start_is_no_sign_of_life() {
    let mut fleet = Fleet::new(FoldSettings::default());
    let marks = |fleet: &Fleet| (card(fleet, "s").quiet_since.is_some(), card(fleet, "s").stale);
    tell_all(&mut fleet, "0 UserPromptSubmit prompt=a\n 1 registry busy\n 28900 tick");
    assert_eq!(marks(&fleet), (true, true));
    tell_all(&mut fleet, "28901@1 registry busy");
    assert_eq!(marks(&fleet), (true, true));
    // Two days later its time is older than any event's may be.
    tell_all(&mut fleet, "172800@1 registry busy");
    assert_eq!(marks(&fleet), (true, true));
    tell_all(&mut fleet, "172801 registry busy");
    assert_eq!(marks(&fleet), (false, false));
}

#[test]
fn a_word_that_does_not_know_the_start_of_the_process_is_of_the_same_process() {
    let mut fleet = Fleet::new(FoldSettings::default());
    let start = |fleet: &Fleet| fleet.sessions().next().unwrap().seat.proc_start.clone();
    tell_all(&mut fleet, "1 registry busy\n 2 registry busy procStart=null");
    assert_eq!(start(&fleet).as_deref(), Some("1"));
    tell_all(&mut fleet, "3 registry busy pid=8 procStart=null");
    assert_eq!(start(&fleet), None);
}

/// A background agent works on: the client stays busy, whatever main does.
const AGENT_RUNS: &str = "1 UserPromptSubmit prompt=one prompt_id=a
     1.1 registry busy
     2 SubagentStart agent_id=x agent_type=Explore prompt_id=a";

#[test]
fn a_client_that_is_busy_with_a_background_agent_does_not_wake_a_main_agent_at_rest() {
    let failed = format!("{AGENT_RUNS}\n 3 StopFailure error=rate_limit prompt_id=a");
    for busy in ["4 registry busy", "4 registry busy\n 5 registry busy\n 6 registry busy"] {
        check(
            &format!("{failed}\n {busy}"),
            expect![[r#"needs_you error "Failed: rate limit" · Explore Working "Thinking""#]],
        );
    }
    // Once it has ended, busy is the main agent's.
    check(
        &format!("{failed}\n 4 SubagentStop agent_id=x agent_type=Explore\n 6 registry busy"),
        expect![[r#"running thinking "Thinking" · Explore Done "Done""#]],
    );
}

#[test]
fn an_answered_request_of_an_agent_leaves_the_main_agent_as_it_was() {
    let asks = "5 PreToolUse tool_name=Bash tool_use_id=9 agent_id=x agent_type=Explore
         5.1 PermissionRequest tool_name=Bash agent_id=x agent_type=Explore
         5.15 registry waiting:permission~prompt
         8 registry busy";
    check(
        &format!("{AGENT_RUNS}\n 3 StopFailure error=rate_limit prompt_id=a\n {asks}"),
        expect![[r#"needs_you error "Failed: rate limit" · Explore Working "Bash""#]],
    );
    // The turn waits for a foreground agent.
    let foreground = "1 UserPromptSubmit prompt=one prompt_id=a
         1.1 registry busy
         2 PreToolUse tool_name=Agent tool_use_id=1 prompt_id=a
         2.1 SubagentStart agent_id=x agent_type=Explore prompt_id=a";
    check(
        &format!("{foreground}\n {asks}"),
        expect![[r#"running delegating "Running Explore subagent" · Explore Working "Bash""#]],
    );
}

#[test]
fn a_dialog_of_an_agent_that_the_registry_reported_first_closes_with_the_agents_request() {
    let stop = r#"3 Stop prompt_id=a background_tasks=[{"id":"x","type":"subagent","status":"running"}]"#;
    let waits = r#"running waiting_background "Waiting on 1 background agent" · Explore Working "Thinking""#;
    let failure = "3 StopFailure error=rate_limit prompt_id=a";
    let failed = r#"needs_you error "Failed: rate limit" · Explore Working "Thinking""#;
    for (end, after) in [(stop, waits), (failure, failed)] {
        let late = "5 registry waiting:permission~prompt
             5.5 tick
             5.6 PreToolUse tool_name=Bash tool_use_id=9 agent_id=x agent_type=Explore
             5.61 PermissionRequest tool_name=Bash agent_id=x agent_type=Explore";
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, &format!("{AGENT_RUNS}\n {end}\n {late}"));
        assert_eq!(card(&fleet, "s").agent_state.label, "Explore needs permission for Bash");
        tell_all(&mut fleet, "7 PostToolUse tool_name=Bash tool_use_id=9 agent_id=x agent_type=Explore");
        let _ = fleet.tick(at_seconds("8"));
        assert_eq!(read(&card(&fleet, "s")), after);
    }
}
