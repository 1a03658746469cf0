//! What transcripts add to a card, and what they do not change.

use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Millis;
use flightdeck_core::usage::amounts::CacheStatus;
use flightdeck_core::usage::enrichment::{Summary, TranscriptFile, TranscriptFold};
use flightdeck_core::usage::price::PriceTable;
use flightdeck_core::usage::session_files::{AgentNote, SessionFiles};
use flightdeck_core::view::sub_agents::SubAgentState;
use serde_json::{Value, json};

use crate::registry::tell_all;
use crate::script::{at_seconds, card, tell};

fn summary(lines: &[Value]) -> Summary {
    let mut fold = TranscriptFold::default();
    lines.iter().for_each(|line| drop(fold.count_line(TranscriptFile::Main, line.to_string().as_bytes())));
    Summary::with_prices(fold.enrichment().clone(), PriceTable::shipped())
}

fn answer(second: &str, model: &str) -> Value {
    json!({"type": "assistant", "timestamp": at_seconds(second).to_string(), "requestId": second, "gitBranch": "main",
        "message": {"id": "m", "model": model, "content": [{"type": "text", "text": "Done."}],
            "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100_000}}})
}

#[test]
fn a_card_shows_its_numbers_and_its_state_stays_what_the_hooks_said() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 UserPromptSubmit prompt=fix~it\n2 PreToolUse tool_name=Bash tool_use_id=a");
    let before = card(&fleet, "s");
    let effects = fleet.enrich(&"s".into(), summary(&[answer("1.5", "claude-sonnet-4-5-20250929")]));
    assert_eq!(effects, [Effect::Changed(Subject::Session("s".into()))]);
    let after = card(&fleet, "s");
    assert_eq!(after.agent_state, before.agent_state);
    assert_eq!(after.tokens.unwrap().cache_read, 100_000);
    assert_eq!(after.cost.unwrap().usd_micros, 30_105);
    let context = after.context.unwrap();
    assert_eq!((context.tokens, context.window, context.percent), (100_015, Some(200_000), Some(50.0)));
    assert_eq!(after.git_branch.as_deref(), Some("main"));
    assert_eq!(after.last_assistant_text.as_deref(), Some("Done."));
    assert_eq!(fleet.enrich(&"s".into(), summary(&[answer("1.5", "claude-sonnet-4-5-20250929")])), []);
    assert_eq!(fleet.enrich(&"unknown".into(), summary(&[])), []);
}

fn note(agent_type: &str, finished: bool) -> AgentNote {
    AgentNote {
        agent_type: agent_type.into(),
        description: Some("Count files".into()),
        tool_use_id: Some("toolu_1".into()),
        finished,
    }
}

/// Transcripts of two subagents that began at these seconds, with the client's notes.
fn with_agents(agents: &[(&str, &str, bool)]) -> Summary {
    let mut fold = TranscriptFold::default();
    for (id, second, _) in agents {
        let line = |kind: &str, at: String| json!({"type": kind, "timestamp": at, "message": {"content": "please count"}});
        let first = line("user", at_seconds(second).to_string());
        let last = line("system", (at_seconds(second) + Millis::seconds(3)).to_string());
        for line in [first, last] {
            fold.count_line(TranscriptFile::Agent(id), line.to_string().as_bytes());
        }
    }
    let notes = agents.iter().map(|(id, _, finished)| ((*id).to_owned(), note("Explore", *finished)));
    let files = SessionFiles { agents: notes.collect(), ..SessionFiles::default() };
    Summary { files, ..Summary::with_prices(fold.enrichment().clone(), PriceTable::shipped()) }
}

#[test]
fn subagents_that_only_the_transcripts_know_are_on_the_card() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 UserPromptSubmit prompt=go\n9 SubagentStart agent_id=told agent_type=Plan");
    fleet
        .enrich(&"s".into(), with_agents(&[("told", "9", false), ("seen", "5", false), ("over", "4", true)]));
    let shown = |fleet: &Fleet| -> Vec<String> {
        let agents = card(fleet, "s").sub_agents;
        agents.iter().map(|a| format!("{} {} {:?} {:?}", a.id, a.agent_type, a.state, a.ended_at)).collect()
    };
    let over = format!("over Explore Done {:?}", Some(at_seconds("7")));
    assert_eq!(shown(&fleet), [over.as_str(), "seen Explore Working None", "told Plan Working None"]);
    let agents = card(&fleet, "s").sub_agents;
    let told = agents.last().unwrap();
    assert_eq!(
        (told.description.as_deref(), told.tool_use_id.as_deref()),
        (Some("Count files"), Some("toolu_1"))
    );
    assert_eq!(told.prompt.as_deref(), Some("please count"));
    // When the session is idle, no subagent runs. The next process of the session starts without them.
    tell(&mut fleet, "20 SubagentStop agent_id=told agent_type=Plan\n21 Stop");
    assert!(card(&fleet, "s").sub_agents.iter().all(|agent| agent.ended_at.is_some()));
    tell(&mut fleet, "30 SessionStart source=resume");
    assert_eq!(card(&fleet, "s").sub_agents, []);
}

#[test]
fn a_subagent_without_a_note_is_shown_and_a_helper_of_the_client_is_not() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 UserPromptSubmit prompt=go");
    let mut told = with_agents(&[("a1b2", "5", false), ("acompact-3f", "6", false), ("a3", "7", false)]);
    told.files.agents = std::collections::BTreeMap::from([("a3".to_owned(), AgentNote::default())]);
    fleet.enrich(&"s".into(), told);
    let agents = card(&fleet, "s").sub_agents;
    let shown: Vec<_> =
        agents.iter().map(|a| (a.id.as_str(), a.agent_type.as_str(), a.prompt.as_deref())).collect();
    assert_eq!(shown, [("a1b2", "subagent", Some("please count"))]);
}

