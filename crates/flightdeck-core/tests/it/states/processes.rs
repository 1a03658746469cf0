//! Several processes hold one session: the card shows the most urgent one, and the session ends with the last.

use expect_test::expect;
use flightdeck_core::approval::answer::{Answer, Decision};
use flightdeck_core::approval::resolution::{AnsweredBy, AskOutcome};
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::log::approvals::answered_record;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook;
use flightdeck_core::log::record::EventId;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::usage::enrichment::{Summary, TranscriptFile, TranscriptFold};
use flightdeck_core::usage::price::PriceTable;
use flightdeck_core::view;

use crate::registry::tell_all;
use crate::script::{at_seconds, card, read};

/// The first terminal, in pane %1, works and asks for permission.
const FIRST_BLOCKED: &str = "0 SessionStart source=startup pid=7 proc_start=1 TMUX=/tmp/t,1,0 TMUX_PANE=%1
     1 UserPromptSubmit prompt=fix pid=7 proc_start=1
     2 PreToolUse tool_name=Bash tool_use_id=a pid=7 proc_start=1
     3 PermissionRequest tool_name=Bash pid=7 proc_start=1";

/// The second terminal, in pane %2, on the same session.
const SECOND_STARTS: &str = "4 SessionStart source=resume pid=8 proc_start=2 TMUX=/tmp/t,1,0 TMUX_PANE=%2";

const BLOCKED: &str = r#"needs_you needs_permission "Permission for Bash""#;
const READY: &str = r#"needs_you idle "Ready""#;
const THINKING: &str = r#"running thinking "Thinking""#;
const CLOSED: &str = r#"done session_ended "Session closed""#;
const DIED: &str = r#"done session_ended "Process died""#;

fn after(parts: &[&str]) -> Fleet {
    let mut fleet = Fleet::new(FoldSettings::default());
    parts.iter().for_each(|part| tell_all(&mut fleet, part));
    fleet
}

/// What the card says, and the pid it is about.
fn shows(fleet: &Fleet) -> (String, Option<u32>) {
    let card = card(fleet, "s");
    (read(&card), card.seat.pid)
}

#[track_caller]
fn check(parts: &[&str], says: &str, pid: u32) {
    assert_eq!(shows(&after(parts)), (says.to_owned(), Some(pid)));
}

fn resolutions(fleet: &Fleet) -> Vec<(String, Option<AskOutcome>)> {
    let asks = card(fleet, "s").asks.into_iter();
    asks.map(|ask| (ask.tool_name.unwrap_or_default(), ask.resolution.map(|r| r.how))).collect()
}

fn answer(fleet: &mut Fleet, tool: &str, when: &str) -> Vec<Effect> {
    let ask = card(fleet, "s").asks.into_iter().find(|ask| ask.tool_name.as_deref() == Some(tool)).unwrap();
    let allow = Answer::without_details(Decision::Allow, AnsweredBy::Web);
    let mut record = answered_record(&"s".into(), &ask.id, &allow, EventId(fleet.last_seq().into()));
    record.seq = fleet.last_seq() + 1;
    from_hook::stamp(&mut record, at_seconds(when), fleet.now());
    fleet.apply(&Event::from_record(&record))
}

#[test]
fn the_end_of_a_second_terminal_leaves_the_first_one_blocked() {
    let ended = "5 SessionEnd reason=prompt_input_exit pid=8 proc_start=2";
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, ended]);
    assert_eq!(shows(&fleet), (BLOCKED.to_owned(), Some(7)));
    assert_eq!(card(&fleet, "s").seat.pane.as_deref(), Some("%1"));
    assert_eq!(resolutions(&fleet), [("Bash".to_owned(), None)]);
    assert_eq!(card(&fleet, "s").processes.len(), 1, "one process is left");
}

