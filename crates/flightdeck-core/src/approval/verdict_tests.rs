use super::*;
use expect_test::{Expect, expect};
use serde_json::json;

fn told(kind: NeedKind, payload: Value, answer: Value, expected: Expect) {
    let answer: Answer = serde_json::from_value(answer).unwrap();
    let said = match verdict(kind, payload.as_object().unwrap(), &answer) {
        Ok(mut verdict) => {
            let output = verdict["hookSpecificOutput"].take();
            output.get("decision").unwrap_or(&output).to_string()
        }
        Err(why) => format!("422 {why}"),
    };
    expected.assert_eq(&said);
}

fn bash() -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "permission_suggestions": [{"type": "addRules"}]})
}

#[test]
fn a_permission() {
    let told = |answer, expected| told(NeedKind::Permission, bash(), answer, expected);
    told(json!({"decision": "allow"}), expect![[r#"{"behavior":"allow"}"#]]);
    told(
        json!({"decision": "allow", "updated_permissions": [{"type": "addRules"}]}),
        expect![[r#"{"behavior":"allow","updatedPermissions":[{"type":"addRules"}]}"#]],
    );
    told(
        json!({"decision": "allow", "updated_permissions": [{"type": "addDirectories"}]}),
        expect!["422 `updated_permissions` may hold only entries of the ask's `suggestions`, unchanged"],
    );
    told(
        json!({"decision": "deny"}),
        expect![[r#"{"behavior":"deny","message":"The user denied this in Flightdeck."}"#]],
    );
    told(
        json!({"decision": "deny", "message": " use make \n", "interrupt": true}),
        expect![[r#"{"behavior":"deny","message":"use make","interrupt":true}"#]],
    );
    told(json!({"decision": "cancel"}), expect!["422 only an elicitation can be cancelled; allow or deny"]);
    told(
        json!({"decision": "allow", "mode": "acceptEdits"}),
        expect!["422 `mode` is not a field for this kind of request and this decision"],
    );
}

fn question() -> Value {
    json!({"tool_name": "AskUserQuestion", "tool_input": {"questions": [
        {"question": "Which?", "header": "W", "multiSelect": true, "options": [{"label": "Auth"}, {"label": "Logs, metrics"}]},
        {"question": "When?", "header": "T", "multiSelect": false, "options": [{"label": "Now"}, {"label": "Later"}]}]}})
}

#[test]
fn a_question() {
    let told = |answers: Value, expected: Expect| {
        let answer: Answer =
            serde_json::from_value(json!({"decision": "allow", "answers": answers})).unwrap();
        let said = match verdict(NeedKind::Question, question().as_object().unwrap(), &answer) {
            Ok(verdict) => {
                let input = &verdict["hookSpecificOutput"]["decision"]["updatedInput"];
                assert_eq!(input["questions"], question()["tool_input"]["questions"]);
                input["answers"].to_string()
            }
            Err(why) => format!("422 {why}"),
        };
        expected.assert_eq(&said);
    };
    told(
        json!({"Which?": ["Auth", "Logs, metrics", "own words, too"], "When?": "Now"}),
        expect![[r#"{"Which?":"Auth, \"Logs, metrics\", own words, too","When?":"Now"}"#]],
    );
    told(json!({"Which?": "Auth"}), expect![[r#"422 every question needs an answer; "When?" has none"#]]);
    told(
        json!({"Which?": "Auth", "When?": ["Now", "Later"]}),
        expect![[r#"422 "When?" takes one answer, not 2"#]],
    );
    told(json!({"Which?": [], "When?": "Now"}), expect![[r#"422 the answer to "Which?" is empty"#]]);
    told(
        json!({"Which?": "Auth", "When?": "Now", "Why?": "x"}),
        expect![[r#"422 there is no question "Why?""#]],
    );
}

#[test]
fn a_plan() {
    let plan =
        || json!({"tool_name": "ExitPlanMode", "tool_input": {"plan": "# Do it", "planFilePath": "/p"}});
    let told = |answer, expected| told(NeedKind::Plan, plan(), answer, expected);
    told(
        json!({"decision": "allow"}),
        expect![[r##"{"behavior":"allow","updatedInput":{"plan":"# Do it"}}"##]],
    );
    told(
        json!({"decision": "allow", "mode": "acceptEdits"}),
        expect![[
            r##"{"behavior":"allow","updatedInput":{"plan":"# Do it"},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}"##
        ]],
    );
    told(
        json!({"decision": "allow", "mode": "bypassPermissions"}),
        expect![[r#"422 `mode` is "bypassPermissions"; a plan continues in default or acceptEdits"#]],
    );
    told(
        json!({"decision": "deny", "message": "smaller steps"}),
        expect![[r#"{"behavior":"deny","message":"smaller steps"}"#]],
    );
}

#[test]
fn an_elicitation() {
    let asked = || json!({"mcp_server_name": "m", "requested_schema": {"required": ["name"], "properties": {"name": {"type": "string"}}}});
    let told = |answer, expected| told(NeedKind::Elicitation, asked(), answer, expected);
    told(
        json!({"decision": "allow", "content": {"name": "x"}}),
        expect![[r#"{"hookEventName":"Elicitation","action":"accept","content":{"name":"x"}}"#]],
    );
    told(json!({"decision": "allow"}), expect!["422 the field `name` is required"]);
    told(json!({"decision": "deny"}), expect![[r#"{"hookEventName":"Elicitation","action":"decline"}"#]]);
    told(json!({"decision": "cancel"}), expect![[r#"{"hookEventName":"Elicitation","action":"cancel"}"#]]);
}

#[test]
fn an_answer_nested_deeper_than_the_log_can_be_read_is_refused() {
    let content = |depth: usize| {
        let nest = (0..depth).fold(json!(1), |inner, _| json!([inner]));
        let answer = json!({"decision": "allow", "content": {"name": nest}});
        serde_json::from_value::<Answer>(answer).unwrap()
    };
    assert_eq!(check_sender(&content(100)), Ok(()));
    assert_eq!(check_sender(&content(101)).unwrap_err().to_string(), "`content` may be nested 100 deep");
}
