use super::*;

#[track_caller]
fn check(message: &str, intent: Intent, rule: IntentRule) {
    let found = detect(message);
    assert_eq!((found.intent, found.evidence.rule), (intent, rule), "{message}: {}", found.evidence.line);
}

#[test]
fn an_offer_after_a_completion_is_a_completion() {
    check(
        "I added the endpoint. Would you like docs too?",
        Intent::Completion,
        IntentRule::OfferAfterCompletion,
    );
    check("Would you like docs too?", Intent::Question, IntentRule::AsksThePerson);
}

#[test]
fn a_question_after_a_finished_part_of_the_work_is_a_question() {
    check("Phase 1 is complete. Shall I continue with phase 2?", Intent::Question, IntentRule::AsksThePerson);
    check(
        "I finished the analysis. Do you want me to add an index?",
        Intent::Question,
        IntentRule::AsksThePerson,
    );
}

#[test]
fn a_report_that_ends_with_the_next_step_is_progress() {
    check(
        "I've fixed the parser. Next I'll write the tests.",
        Intent::Progress,
        IntentRule::AnnouncesNextStep,
    );
}

#[test]
fn a_question_inside_code_or_quotes_does_not_count() {
    let code = "The test is wrong:\n```\n// should I?\n```";
    check(code, Intent::Progress, IntentRule::NothingSaid);
    check("> Should I?\n\nThis line is from the ticket.", Intent::Progress, IntentRule::NothingSaid);
    check("The prompt says \"Continue?\".", Intent::Progress, IntentRule::NothingSaid);
}

#[test]
fn a_question_that_the_text_answers_does_not_count() {
    check("Why is it slow? Each row runs a query.", Intent::Progress, IntentRule::NothingSaid);
}

#[test]
fn the_evidence_is_the_sentence_that_decided() {
    let found = detect("I read both files.\n\nWhich one is right?\n\n- `a.rs`\n- `b.rs`");
    assert_eq!(found.evidence.line, "Which one is right?");
    assert_eq!(found.evidence.rule, IntentRule::QuestionForm);
    assert!(found.confidence > 0.8);
}

#[test]
fn an_obstacle_is_a_question() {
    check("I can't continue without the key.", Intent::Question, IntentRule::Blocked);
}

#[test]
fn only_the_end_of_a_long_message_counts() {
    let long = format!("{}\n\nDone. All tests pass.", "Should I? Here is a line.\n".repeat(10_000));
    check(&long, Intent::Completion, IntentRule::SaysDone);
    check(&format!("{}\nOk?", "ä".repeat(100_000)), Intent::Question, IntentRule::AsksThePerson);
}

#[test]
fn a_question_stays_open_if_its_context_follows() {
    let context = "What's the expected output? The README says one thing, the test another.";
    check(context, Intent::Question, IntentRule::QuestionForm);
    let placeholder = "What should the default be? I've set it to 30 s for now.";
    check(placeholder, Intent::Question, IntentRule::QuestionForm);
}

#[test]
fn the_same_words_ask_before_the_work_and_close_after_it() {
    check("The key is missing. Tell me when you have it.", Intent::Question, IntentRule::RequestsInput);
    check("I've added the level. Tell me when you've played it.", Intent::EndOfTask, IntentRule::SoftClose);
}

#[test]
fn an_offer_of_work_on_top_is_no_close() {
    let also = "I've fixed the job. If you'd like, I can look at the other one too.";
    check(also, Intent::Completion, IntentRule::OfferAfterCompletion);
    let note = "I've added a limit. If you need another one, set it in the environment.";
    check(note, Intent::Completion, IntentRule::SaysDone);
}

#[test]
fn thanks_close_only_finished_work() {
    check("Thank you for the answer.", Intent::Progress, IntentRule::NothingSaid);
    check("I've updated the page. Thanks for the hint!", Intent::EndOfTask, IntentRule::SoftClose);
}

#[test]
fn one_clause_with_a_result_is_a_report() {
    check("Read the log and looked at the queue.", Intent::Progress, IntentRule::NothingSaid);
    check("Looked at the queue and restarted the worker.", Intent::Completion, IntentRule::SaysDone);
}

#[test]
fn a_message_without_words_says_nothing() {
    for message in ["", "\n\n", "```", "…", "`", "\"", "👍", "|a|"] {
        let found = detect(message);
        assert_eq!(
            (found.intent, found.evidence.rule),
            (Intent::Progress, IntentRule::NothingSaid),
            "{message:?}"
        );
    }
}

#[test]
fn changed_files_decide_only_if_the_text_neither_asks_nor_reports() {
    let rules = |message: &str| {
        let found = TurnIntent::detect(message);
        (found.for_turn(false).evidence.rule, found.for_turn(true).evidence.rule)
    };
    assert_eq!(
        rules("The two services talk over gRPC."),
        (IntentRule::NothingSaid, IntentRule::ChangedFiles)
    );
    assert_eq!(rules("Which one?"), (IntentRule::QuestionForm, IntentRule::QuestionForm));
    assert_eq!(rules("Next: the seed data."), (IntentRule::AnnouncesNextStep, IntentRule::AnnouncesNextStep));
    assert_eq!(rules(""), (IntentRule::NothingSaid, IntentRule::NothingSaid));
}