#[test]
fn a_print_run_beside_an_open_terminal_ends_alone() {
    let print = "4 SessionStart source=resume pid=8 proc_start=2 CLAUDE_CODE_ENTRYPOINT=sdk-cli
        5 UserPromptSubmit prompt=sum~up pid=8 proc_start=2 CLAUDE_CODE_ENTRYPOINT=sdk-cli
        6 Stop pid=8 proc_start=2 CLAUDE_CODE_ENTRYPOINT=sdk-cli";
    let ended = "7 SessionEnd reason=other pid=8 proc_start=2";
    check(&[FIRST_BLOCKED, print], BLOCKED, 7);
    check(&[FIRST_BLOCKED, print, ended], BLOCKED, 7);
    // The open terminal still shows its prompts: it did not become print mode.
    let next = "8 PostToolUse tool_name=Bash tool_use_id=a pid=7 proc_start=1
        9 PreToolUse tool_name=Write tool_use_id=b pid=7 proc_start=1
        10 PermissionRequest tool_name=Write pid=7 proc_start=1";
    let fleet = after(&[FIRST_BLOCKED, print, ended, next]);
    assert_eq!(shows(&fleet).0, r#"needs_you needs_permission "Permission for Write""#);
    assert_eq!(card(&fleet, "s").turn_count, 2, "turns are counted for the conversation");
    assert_eq!(card(&fleet, "s").last_user_message.as_deref(), Some("sum up"));
}

#[test]
fn the_first_terminal_ends_while_the_second_works() {
    let works = "5 UserPromptSubmit prompt=more pid=8 proc_start=2
        6 SessionEnd reason=prompt_input_exit pid=7 proc_start=1";
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, works]);
    assert_eq!(shows(&fleet), (THINKING.to_owned(), Some(8)));
    assert_eq!(resolutions(&fleet), [("Bash".to_owned(), Some(AskOutcome::SessionEnded))]);
    check(&[FIRST_BLOCKED, SECOND_STARTS, works, "9 SessionEnd reason=other pid=8 proc_start=2"], CLOSED, 8);
}

