use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use expect_test::expect;
use flightdeck_sim::corpus::{CapturedScenario, scenarios, transcript};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::usage::price::Nanos;
use crate::wire::billed_usage::billed_usage;

/// A session's files in the corpus: the main one, and its subagents' by id.
fn sessions(scenario: &CapturedScenario) -> Vec<(PathBuf, Vec<(String, PathBuf)>)> {
    let is_agent = |p: &&PathBuf| p.parent().is_some_and(|d| d.ends_with("subagents"));
    let (agents, main): (Vec<_>, Vec<_>) = scenario.transcripts.iter().partition(is_agent);
    let of = |main: &Path| {
        let folder = main.with_extension("").join("subagents");
        let id = |p: &Path| p.file_stem().unwrap().to_str().unwrap().trim_start_matches("agent-").to_owned();
        agents.iter().filter(|a| a.starts_with(&folder)).map(|a| (id(a), (*a).clone())).collect()
    };
    main.into_iter().map(|m| (m.clone(), of(m))).collect()
}

fn feed(fold: &mut TranscriptFold, from: TranscriptFile<'_>, bytes: &[u8]) {
    for line in bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
        fold.count_line(from, line);
    }
}

fn fold(main: &Path, agents: &[(String, PathBuf)]) -> TranscriptFold {
    let mut fold = TranscriptFold::default();
    feed(&mut fold, TranscriptFile::Main, &transcript(main));
    for (id, path) in agents {
        feed(&mut fold, TranscriptFile::Agent(id), &transcript(path));
    }
    fold
}

fn values(path: &Path) -> Vec<Value> {
    String::from_utf8(transcript(path)).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// The plain way, with none of our code: every assistant line by id, the last one counts.
fn plainly(paths: impl Iterator<Item = PathBuf>) -> BTreeMap<String, Usage> {
    let mut messages = BTreeMap::new();
    for line in paths.flat_map(|p| values(&p)) {
        if line["type"] == "assistant" && line["message"]["model"] != "<synthetic>" {
            messages
                .insert(format!("{} {}", line["message"]["id"], line["requestId"]), line["message"].clone());
        }
    }
    let mut totals = BTreeMap::<String, Usage>::new();
    for m in messages.values() {
        let n = |path: &str| m["usage"].pointer(path).and_then(Value::as_u64).unwrap_or(0);
        totals.entry(m["model"].as_str().unwrap().to_owned()).or_default().add(&Usage {
            input: n("/input_tokens"),
            output: n("/output_tokens"),
            cache_read: n("/cache_read_input_tokens"),
            cache_write_5m: n("/cache_creation/ephemeral_5m_input_tokens"),
            cache_write_1h: n("/cache_creation/ephemeral_1h_input_tokens"),
            web_searches: n("/server_tool_use/web_search_requests"),
        });
    }
    totals.retain(|_, u| !u.is_zero());
    totals
}

#[test]
fn every_recorded_sessions_totals_are_its_assistant_lines_once_each() {
    let mut sessions_seen = 0;
    for scenario in scenarios() {
        for (main, agents) in sessions(&scenario) {
            let fold = fold(&main, &agents);
            let paths = std::iter::once(main.clone()).chain(agents.iter().map(|(_, p)| p.clone()));
            assert_eq!(fold.enrichment().usage, plainly(paths), "{}", main.display());
            assert_eq!(fold.enrichment().unreadable, 0, "{}", main.display());
            sessions_seen += 1;
        }
    }
    assert!(sessions_seen > 80, "{sessions_seen}");
}

/// Everything the client charged for and wrote no assistant line about, or the other way round.
fn cause(scenario: &str, lines: &[Value]) -> &'static str {
    let has = |f: &dyn Fn(&Value) -> bool| lines.iter().any(f);
    match scenario {
        _ if has(&|l| l["subtype"] == "compact_boundary") => {
            "the call that wrote the compaction's summary has no line"
        }
        _ if has(&|l| l["isApiErrorMessage"] == true || l["subtype"] == "api_error") => {
            "attempts that broke off after the first bytes and were tried again have no line"
        }
        _ if has(&|l| l["isAbortedMidStream"] == true || l["interruptedMessageId"].is_string()) => {
            "Esc: the line has the usage of the start, the client counts nothing"
        }
        _ if has(&|l| l["slug"].as_str().is_some_and(|s| s.starts_with("script-plan"))) => {
            "the call that named the plan's file has no line"
        }
        _ => "UNEXPLAINED",
    }
}