#[test]
fn running_is_ordered_by_the_turn_start_that_the_card_shows() {
    let mut fleet = Fleet::new(FoldSettings::default());
    // Session `s` has no prompt from a hook; its transcript says that its turn began at 10. Session `b` got its prompt at 40.
    tell(&mut fleet, "50 PreToolUse tool_name=Bash tool_use_id=a\n40 UserPromptSubmit prompt=x session_id=b");
    let prompt =
        json!({"type": "user", "timestamp": at_seconds("10").to_string(), "message": {"content": "go"}});
    fleet.enrich(&"s".into(), summary(&[prompt]));
    let (a, b) = (card(&fleet, "s"), card(&fleet, "b"));
    assert_eq!(a.current_turn_started_at, Some(at_seconds("10")));
    assert!(b.rank.default < a.rank.default, "the newest turn is on top");
}

#[test]
fn a_warm_cache_turns_cold_by_itself_and_the_card_moves_down() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 UserPromptSubmit prompt=x\n2 Stop");
    fleet.enrich(&"s".into(), summary(&[answer("2", "claude-opus-5-5")]));
    let warm = card(&fleet, "s");
    assert_eq!((warm.cache.status, warm.cache.expires_at), (CacheStatus::Warm, Some(at_seconds("302"))));
    assert_eq!(fleet.tick(at_seconds("301.9")), []);
    assert_eq!(fleet.next_wake(), Some(at_seconds("302")));
    assert_eq!(fleet.tick(at_seconds("302")), [Effect::Changed(Subject::Session("s".into()))]);
    let cold = card(&fleet, "s");
    assert_eq!(cold.cache.status, CacheStatus::Cold);
    assert!(cold.rank.default > warm.rank.default);
    fleet.enrich(&"s".into(), summary(&[answer("310", "claude-opus-5-5")]));
    assert_eq!(card(&fleet, "s").cache.status, CacheStatus::Warm);
}

#[test]
fn the_newest_report_of_the_model_wins() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 SessionStart source=startup model=claude-opus-5-5");
    fleet.enrich(&"s".into(), summary(&[answer("2", "claude-haiku-4-5")]));
    assert_eq!(card(&fleet, "s").model.as_deref(), Some("claude-haiku-4-5"));
    tell(&mut fleet, "3 PostModelSwitch to_model=claude-fable-5");
    assert_eq!(card(&fleet, "s").model.as_deref(), Some("claude-fable-5"));
}

#[test]
fn the_persons_title_is_preferred_to_claudes_title_and_that_to_the_first_prompt() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 UserPromptSubmit prompt=first");
    let title = |lines: &[Value], fleet: &mut Fleet| {
        fleet.enrich(&"s".into(), summary(lines));
        card(fleet, "s").title.unwrap()
    };
    let ai = json!({"type": "ai-title", "aiTitle": "Fix the parser"});
    let custom = json!({"type": "custom-title", "customTitle": "Mine"});
    assert_eq!(title(&[], &mut fleet), "first");
    assert_eq!(title(std::slice::from_ref(&ai), &mut fleet), "Fix the parser");
    assert_eq!(title(&[custom, ai], &mut fleet), "Mine");
}