#[test]
fn each_answer_goes_to_the_process_that_asked() {
    let question = "5 UserPromptSubmit prompt=more pid=8 proc_start=2
        6 PreToolUse tool_name=AskUserQuestion tool_use_id=q pid=8 proc_start=2
        7 PermissionRequest tool_name=AskUserQuestion pid=8 proc_start=2";
    let mut fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, question]);
    assert_eq!(shows(&fleet), (BLOCKED.to_owned(), Some(7)), "a permission is more urgent than a question");
    assert_eq!(resolutions(&fleet), [("Bash".to_owned(), None), ("AskUserQuestion".to_owned(), None)]);
    let closed = |effects: &[Effect]| effects.iter().filter(|e| matches!(e, Effect::AskClosed(_))).count();
    assert_eq!(closed(&answer(&mut fleet, "Bash", "8")), 1);
    assert_eq!(shows(&fleet), (r#"needs_you awaiting_input "Awaiting input""#.to_owned(), Some(8)));
    assert_eq!(closed(&answer(&mut fleet, "AskUserQuestion", "9")), 1);
    // Both work: the newest prompt is the second terminal's.
    assert_eq!(shows(&fleet), (r#"running acting "AskUserQuestion""#.to_owned(), Some(8)));
    tell_all(&mut fleet, "10 Stop pid=8 proc_start=2");
    assert_eq!(shows(&fleet), (r#"running acting "Bash""#.to_owned(), Some(7)));
}

#[test]
fn an_answer_in_one_terminal_closes_nothing_of_the_other() {
    let question = "5 UserPromptSubmit prompt=more pid=8 proc_start=2
        6 PreToolUse tool_name=AskUserQuestion tool_use_id=q pid=8 proc_start=2
        7 PostToolUse tool_name=AskUserQuestion tool_use_id=q pid=8 proc_start=2
        8 PostToolBatch tool_calls=[{\"tool_name\":\"AskUserQuestion\",\"tool_use_id\":\"q\"}] pid=8 proc_start=2
        9 Stop pid=8 proc_start=2
        10 UserPromptSubmit prompt=again pid=8 proc_start=2";
    check(&[FIRST_BLOCKED, SECOND_STARTS, question], BLOCKED, 7);
}

#[test]
fn the_death_of_one_process_removes_only_that_one() {
    check(&[FIRST_BLOCKED, SECOND_STARTS, "5 gone 8@2"], BLOCKED, 7);
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, "5 gone 7@1"]);
    assert_eq!(shows(&fleet), (READY.to_owned(), Some(8)));
    assert_eq!(resolutions(&fleet), [("Bash".to_owned(), Some(AskOutcome::ClientDied))]);
    check(&[FIRST_BLOCKED, SECOND_STARTS, "5 gone 7@1", "6 gone 8@2"], DIED, 8);
    check(&[FIRST_BLOCKED, SECOND_STARTS, "5 gone 8@2", "6 gone 7@1"], DIED, 7);
}

#[test]
fn a_resume_in_a_second_terminal_drops_nothing_of_the_first() {
    let works = "0 SessionStart source=startup pid=7 proc_start=1
        1 UserPromptSubmit prompt=fix pid=7 proc_start=1
        2 PreToolUse tool_name=Bash tool_use_id=a pid=7 proc_start=1
        3 SubagentStart agent_id=x agent_type=Explore pid=7 proc_start=1";
    let runs = r#"running delegating "Running Explore subagent" · Explore Working "Thinking""#;
    check(&[works, SECOND_STARTS], runs, 7);
    check(&[works, SECOND_STARTS, "5 SessionEnd reason=other pid=8 proc_start=2"], runs, 7);
    // Both are idle: the last to come to rest is shown.
    let stopped =
        "5 SubagentStop agent_id=x agent_type=Explore pid=7 proc_start=1\n 6 Stop pid=7 proc_start=1";
    let rests = r#"needs_you idle "Waiting for your next prompt" · Explore Done "Done""#;
    check(&[works, SECOND_STARTS, stopped], rests, 7);
}

#[test]
fn the_registry_alone_reports_two_processes() {
    let two = "1 registry waiting:permission~prompt
        2 registry busy pid=8 procStart=\"2\"";
    let blocked = r#"needs_you needs_permission "Permission needed""#;
    check(&[two, "3 tick"], blocked, 7);
    check(&[two, "3 registry idle pid=8 procStart=\"2\"", "4 tick"], blocked, 7);
    check(&[two, "3 registry busy", "4 tick"], THINKING, 7);
    check(&[two, "3 registry idle", "4 tick"], THINKING, 8);
    check(&[two, "3 gone 7@1"], THINKING, 8);
    check(&[two, "3 gone 8@2"], blocked, 7);
    check(&[two, "3 gone 8@2", "4 gone 7@1"], DIED, 7);
}

#[test]
fn an_entry_of_one_process_says_nothing_about_the_other() {
    // Without processes an idle entry of the second terminal was an Esc in the first.
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, "5 registry idle pid=8 procStart=\"2\"", "6 tick"]);
    assert_eq!(shows(&fleet), (BLOCKED.to_owned(), Some(7)));
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, "5 registry idle", "6 tick"]);
    assert_eq!(shows(&fleet), (r#"needs_you interrupted "You interrupted Bash""#.to_owned(), Some(7)));
}

#[test]
fn late_hooks_of_a_process_that_left_do_not_bring_it_back() {
    let late = "6@4.5 SessionEnd reason=other pid=8 proc_start=2
        7@4.6 PreToolUse tool_name=Read tool_use_id=r pid=8 proc_start=2
        8@4.4 UserPromptSubmit prompt=late pid=8 proc_start=2
        9 registry idle pid=8 procStart=\"2\"
        10 tick";
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, "5 gone 8@2", late]);
    assert_eq!(shows(&fleet), (BLOCKED.to_owned(), Some(7)));
    assert_eq!(card(&fleet, "s").processes.len(), 1);
    // The session then ends with its last process, and stays ended.
    let ends = "11 SessionEnd reason=other pid=7 proc_start=1
        12@4.7 PostToolUse tool_name=Read tool_use_id=r pid=8 proc_start=2";
    check(&[FIRST_BLOCKED, SECOND_STARTS, "5 gone 8@2", late, ends], CLOSED, 7);
}

#[test]
fn a_start_that_arrives_after_the_end_of_its_own_process_adds_nothing() {
    let reversed = "5@4.9 SessionEnd reason=other pid=8 proc_start=2
        6@4 SessionStart source=resume pid=8 proc_start=2";
    check(&[FIRST_BLOCKED, reversed], BLOCKED, 7);
    assert_eq!(card(&after(&[FIRST_BLOCKED, reversed]), "s").processes.len(), 1);
}

#[test]
fn a_late_hook_of_a_process_from_before_a_resume_changes_nothing() {
    let resumed = "0 UserPromptSubmit prompt=fix pid=7 proc_start=1
        1 gone 7@1
        2 SessionStart source=resume pid=8 proc_start=2
        3@0.5 PreToolUse tool_name=Bash tool_use_id=a pid=7 proc_start=1
        4@0.9 SessionEnd reason=other pid=7 proc_start=1";
    check(&[resumed], READY, 8);
    assert_eq!(card(&after(&[resumed]), "s").processes.len(), 1);
}

#[test]
fn clear_in_one_of_two_terminals_leaves_the_session_to_the_other() {
    for clear in [
        "5 SessionEnd reason=clear pid=8 proc_start=2
         6 SessionStart source=clear session_id=b pid=8 proc_start=2",
        "5 SessionStart source=clear session_id=b pid=8 proc_start=2
         6@4.9 SessionEnd reason=clear pid=8 proc_start=2",
    ] {
        let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, clear]);
        assert_eq!(shows(&fleet), (BLOCKED.to_owned(), Some(7)), "{clear}");
        assert_eq!(card(&fleet, "s").replaced_by, None);
        assert_eq!(resolutions(&fleet), [("Bash".to_owned(), None)]);
        assert_eq!(view::board(&fleet).len(), 2);
        assert_eq!(card(&fleet, "b").seat.pid, Some(8));
        // The process of session `b` returns to its own session with /resume.
        let back = "7 SessionEnd reason=resume session_id=b pid=8 proc_start=2
            8 SessionStart source=resume pid=8 proc_start=2";
        let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, clear, back]);
        assert_eq!(card(&fleet, "s").processes.len(), 2, "{clear}");
        assert_eq!(card(&fleet, "b").replaced_by.as_deref(), Some("s"));
    }
}