/// The end of the message is read first, so it decides although the rest is never read.
#[test]
fn a_text_full_of_cues_is_read_from_its_end() {
    let cues =
        "I could do it if you want, but I can't tell which one you need, so let me know once you have it, "
            .repeat(3);
    let message = format!("{}\n\nShall I drop the table now?", format!("{cues}\n").repeat(40));
    check(&message, Intent::Question, IntentRule::AsksThePerson);
}

#[test]
fn what_claude_reports_later_asks_for_nothing() {
    for message in [
        "The run takes about an hour. I'll report back when it finishes.",
        "I'll report back once it's done.",
        "I'll watch the deploy and come back to you when it's through.",
    ] {
        check(message, Intent::Progress, IntentRule::AnnouncesNextStep);
    }
    check("Try the build and report back when you've seen it.", Intent::Question, IntentRule::RequestsInput);
}

#[test]
fn a_direct_answer_ends_the_work() {
    for message in [
        "Yes. `foo()` is safe to call twice because the second call returns at once.",
        "No, that flag has no effect since v3 of the tool.",
        "It depends on the driver.",
        "Nein, der Worker liest sie nur beim Start.",
        "不需要修改。",
        "はい、問題ありません。",
    ] {
        check(message, Intent::Completion, IntentRule::DirectAnswer);
    }
    check(
        "There's nothing to change: the retry logic already handles 429.",
        Intent::Completion,
        IntentRule::DirectAnswer,
    );
    check("Yes. Which branch do you mean?", Intent::Question, IntentRule::AsksThePerson);
    check("No response requested.", Intent::Progress, IntentRule::NothingSaid);
}

#[test]
fn an_explanation_a_review_and_a_list_end_the_work() {
    for message in [
        "The parser splits each line at the first colon. A line without a colon continues the one before.",
        "The build is slow because each package starts its own compiler.",
        "Two findings:\n\n- a typo in `a.rs`\n- an unused import\n\nNone of these block the release.",
        "These crates use `unsafe`:\n\n- `a` (3 blocks)\n- `b` (1 block)",
    ] {
        check(message, Intent::Completion, IntentRule::Explains);
    }
}

#[test]
fn an_explanation_of_what_is_not_finished_ends_nothing() {
    for message in [
        "Still failing. The trace points to the same line.",
        "The agents are reading the logs. Their findings come in one by one.",
        "I started the migration. It has processed 40 % of the rows.",
    ] {
        assert_eq!(detect(message).intent, Intent::Progress, "{message}");
    }
}

#[test]
fn a_request_in_a_statement_asks_in_every_language() {
    for message in [
        "请告诉我应该使用哪个环境:测试还是生产。",
        "请问您希望用哪种方案",
        "Dites-moi laquelle des deux branches je dois prendre.",
        "**Open point:** the view sorts by name. I've kept that. If you'd rather have it explicit, tell me which column decides.",
    ] {
        check(message, Intent::Question, IntentRule::RequestsInput);
    }
}

#[test]
fn an_offer_that_waits_for_an_answer_is_a_question() {
    let offer = "I migrated the form. Do you want the others migrated, too?";
    check(offer, Intent::Completion, IntentRule::OfferAfterCompletion);
    let waits = format!("{offer} I wouldn't start without an answer.");
    check(&waits, Intent::Question, IntentRule::AsksThePerson);
}

#[test]
fn options_report_nothing() {
    let options = "Options:\n\n- split off the mailer\n- added later: one queue\n\nThe first is cheaper.";
    check(options, Intent::Question, IntentRule::RequestsInput);
    let report = "Changes:\n\n- split off the mailer\n- added one queue";
    check(report, Intent::Completion, IntentRule::SaysDone);
}

#[test]
fn the_first_sentence_may_ask_if_only_reasons_follow() {
    let reasons =
        "One set uses roles. The other uses scales. Roles survive a redesign. Scales need less typing.";
    let asks = format!("I'd like your opinion on the names. {reasons}");
    check(&asks, Intent::Question, IntentRule::RequestsInput);
    check(reasons, Intent::Completion, IntentRule::Explains);
}

#[test]
fn a_list_with_open_tasks_is_not_finished() {
    let tasks = "[x] the parser works\n[x] types\n[ ] generator\n[ ] tests\n\nThe generator is large. It has three parts. The first has a plan.";
    assert_eq!(detect(tasks).intent, Intent::Progress);
    assert_eq!(detect(&tasks.replace("[ ]", "[x]")).intent, Intent::Completion);
}

#[test]
fn an_obstacle_may_need_another_person() {
    for message in [
        "The archive can't be signed: the certificate expired, and a new one needs the account holder.",
        "The release waits for a rule. Nothing I can do from here.",
        "The job fails with 403. I can neither see nor change the secrets.",
    ] {
        check(message, Intent::Question, IntentRule::Blocked);
    }
}