#[test]
fn a_context_larger_than_its_window_raises_the_window() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 UserPromptSubmit prompt=x");
    let mut line = answer("2", "claude-haiku-4-5");
    line["message"]["usage"]["cache_read_input_tokens"] = json!(300_000);
    fleet.enrich(&"s".into(), summary(&[line]));
    let context = card(&fleet, "s").context.unwrap();
    assert_eq!((context.window, context.percent), (Some(300_015), Some(100.0)));
}

#[test]
fn a_snapshot_is_the_same_with_and_without_transcripts() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 UserPromptSubmit prompt=x\n2 Stop");
    let replayed = serde_json::to_value(&fleet).unwrap();
    fleet.enrich(&"s".into(), summary(&[answer("2", "claude-opus-5-5")]));
    assert_eq!(serde_json::to_value(&fleet).unwrap(), replayed);
}

fn user(second: &str, content: &str) -> Value {
    json!({"type": "user", "timestamp": at_seconds(second).to_string(), "message": {"role": "user", "content": content}})
}

fn queue(second: &str, operation: &str, content: &str) -> Value {
    json!({"type": "queue-operation", "timestamp": at_seconds(second).to_string(), "operation": operation, "content": content})
}

#[test]
fn a_command_with_an_exclamation_mark_is_the_last_message_until_the_next_prompt() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        "1 UserPromptSubmit prompt=fix~it prompt_id=a\n 2 Stop prompt_id=a\n 5 registry busy\n 6 tick",
    );
    let input = user("4.9", "<bash-input>make test</bash-input>");
    fleet.enrich(&"s".into(), summary(std::slice::from_ref(&input)));
    let runs = card(&fleet, "s");
    assert_eq!(runs.last_user_message.as_deref(), Some("! make test"));
    assert_eq!(runs.current_activity.as_deref(), Some("! make test"));
    let output = user("7", "<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>");
    fleet.enrich(&"s".into(), summary(&[input, output]));
    assert_eq!(card(&fleet, "s").current_activity.as_deref(), Some("Thinking"));
    tell(&mut fleet, "8 Stop prompt_id=b\n 9 UserPromptSubmit prompt=next prompt_id=c");
    let next = card(&fleet, "s");
    assert_eq!((next.last_user_message.as_deref(), next.turn_count), (Some("next"), 2));
}

#[test]
fn the_length_of_the_queue_comes_from_hooks_or_transcript_whichever_is_newer() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 UserPromptSubmit prompt=one prompt_id=a\n 2 UserPromptSubmit prompt=two prompt_id=a");
    assert_eq!(card(&fleet, "s").queued_prompts, 1);
    let lines = [queue("2.1", "enqueue", "two"), queue("3", "popAll", "two")];
    fleet.enrich(&"s".into(), summary(&lines[..1]));
    assert_eq!(card(&fleet, "s").queued_prompts, 1);
    fleet.enrich(&"s".into(), summary(&lines));
    assert_eq!(card(&fleet, "s").queued_prompts, 0, "the person took it back");
    tell(&mut fleet, "4 UserPromptSubmit prompt=three prompt_id=a");
    assert_eq!(card(&fleet, "s").queued_prompts, 1);
}

#[test]
fn a_prompt_that_was_taken_back_is_neither_the_last_one_nor_counted() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "1 UserPromptSubmit prompt=one prompt_id=a\n 2 UserPromptSubmit prompt=two prompt_id=a");
    let lines = [
        user("1.1", "one"),
        queue("2.1", "enqueue", "two"),
        queue("2.5", "enqueue", "/compact"),
        queue("3", "popAll", "two"),
        queue("3", "popAll", "/compact"),
    ];
    let last = |fleet: &Fleet| {
        let card = card(fleet, "s");
        (card.last_user_message.unwrap(), card.turn_count)
    };
    fleet.enrich(&"s".into(), summary(&lines[..3]));
    assert_eq!(last(&fleet), ("two".to_owned(), 2));
    fleet.enrich(&"s".into(), summary(&lines));
    assert_eq!(last(&fleet), ("one".to_owned(), 1));
    tell(&mut fleet, "4 UserPromptSubmit prompt=two prompt_id=a");
    assert_eq!(last(&fleet), ("two".to_owned(), 2), "it was sent again");
}

const TWO_SHELLS: &str = r#"1 UserPromptSubmit prompt=x prompt_id=a
    2 Stop prompt_id=a background_tasks=[{"id":"b1","type":"shell","status":"running"},{"id":"b2","type":"shell","status":"running"}]
    3 registry shell"#;