#[test]
fn clear_in_the_only_terminal_that_is_left_replaces_the_card() {
    let left = "5 SessionEnd reason=other pid=7 proc_start=1
        6 SessionEnd reason=clear pid=8 proc_start=2
        7 SessionStart source=clear session_id=b pid=8 proc_start=2";
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, left]);
    assert_eq!(view::board(&fleet).iter().map(|c| c.id.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(card(&fleet, "s").replaced_by.as_deref(), Some("b"));
}

#[test]
fn a_start_that_arrives_after_the_end_of_the_other_process_counts() {
    let ends = "5 SessionEnd reason=other pid=7 proc_start=1
        6@4 SessionStart source=resume pid=8 proc_start=2";
    check(&[FIRST_BLOCKED, ends], READY, 8);
    check(
        &[
            FIRST_BLOCKED,
            "5 SessionEnd reason=other pid=7 proc_start=1\n 6@4.9 registry busy pid=8 procStart=\"2\"",
        ],
        THINKING,
        8,
    );
}

#[test]
fn a_hook_without_a_pid_is_of_the_process_whose_call_it_names() {
    let second = "5 UserPromptSubmit prompt=more pid=8 proc_start=2
        6 PreToolUse tool_name=Read tool_use_id=r pid=8 proc_start=2
        7 PostToolUse tool_name=Read tool_use_id=r";
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, second]);
    assert_eq!(shows(&fleet), (BLOCKED.to_owned(), Some(7)));
    assert_eq!(labels(&fleet), ["7 %1 Permission for Bash (shown)", "8 %2 Thinking"]);
}