#[test]
fn the_clients_own_sum_differs_only_where_a_cause_is_known() {
    let mut said = String::new();
    let (mut equal, mut compared) = (0, 0);
    for scenario in scenarios() {
        for (main, agents) in sessions(&scenario) {
            let lines = values(&main);
            let Some(state) = lines.iter().rfind(|l| l["type"] == "cost-state") else { continue };
            compared += 1;
            let ours = Summary::with_prices(fold(&main, &agents).enrichment().clone(), PriceTable::shipped());
            let theirs = (state["totalCostUSD"].as_f64().unwrap() * 1e9).round() as u64;
            let tokens = |name: &str| -> u64 {
                state["modelUsage"].as_object().unwrap().values().filter_map(|m| m[name].as_u64()).sum()
            };
            let sum = ours.known.usage.values().fold(Usage::default(), |mut a, u| {
                a.add(u);
                a
            });
            let difference = [
                tokens("inputTokens") as i64 - sum.input as i64,
                tokens("outputTokens") as i64 - sum.output as i64,
                tokens("cacheReadInputTokens") as i64 - sum.cache_read as i64,
                tokens("cacheCreationInputTokens") as i64 - (sum.cache_write_5m + sum.cache_write_1h) as i64,
            ];
            if difference == [0; 4] {
                assert_eq!(ours.bill.total.micros(), Nanos(theirs).micros(), "{}", main.display());
                equal += 1;
                continue;
            }
            let micros = Nanos(theirs).micros() as i64 - ours.bill.total.micros() as i64;
            let cause = cause(&scenario.name, &lines);
            said += &format!("{}: {difference:?} tokens, {micros} µ$: {cause}\n", scenario.name);
        }
    }
    assert!(!said.contains("UNEXPLAINED"), "{said}");
    expect![[r#"
        api_errors: [10, 2, 24000, 1600] tokens, 14080 µ$: attempts that broke off after the first bytes and were tried again have no line
        api_errors_tui: [10, 2, 24000, 1600] tokens, 14080 µ$: attempts that broke off after the first bytes and were tried again have no line
        compact: [9, 46, 12000, 2400] tokens, 17156 µ$: the call that wrote the compaction's summary has no line
        esc_stream: [-5, -1, -12000, -800] tokens, -7040 µ$: Esc: the line has the usage of the start, the client counts nothing
        plan: [4, 19, 12000, 400] tokens, 5096 µ$: the call that named the plan's file has no line
    "#]].assert_eq(&said);
    assert!(equal > 60 && compared - equal == said.lines().count(), "{equal} of {compared}");
}

#[test]
fn the_quick_reading_and_the_whole_one_count_the_same() {
    for scenario in scenarios() {
        for path in &scenario.transcripts {
            for line in transcript(path).split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
                let whole = match TranscriptLine::parse(line).unwrap().kind {
                    LineKind::Assistant { billed, .. } => billed,
                    _ => None,
                };
                assert_eq!(billed_usage(line).unwrap(), whole);
            }
        }
    }
}

fn summary_of(scenario: &str) -> String {
    let scenario = flightdeck_sim::corpus::scenario(scenario);
    let mut said = String::new();
    for (main, agents) in sessions(&scenario) {
        let s = Summary::with_prices(fold(&main, &agents).enrichment().clone(), PriceTable::shipped());
        let k = &s.known;
        said += &format!(
            "{} | {} | {:?}/{:?} | {} µ$ | +{} -{} {:?} | {} compactions | title {:?}/{:?} | {} agents | todos {:?}\n",
            k.model.as_deref().unwrap_or("-"),
            k.git_branch.as_deref().unwrap_or("-"),
            k.context_tokens,
            s.window,
            s.bill.total.micros(),
            k.lines_added,
            k.lines_removed,
            k.files,
            k.compactions,
            k.ai_title,
            k.first_prompt,
            k.agents.len(),
            k.todos.iter().map(|t| format!("{} {}", t.status, t.title)).collect::<Vec<_>>(),
        );
    }
    said
}

#[test]
fn the_recordings_tell_to_dos_edits_agents_titles_and_compactions() {
    expect![[r#"
        claude-opus-5-5 | feature/lab | Some(18842)/Some(1000000) | 197156 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:tasks go") | 0 agents | todos ["completed Write the parser", "pending Write the tests"]
    "#]].assert_eq(&summary_of("tasks"));
    expect![[r#"
        claude-opus-5-5 | feature/lab | Some(13629)/Some(1000000) | 20248 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:todo go") | 0 agents | todos ["in_progress First", "pending Second"]
        claude-sonnet-4-6 | feature/lab | Some(16436)/Some(200000) | 86457 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:tasks go") | 0 agents | todos ["completed Write the parser", "pending Write the tests"]
        claude-opus-5-5 | feature/lab | Some(17238)/Some(1000000) | 117004 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:tasks go") | 0 agents | todos ["completed Write the parser", "pending Write the tests"]
    "#]].assert_eq(&summary_of("todo_print"));
    expect![[r#"
        claude-opus-5-5 | feature/lab | Some(13628)/Some(1000000) | 19468 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:badinput") | 0 agents | todos []
        claude-opus-5-5 | feature/lab | Some(14433)/Some(1000000) | 37044 µ$ | +4 -1 {"/home/dev/work/demo/notes.txt"} | 0 compactions | title None/Some("SCRIPT:write") | 0 agents | todos []
        claude-opus-5-5 | feature/lab | Some(13629)/Some(1000000) | 20828 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:multi allowed") | 0 agents | todos []
        claude-opus-5-5 | feature/lab | Some(13628)/Some(1000000) | 20288 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:readbatch") | 0 agents | todos []
        claude-opus-5-5 | feature/lab | Some(13631)/Some(1000000) | 20268 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:bash allowed") | 0 agents | todos []
        claude-opus-5-5 | feature/lab | Some(13630)/Some(1000000) | 19888 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:fail allowed") | 0 agents | todos []
        claude-opus-5-5 | feature/lab | Some(13632)/Some(1000000) | 19548 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:badtool") | 0 agents | todos []
        claude-opus-5-5 | feature/lab | Some(13631)/Some(1000000) | 20268 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:bash no permission given") | 0 agents | todos []
    "#]].assert_eq(&summary_of("print_tools"));
    expect![[r#"
        claude-opus-5-5 | feature/lab | Some(17642)/Some(1000000) | 215500 µ$ | +0 -0 {} | 0 compactions | title None/Some("SCRIPT:subagent go") | 3 agents | todos []
    "#]].assert_eq(&summary_of("subagent"));
    expect![[r#"
        claude-opus-5-5 | feature/lab | Some(14033)/Some(1000000) | 50816 µ$ | +0 -0 {} | 1 compactions | title None/Some("SCRIPT:hello number 0") | 0 agents | todos []
    "#]].assert_eq(&summary_of("compact"));
}

#[test]
fn lines_added_and_removed_are_the_clients_own() {
    for scenario in scenarios() {
        for (main, agents) in sessions(&scenario) {
            let Some(state) = values(&main).into_iter().rfind(|l| l["type"] == "cost-state") else {
                continue;
            };
            let known = fold(&main, &agents).enrichment().clone();
            let ours = json!([known.lines_added, known.lines_removed]);
            assert_eq!(
                ours,
                json!([state["totalLinesAdded"], state["totalLinesRemoved"]]),
                "{}",
                main.display()
            );
        }
    }
}

fn answer(id: &str, at: &str, usage: Value) -> String {
    json!({"type": "assistant", "timestamp": format!("2026-11-15T10:00:{at}Z"), "requestId": "r",
        "message": {"id": id, "model": "claude-opus-5-5", "usage": usage, "content": [{"type": "text", "text": "hi"}]}})
    .to_string()
}

#[test]
fn the_newest_line_of_a_message_counts_whatever_the_order() {
    let lines =
        [answer("m", "01", json!({"output_tokens": 1})), answer("m", "02", json!({"output_tokens": 7}))];
    for order in [[0, 1], [1, 0]] {
        let mut fold = TranscriptFold::default();
        order.iter().for_each(|i| drop(fold.count_line(TranscriptFile::Main, lines[*i].as_bytes())));
        assert_eq!(fold.enrichment().usage["claude-opus-5-5"].output, 7);
    }
}

#[test]
fn a_fast_answer_is_counted_apart_and_is_the_same_model() {
    let mut fold = TranscriptFold::default();
    for (id, speed) in [("a", "standard"), ("b", "fast")] {
        let usage = serde_json::json!({"output_tokens": 1000, "speed": speed});
        feed(&mut fold, TranscriptFile::Main, (answer(id, "01", usage) + "\n").as_bytes());
    }
    let model = fold.enrichment().model.clone().unwrap();
    let counted: Vec<_> = fold.enrichment().usage.iter().map(|(m, u)| (m.clone(), u.output)).collect();
    assert_eq!(counted, [(model.clone(), 1000), (format!("{model} (fast)"), 1000)]);
}

#[test]
fn a_message_in_two_files_is_counted_once_and_is_mains() {
    let line = answer("m", "01", json!({"output_tokens": 1}));
    for order in [
        [TranscriptFile::Main, TranscriptFile::Agent("a")],
        [TranscriptFile::Agent("a"), TranscriptFile::Main],
    ] {
        let mut fold = TranscriptFold::default();
        order.iter().for_each(|from| drop(fold.count_line(*from, line.as_bytes())));
        assert_eq!(fold.enrichment().usage["claude-opus-5-5"].output, 1);
        assert!(fold.enrichment().agents.values().flat_map(BTreeMap::values).all(Usage::is_zero));
    }
}

#[test]
fn strange_lines_are_skipped_and_counted_and_lose_nothing_else() {
    let mut fold = TranscriptFold::default();
    for line in [
        &b"{\"type\":\"assistant\",\"message\":{"[..],
        b"not json",
        b"\xff\xfe{}",
        b"   ",
        b"{\"type\":5,\"message\":7}",
        b"{\"type\":\"user\",\"message\":{\"content\":{\"a\":1}},\"toolUseResult\":[1]}",
        b"{\"type\":\"never-seen\",\"x\":[[[]]]}",
        b"{\"type\":\"assistant\",\"message\":{\"id\":3,\"model\":\"m\",\"usage\":{\"input_tokens\":\"x\",\"output_tokens\":2}}}",
        b"{ \"type\" : \"user\" , \"message\" : { \"content\" : \"caf\xff \\u00e9\" } }\r",
    ] {
        fold.count_line(TranscriptFile::Main, line);
    }
    assert_eq!(fold.enrichment().unreadable, 3);
    assert_eq!(fold.enrichment().usage["m"].output, 2);
    assert_eq!(fold.enrichment().first_prompt.as_deref(), Some("caf\u{fffd} é"));
}

#[test]
fn the_cache_lives_by_its_class_and_the_queue_empties() {
    let mut fold = TranscriptFold::default();
    fold.count_line(
        TranscriptFile::Main,
        answer("a", "00", json!({"cache_creation": {"ephemeral_1h_input_tokens": 5}})).as_bytes(),
    );
    let expires = fold.enrichment().cache_expires_at().unwrap().to_string();
    assert_eq!(expires, "2026-11-15T11:00:00.000Z");
    fold.count_line(
        TranscriptFile::Main,
        answer("b", "10", json!({"cache_read_input_tokens": 5})).as_bytes(),
    );
    assert_eq!(fold.enrichment().cache_expires_at().unwrap().to_string(), "2026-11-15T11:00:10.000Z");
    for (operation, content, waiting) in [
        ("enqueue", Some("one"), 1),
        ("enqueue", Some("<task-notification>x"), 1),
        ("enqueue", Some("two"), 2),
        ("remove", Some("three"), 2),
        ("remove", Some("two"), 1),
        ("dequeue", None, 0),
        ("dequeue", None, 0),
        ("dequeue", None, 0),
    ] {
        let line = json!({"type": "queue-operation", "operation": operation, "content": content});
        fold.count_line(TranscriptFile::Main, line.to_string().as_bytes());
        assert_eq!(
            fold.enrichment().queued_prompts(Timestamp::default()),
            waiting,
            "{operation} {content:?}"
        );
    }
}

#[test]
fn what_waited_in_a_killed_process_waits_no_more_after_its_resume() {
    let mut fold = TranscriptFold::default();
    for second in ["01", "09"] {
        let line = json!({"type": "queue-operation", "operation": "enqueue", "content": second,
            "timestamp": format!("2026-11-15T10:00:{second}.000Z")});
        fold.count_line(TranscriptFile::Main, line.to_string().as_bytes());
    }
    let began_at = |text: &str| Timestamp::parse(text).unwrap();
    assert_eq!(fold.enrichment().queued_prompts(began_at("2026-11-15T10:00:00.000Z")), 2);
    assert_eq!(fold.enrichment().queued_prompts(began_at("2026-11-15T10:00:05.000Z")), 1);
}

fn edits(path: &str) -> String {
    json!({"type": "user", "message": {"content": []}, "toolUseResult": {"filePath": path, "structuredPatch": [],
        "oldString": "a", "newString": "b"}})
    .to_string()
}

#[test]
fn a_file_is_counted_once_however_many_there_are_and_however_long_its_name() {
    let mut fold = TranscriptFold::default();
    for file in (0..FILES_TOUCHED_MAX + 2).chain([FILES_TOUCHED_MAX; 50]) {
        fold.count_line(TranscriptFile::Main, edits(&format!("/w/{file}")).as_bytes());
    }
    assert_eq!((fold.enrichment().files.len(), fold.enrichment().files_total()), (FILES_TOUCHED_MAX, 202));
    let mut fold = TranscriptFold::default();
    fold.count_line(TranscriptFile::Main, edits(&"x".repeat(100_000)).as_bytes());
    let todo = json!({"type": "user", "message": {"content": []},
        "toolUseResult": {"task": {"id": "y".repeat(100_000), "subject": "z"}}});
    fold.count_line(TranscriptFile::Main, todo.to_string().as_bytes());
    assert_eq!((fold.enrichment().files.len(), fold.enrichment().todos.len()), (1, 1));
    assert!(serde_json::to_string(fold.enrichment()).unwrap().len() < 10_000);
}

proptest! {
    /// Stopping anywhere and going on from what was stored is the same as one reading.
    #[test]
    fn a_fold_that_was_stored_and_resumed_anywhere_ends_the_same(cut in 0_usize..2000) {
        let scenario = flightdeck_sim::corpus::scenario("subagent");
        let (main, agents) = sessions(&scenario).remove(0);
        let whole = fold(&main, &agents);
        let bytes = transcript(&main);
        let lines: Vec<_> = bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty()).collect();
        let cut = cut % lines.len();
        let mut first = TranscriptFold::default();
        let mut stored = BTreeMap::new();
        for line in &lines[..cut] {
            stored.extend(first.count_line(TranscriptFile::Main, line).map(|c| (c.key, c)));
        }
        let kept = serde_json::to_string(first.enrichment()).unwrap();
        let mut again = TranscriptFold::resume(serde_json::from_str(&kept).unwrap(), stored.into_values());
        lines[cut..].iter().for_each(|l| drop(again.count_line(TranscriptFile::Main, l)));
        for (id, path) in &agents {
            feed(&mut again, TranscriptFile::Agent(id), &transcript(path));
        }
        prop_assert_eq!(again.enrichment(), whole.enrichment());
    }

    #[test]
    fn no_bytes_make_it_stumble(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut fold = TranscriptFold::default();
        fold.count_line(TranscriptFile::Main, &bytes);
        let _ = billed_usage(&bytes);
    }
}