#[test]
fn shells_are_counted_from_hooks_and_transcript_and_are_a_range_if_uncertain() {
    let shells = |fleet: &Fleet| {
        let background = card(fleet, "s").background;
        (background.shells_min, background.shells)
    };
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, &format!("{TWO_SHELLS}\n 4 tick"));
    assert_eq!(shells(&fleet), (2, 2));
    // In a menu the person may end a shell. Only the transcript reports it.
    tell_all(&mut fleet, "5 registry waiting:dialog~open\n 6 tick\n 7 registry shell\n 8 tick");
    assert_eq!(shells(&fleet), (1, 2));
    let killed = "<task-notification>\n<task-id>b2</task-id>\n<status>killed</status>\n</task-notification>";
    fleet.enrich(&"s".into(), summary(&[queue("5.5", "enqueue", killed)]));
    assert_eq!(shells(&fleet), (1, 1));
    tell_all(&mut fleet, "9 registry idle\n 10 tick");
    assert_eq!(shells(&fleet), (0, 0));
}

#[test]
fn an_interrupt_marker_is_read_from_either_form_of_its_line() {
    for text in ["[Request interrupted by user]", "[Request interrupted by user for tool use]"] {
        let blocks = json!({"type": "user", "timestamp": at_seconds("4").to_string(),
            "message": {"role": "user", "content": [{"type": "text", "text": text}]}});
        assert_eq!(summary(&[blocks]).known.interrupted_at, Some(at_seconds("4")), "{text}");
    }
    assert_eq!(summary(&[user("4", "why [Request interrupted by user]?")]).known.interrupted_at, None);
}

/// As a real client writes them. On a call it takes out its queue first, and the marker has the id of the next prompt, whose own line
/// follows later.
#[test]
fn an_interrupt_marker_names_the_prompt_that_was_interrupted() {
    let prompt = |second: &str, id: &str| {
        let mut line = user(second, "go");
        (line["promptId"], line["promptSource"]) = (json!(id), json!("typed"));
        line
    };
    let marker = |second: &str, id: &str| {
        let mut line = user(second, "[Request interrupted by user for tool use]");
        line["promptId"] = json!(id);
        line
    };
    let names = |lines: &[Value]| {
        let summary = summary(lines);
        let mark = summary.known.turn_marks().next().unwrap();
        (mark.prompt_id.unwrap_or_default(), mark.next_prompt_id.unwrap_or_default())
    };
    let name = |prompt: &str, next: &str| (prompt.to_owned(), next.to_owned());
    let (first, other) = (prompt("1", "a"), prompt("2", "x"));
    assert_eq!(names(&[first.clone(), marker("4", "a")]), name("a", ""));
    assert_eq!(names(&[first.clone(), marker("4", "b")]), name("a", "b"));
    let answer = json!({"type": "assistant", "timestamp": at_seconds("5").to_string(),
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Well"}]}});
    let twice = [first.clone(), marker("4", "b"), prompt("5", "b"), answer, marker("6", "b")];
    assert_eq!(names(&twice), name("b", ""));
    // The line of the next prompt may be before the marker too. Without a line of Claude that turn cannot have been interrupted.
    assert_eq!(names(&[first.clone(), prompt("3", "b"), marker("4", "b")]), name("a", "b"));
    assert_eq!(
        names(&[first, other, marker("4", "a")]),
        name("a", ""),
        "another process writes into the file too"
    );
    // Of a client that does not say which lines are prompts.
    assert_eq!(names(&[user("1", "go"), marker("4", "a")]), name("a", ""));
}

#[test]
fn the_lines_of_a_hook_that_ended_a_turn_or_blocked_a_prompt_are_read() {
    let at = at_seconds("4");
    let stopped = |attachment: Value| {
        let line = json!({"parentUuid": null, "isSidechain": false, "attachment": attachment, "type": "attachment",
            "uuid": "u", "timestamp": at.to_string(), "sessionId": "s"});
        summary(&[line]).known.stopped_by_hook_at
    };
    let hook = json!({"type": "hook_stopped_continuation", "message": "enough", "hookName": "PreToolUse:Bash",
        "toolUseID": "1", "hookEvent": "PreToolUse"});
    assert_eq!(stopped(hook), Some(at));
    for other in
        [json!({"type": "hook_success", "stdout": "hook_stopped_continuation"}), json!([]), json!("x")]
    {
        assert_eq!(stopped(other.clone()), None, "{other}");
    }
    let said = |prevents: bool| {
        let line = json!({"type": "system", "subtype": "informational", "timestamp": at.to_string(),
            "content": "UserPromptSubmit operation blocked by hook:\nnot today", "preventContinuation": prevents});
        summary(&[line]).known.prompt_blocked_at
    };
    assert_eq!((said(true), said(false)), (Some(at), None));
}

#[test]
fn the_subagent_of_a_terminal_that_was_killed_does_not_work_on_in_the_other_terminal() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        "1 SessionStart source=startup pid=7 proc_start=1
         2 SessionStart source=resume pid=8 proc_start=2
         3 UserPromptSubmit prompt=more prompt_id=b pid=8 proc_start=2
         4 UserPromptSubmit prompt=go prompt_id=a pid=7 proc_start=1
         5 SubagentStart agent_id=x1 agent_type=Explore prompt_id=a pid=7 proc_start=1",
    );
    fleet.enrich(&"s".into(), with_agents(&[("x1", "5", false)]));
    tell_all(&mut fleet, "9 gone 7@1");
    let agents = card(&fleet, "s").sub_agents;
    assert_eq!(
        agents.iter().map(|a| (a.state, a.ended_at)).collect::<Vec<_>>(),
        [(SubAgentState::Done, Some(at_seconds("9")))]
    );
    // The third terminal may stay.
    tell_all(
        &mut fleet,
        "10 SessionStart source=resume pid=9 proc_start=3
         11 UserPromptSubmit prompt=third prompt_id=c pid=9 proc_start=3
         12 gone 8@2",
    );
    assert!(card(&fleet, "s").sub_agents.iter().all(|agent| agent.state == SubAgentState::Done));
}