fn labels(fleet: &Fleet) -> Vec<String> {
    let line = |p: &view::card::ProcessCard| {
        let shown = if p.shown { " (shown)" } else { "" };
        format!("{} {} {}{shown}", p.pid, p.pane.clone().unwrap_or_default(), p.label)
    };
    card(fleet, "s").processes.iter().map(line).collect()
}

#[test]
fn the_card_names_its_processes_and_explain_the_one_it_is_about() {
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS]);
    assert_eq!(labels(&fleet), ["7 %1 Permission for Bash (shown)", "8 %2 Ready"]);
    let why = view::explain::explain(fleet.get(&"s".into()).unwrap());
    assert_eq!(why.processes, card(&fleet, "s").processes);
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, "5 gone 7@1"]);
    let why = view::explain::explain(fleet.get(&"s".into()).unwrap());
    let steps: Vec<_> =
        why.history.iter().map(|s| format!("{} → {}", s.from.as_str(), s.to.as_str())).collect();
    expect![[r#"
        [
            "idle → thinking",
            "thinking → acting",
            "acting → needs_permission",
            "needs_permission → idle",
        ]
    "#]]
    .assert_debug_eq(&steps);
    expect!["Another process of the session is the most urgent one now."]
        .assert_eq(&why.history.last().unwrap().because.rule);
}

#[test]
fn a_process_is_watched_as_soon_as_it_holds_the_session() {
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS]);
    let pids: Vec<_> = fleet.occupants().map(|occupant| occupant.pid).collect();
    assert_eq!(pids, [7, 8]);
    assert!(after(&[FIRST_BLOCKED, SECOND_STARTS, "5 gone 7@1\n 6 gone 8@2"]).occupants().next().is_none());
}

#[test]
fn a_card_that_was_seen_is_new_again_when_another_process_is_shown() {
    let idle = "0 Stop pid=7 proc_start=1\n 1 SessionStart source=resume pid=8 proc_start=2";
    let mut fleet = after(&[idle]);
    assert_eq!(shows(&fleet).1, Some(8), "of two idle ones the newest");
    fleet = after(&[idle, "2 UserPromptSubmit prompt=a pid=7 proc_start=1\n 3 Stop pid=7 proc_start=1"]);
    assert_eq!(shows(&fleet), (r#"needs_you idle "Waiting for your next prompt""#.to_owned(), Some(7)));
    assert!(!card(&fleet, "s").seen);
}

#[test]
fn a_pid_that_was_reused_ends_the_process_that_had_it() {
    let reused = "4 SessionStart source=resume pid=7 proc_start=9";
    let fleet = after(&[FIRST_BLOCKED, reused]);
    assert_eq!(shows(&fleet), (READY.to_owned(), Some(7)));
    assert_eq!(card(&fleet, "s").processes.len(), 1);
}

#[test]
fn the_number_of_processes_is_bounded_and_the_blocked_one_stays() {
    let mut fleet = after(&[FIRST_BLOCKED]);
    for pid in 100..200 {
        tell_all(&mut fleet, &format!("{pid} SessionStart source=resume pid={pid} proc_start=1"));
    }
    assert_eq!(card(&fleet, "s").processes.len(), flightdeck_core::limits::PROCESSES_MAX);
    assert_eq!(shows(&fleet), (BLOCKED.to_owned(), Some(7)));
}

#[test]
fn a_session_with_several_processes_reads_back_from_a_snapshot() {
    let fleet = after(&[FIRST_BLOCKED, SECOND_STARTS, "5 gone 9@1"]);
    let json = serde_json::to_string(&fleet).unwrap();
    let back = serde_json::from_str::<Fleet>(&json).unwrap().with_settings(FoldSettings::default());
    assert_eq!(serde_json::to_string(&back).unwrap(), json);
    assert_eq!(labels(&back), labels(&fleet));
    let single = serde_json::to_string(&after(&[FIRST_BLOCKED])).unwrap();
    assert!(!single.contains("beside") && !single.contains("past_processes"), "one process costs nothing");
}

#[test]
fn the_background_commands_of_one_terminal_are_not_taken_for_those_of_another() {
    let stops = |shells: &str, pid: &str| format!(r#"Stop pid={pid} background_tasks=[{shells}]"#);
    let shell = |id: &str| format!(r#"{{"id":"{id}","type":"shell","status":"running"}}"#);
    let first = format!(
        "0 SessionStart source=startup pid=7 proc_start=1\n 1 UserPromptSubmit prompt=fix pid=7 proc_start=1
         2 {} proc_start=1",
        stops(&shell("b1"), "7")
    );
    let second = format!(
        "{SECOND_STARTS}\n 5 UserPromptSubmit prompt=more pid=8 proc_start=2\n 6 {} proc_start=2",
        stops(&format!("{},{}", shell("b2"), shell("b3")), "8")
    );
    let mut fleet = after(&[&first, &second]);
    let ended = |id: &str| {
        serde_json::json!({"type": "queue-operation", "operation": "enqueue", "timestamp": at_seconds("7").to_string(),
            "content": format!("<task-notification>\n<task-id>{id}</task-id>\n<status>completed</status>")})
    };
    let mut fold = TranscriptFold::default();
    for id in ["b2", "b3"] {
        fold.count_line(TranscriptFile::Main, ended(id).to_string().as_bytes());
    }
    let _ = fleet.enrich(&"s".into(), Summary::with_prices(fold.enrichment().clone(), PriceTable::shipped()));
    assert_eq!(card(&fleet, "s").background.shells, 0, "both of the second terminal have ended");
    // Now the card shows the first terminal, whose command runs on.
    tell_all(&mut fleet, "9 SessionEnd reason=other pid=8 proc_start=2");
    assert_eq!((shows(&fleet).1, card(&fleet, "s").background.shells), (Some(7), 1));
}

const TWO_IDLE: &str = "0 SessionStart source=startup pid=7 proc_start=1
     0.1 registry idle
     0.5 SessionStart source=resume pid=8 proc_start=2
     0.6 registry idle pid=8 procStart=\"2\"";

/// Without hooks, only the marker tells an interrupted turn from one that ended. It names the prompt, or at least the moment.
#[test]
fn an_interrupt_marker_is_of_the_process_that_it_names_or_that_became_idle() {
    let both = "1 UserPromptSubmit prompt=one prompt_id=a pid=7 proc_start=1
        1.1 registry busy
        2 UserPromptSubmit prompt=two prompt_id=b pid=8 proc_start=2
        2.1 registry busy pid=8 procStart=\"2\"
        3 hooks gone";
    let (first, second) = ("registry idle", "registry idle pid=8 procStart=\"2\"");
    let ends_of = |script: &str| {
        let mut fleet = after(&[TWO_IDLE, both, script]);
        let _ = fleet.tick(fleet.now() + flightdeck_core::time::Millis(500));
        let mut ends: Vec<_> = card(&fleet, "s").processes.iter().map(|p| (p.pid, p.label.clone())).collect();
        ends.sort();
        ends.into_iter().map(|(_, label)| label).collect::<Vec<_>>()
    };
    let (esc, away) = ("You interrupted", "Ended while Flightdeck was away");
    for (marker_of_first, marker_of_second) in [("marker a", "marker b"), ("marker", "marker")] {
        for (script, ends) in [
            (format!("9 {second}\n 9.3@9 {marker_of_second}\n 12 {first}"), [away, esc]),
            (format!("9 {first}\n 9.3@9 {marker_of_first}\n 12 {second}"), [esc, away]),
            (
                format!("9 {first}\n 9.3@9 {marker_of_first}\n 12 {second}\n 12.3@12 {marker_of_second}"),
                [esc, esc],
            ),
        ] {
            assert_eq!(ends_of(&script), ends, "{script}");
        }
    }
}

#[test]
fn esc_beside_an_agent_is_seen_beside_another_terminal_too() {
    let works = "1 UserPromptSubmit prompt=one prompt_id=a pid=7 proc_start=1
        1.1 registry busy
        2.1 SubagentStart agent_id=x agent_type=Explore prompt_id=a pid=7 proc_start=1
        3 PreToolUse tool_name=Bash tool_use_id=2 prompt_id=a pid=7 proc_start=1";
    let other = "4 UserPromptSubmit prompt=two prompt_id=b pid=8 proc_start=2
        4.1 registry busy pid=8 procStart=\"2\"";
    for (rest, marker) in [("", "6.2@6 marker a"), ("", "6.2@6 marker"), (other, "6.2@6 marker a")] {
        let fleet = after(&[TWO_IDLE, works, rest, marker]);
        let labels: Vec<_> = card(&fleet, "s").processes.into_iter().map(|p| (p.pid, p.label)).collect();
        assert!(labels.contains(&(7, "You interrupted Bash".to_owned())), "{rest}{marker}: {labels:?}");
    }
    // Both work beside an agent: a marker that names no prompt could be of either.
    let both =
        format!("{other}\n 4.2 SubagentStart agent_id=y agent_type=Plan prompt_id=b pid=8 proc_start=2");
    let fleet = after(&[TWO_IDLE, works, &both, "6.2@6 marker"]);
    assert!(card(&fleet, "s").processes.iter().all(|p| !p.label.contains("interrupted")));
}

#[test]
fn a_hook_without_a_pid_is_not_of_a_process_that_waits_for_a_person() {
    let first_asks = "1 UserPromptSubmit prompt=one prompt_id=a pid=7 proc_start=1
        1.1 registry busy
        2 PreToolUse tool_name=Bash tool_use_id=a prompt_id=a pid=7 proc_start=1
        3 PermissionRequest tool_name=Bash prompt_id=a pid=7 proc_start=1
        3 registry waiting:permission~prompt";
    let prompt = "5@- UserPromptSubmit prompt=two prompt_id=b";
    let busy = "5 registry busy pid=8 procStart=\"2\"";
    let stop = "7@- Stop prompt_id=b\n 7.1 registry idle pid=8 procStart=\"2\"";
    for turn in [format!("{prompt}\n {busy}"), format!("{busy}\n {prompt}"), prompt.to_owned()] {
        let fleet = after(&[TWO_IDLE, first_asks, &turn]);
        assert_eq!(shows(&fleet), (BLOCKED.to_owned(), Some(7)), "{turn}");
        assert_eq!(card(&fleet, "s").processes[1].label, "Thinking", "{turn}");
        let fleet =
            after(&[TWO_IDLE, first_asks, &turn, "6@- PreToolUse tool_name=Read tool_use_id=r prompt_id=b"]);
        assert_eq!(card(&fleet, "s").processes[1].label, "Read", "{turn}");
        let fleet = after(&[TWO_IDLE, first_asks, &turn, stop]);
        assert_eq!(shows(&fleet), (BLOCKED.to_owned(), Some(7)), "{turn}");
        assert_eq!(card(&fleet, "s").processes[1].label, "Waiting for your next prompt", "{turn}");
    }
    // A Stop whose prompt nothing reported is of the process that works, and a prompt of the client that just became busy.
    let third = "4 SessionStart source=resume pid=9 proc_start=3";
    let busy = "5 registry busy pid=9 procStart=\"3\"";
    let fleet = after(&[TWO_IDLE, first_asks, third, busy, prompt]);
    assert!(labels(&fleet).contains(&"9  Thinking".to_owned()), "{:?}", labels(&fleet));
    assert!(labels(&fleet).contains(&"8  Ready".to_owned()), "{:?}", labels(&fleet));
}