#[test]
fn a_subagent_that_no_hook_reported_ended_when_the_client_was_idle() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, "1 registry idle\n 2 registry busy\n 8 registry idle\n 8.5 tick");
    fleet.enrich(&"s".into(), with_agents(&[("x1", "4", false)]));
    let state = |fleet: &Fleet| card(fleet, "s").sub_agents[0].state;
    assert_eq!(state(&fleet), SubAgentState::Done);
    tell_all(&mut fleet, "20 UserPromptSubmit prompt=next prompt_id=b");
    assert_eq!(state(&fleet), SubAgentState::Done, "the next turn does not bring it back");
    fleet.enrich(&"s".into(), with_agents(&[("x1", "21", false)]));
    assert_eq!(state(&fleet), SubAgentState::Working);
}

fn said(second: &str, text: &str) -> Value {
    json!({"type": "assistant", "timestamp": at_seconds(second).to_string(), "requestId": second,
        "message": {"id": second, "model": "claude-opus-5-5", "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 10, "output_tokens": 5}}})
}

fn typed(second: &str, text: &str) -> Value {
    json!({"type": "user", "timestamp": at_seconds(second).to_string(), "message": {"content": text}})
}

#[test]
fn a_turn_that_only_the_registry_and_the_transcript_report_replaces_the_message_and_the_prompt_before() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        "1 UserPromptSubmit prompt=first prompt_id=a
         3 Stop prompt_id=a last_assistant_message=One.
         3.1 registry idle
         4 hooks gone
         10 registry busy",
    );
    let mut lines = vec![typed("1.1", "first"), said("2.9", "One."), typed("10.1", "second")];
    fleet.enrich(&"s".into(), summary(&lines));
    let _ = fleet.tick(at_seconds("11"));
    let working = card(&fleet, "s");
    assert_eq!(working.last_user_message.as_deref(), Some("second"));
    assert_eq!(working.current_turn_started_at, Some(at_seconds("10.1")));
    lines.push(said("19.9", "Two."));
    fleet.enrich(&"s".into(), summary(&lines));
    tell_all(&mut fleet, "20 registry idle\n 21 tick");
    let over = card(&fleet, "s");
    assert_eq!(over.last_assistant_text.as_deref(), Some("Two."));
    assert_eq!(over.last_user_message.as_deref(), Some("second"));
    assert_eq!(over.last_turn_task_seconds, Some(10.0), "the turn that ended last");
}

#[test]
fn the_newer_of_stop_and_transcript_is_the_last_message() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        "1 UserPromptSubmit prompt=first prompt_id=a
         3 Stop prompt_id=a last_assistant_message=A.
         4 UserPromptSubmit prompt=<task-notification>~done prompt_id=b
         4.1 registry busy",
    );
    fleet.enrich(&"s".into(), summary(&[said("2.9", "A."), said("5", "B begins")]));
    tell_all(&mut fleet, "6 registry idle\n 7 tick");
    assert_eq!(card(&fleet, "s").last_assistant_text.as_deref(), Some("B begins"), "after an Esc");
    // The transcript is read a moment after the Stop.
    tell_all(
        &mut fleet,
        "8 UserPromptSubmit prompt=next prompt_id=c\n 9 Stop prompt_id=c last_assistant_message=C.",
    );
    assert_eq!(card(&fleet, "s").last_assistant_text.as_deref(), Some("C."));
}
