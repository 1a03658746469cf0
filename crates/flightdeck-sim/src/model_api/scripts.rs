//! The scripts of the stand-in model: a script is a list of steps, one per request.

use std::time::Duration;

use serde_json::{Value, json};

/// One answer of the model.
#[derive(Clone, Debug)]
pub enum ScriptStep {
    Reply(ModelReply),
    /// Accepts the request, sends nothing for this long, then closes the connection.
    Hang(Duration),
    /// An API error in the words of the real API.
    Error {
        status: u16,
        kind: &'static str,
        message: &'static str,
    },
}

#[derive(Clone, Debug, Default)]
pub struct ModelReply {
    pub blocks: Vec<Block>,
    /// Default: `tool_use` if a tool is called, else `end_turn`.
    pub stop_reason: Option<&'static str>,
    /// Cached input tokens to report; they fill the context. Default 12,000.
    pub context_tokens: Option<u64>,
    /// Closes the connection after the last block, without the end event.
    pub drop: bool,
    /// Ends when the test says so: [`super::ModelApi::end_writing`].
    pub held: bool,
}

#[derive(Clone, Debug)]
pub enum Block {
    Text {
        text: String,
        /// Pause after each piece of 36 characters.
        pause: Duration,
    },
    Thinking(&'static str),
    /// `@CWD@`, `@PLANFILE@` and `@COMMAND@` in the input are replaced by the session's values.
    Tool {
        name: &'static str,
        input: Value,
    },
}

fn say(text: &str) -> Block {
    Block::Text { text: text.to_owned(), pause: Duration::ZERO }
}

fn tool(name: &'static str, input: Value) -> Block {
    Block::Tool { name, input }
}

fn bash(command: &str, description: &str) -> Block {
    tool("Bash", json!({"command": command, "description": description}))
}

fn agent(description: &str, prompt: &str, kind: &str, background: bool) -> Block {
    tool(
        "Agent",
        json!({"description": description, "prompt": prompt, "subagent_type": kind, "run_in_background": background}),
    )
}

fn reply(blocks: Vec<Block>) -> ScriptStep {
    ScriptStep::Reply(ModelReply { blocks, ..ModelReply::default() })
}

fn error(status: u16, kind: &'static str, message: &'static str) -> Vec<ScriptStep> {
    vec![ScriptStep::Error { status, kind, message }]
}

/// One step with tools, then a closing sentence.
fn then(blocks: Vec<Block>, close: &str) -> Vec<ScriptStep> {
    vec![reply(blocks), reply(vec![say(close)])]
}

const PLAN: &str = "# Plan\n\n1. Read the code\n2. Change the code\n3. Run the tests\n";

/// Waits until it is killed or its time is over; the client's Bash tool refuses a plain `sleep`.
const LONG_COMMAND: &str = "timeout 45 tail -f /dev/null; echo slept";
/// A second such command, with another text on the screen.
const OTHER_LONG_COMMAND: &str = "timeout 44 tail -f /dev/null; echo slept again";
/// Waits until the test creates the file `go`.
const UNTIL_GO: &str =
    "timeout 90 sh -c 'until test -e go; do timeout 0.1 tail -f /dev/null; done'; echo went";

/// The script of that name, or `None`.
pub fn script(name: &str) -> Option<Vec<ScriptStep>> {
    [commands, waits, questions, agents, background_agents, failures]
        .into_iter()
        .find_map(|scripts| scripts(name))
}

/// Scripts that run tools, or only write.
fn commands(name: &str) -> Option<Vec<ScriptStep>> {
    Some(match name {
        "hello" => vec![reply(vec![say("Hello from the stub model.")])],
        "report" => vec![reply(vec![say("I fixed the parser. All tests pass.")])],
        "bash" => then(
            vec![
                say("I will run a command."),
                bash("touch made-by-bash.txt && echo bash-ok", "Create a file"),
            ],
            "The command finished.",
        ),
        "tag" => then(vec![bash("git tag -f made-by-git", "Tag the commit")], "Tagged."),
        "multi" => then(
            vec![
                Block::Thinking("Let me think about this."),
                say("Two commands at once."),
                bash("echo one", "Echo one"),
                bash("echo two", "Echo two"),
            ],
            "Both finished.",
        ),
        "twoperm" => {
            then(vec![bash("touch p1.txt", "Touch p1"), bash("touch p2.txt", "Touch p2")], "Both touched.")
        }
        "tworeads" => then(
            vec![
                tool("Read", json!({"file_path": "@CWD@/../../outside/a.txt"})),
                tool("Read", json!({"file_path": "@CWD@/../../outside2/b.txt"})),
            ],
            "Both read.",
        ),
        "write" => vec![
            reply(vec![tool("Write", json!({"file_path": "@CWD@/notes.txt", "content": "alpha\nbeta\n"}))]),
            reply(vec![tool(
                "Edit",
                json!({"file_path": "@CWD@/notes.txt", "old_string": "beta", "new_string": "gamma"}),
            )]),
            reply(vec![say("File written and edited.")]),
        ],
        "fail" => then(
            vec![bash("echo to-stdout; echo to-stderr >&2; exit 3", "Failing command")],
            "The command failed.",
        ),
        "todos" => vec![
            reply(vec![
                tool(
                    "TaskCreate",
                    json!({"subject": "Write the parser", "description": "Parse JSONL lines", "activeForm": "Writing the parser"}),
                ),
                tool("TaskCreate", json!({"subject": "Write the tests", "description": "Cover the parser"})),
            ]),
            reply(vec![tool("TaskUpdate", json!({"taskId": "1", "status": "completed"}))]),
            reply(vec![say("One of two is done.")]),
        ],
        "command" => then(vec![bash("@COMMAND@", "Run what was asked")], "It was run."),
        "badtool" => then(vec![tool("NoSuchTool", json!({"x": 1}))], "That tool does not exist."),
        _ => return None,
    })
}

/// Scripts that take a while, in the foreground or in the background.
fn waits(name: &str) -> Option<Vec<ScriptStep>> {
    Some(match name {
        "sleep" => then(vec![bash(LONG_COMMAND, "Sleep a while")], "Slept."),
        "sleepagain" => then(vec![bash(OTHER_LONG_COMMAND, "Sleep again")], "Slept again."),
        // Two calls in one batch: a prompt that is typed during the first one waits while the second one asks.
        "untilwrite" => then(
            vec![
                bash(UNTIL_GO, "Wait for a file"),
                tool("Write", json!({"file_path": "@CWD@/notes.txt", "content": "alpha\n"})),
            ],
            "Waited and wrote.",
        ),
        "untilask" => then(
            vec![bash(UNTIL_GO, "Wait for a file"), tool("AskUserQuestion", question())],
            "Waited and asked.",
        ),
        // A prompt that the client sends itself at the next full minute.
        "cron" => then(
            vec![tool(
                "CronCreate",
                json!({"cron": "* * * * *", "prompt": "SCRIPT:hello from a schedule", "recurring": false}),
            )],
            "Scheduled.",
        ),
        "until" => then(vec![bash(UNTIL_GO, "Wait for a file")], "It is there."),
        "eleven" => eleven(),
        "slow" => vec![slow()],
        "writes" => vec![writes()],
        "hang" => vec![ScriptStep::Hang(Duration::from_secs(60))],
        "bgtwo" => then(
            vec![
                background(UNTIL_GO, "First in background"),
                background(LONG_COMMAND, "Second in background"),
            ],
            "Started two background commands.",
        ),
        "bgbash" => then(
            vec![tool(
                "Bash",
                json!({"command": UNTIL_GO, "description": "Wait in background", "run_in_background": true}),
            )],
            "Started a background command.",
        ),
        _ => return None,
    })
}

/// Scripts that ask the person.
fn questions(name: &str) -> Option<Vec<ScriptStep>> {
    Some(match name {
        "ask" => then(vec![tool("AskUserQuestion", question())], "Thank you for the answer."),
        "asktext" => vec![reply(vec![say("I read both files. Should I keep `a.rs` or `b.rs`?")])],
        "askmany" => then(vec![tool("AskUserQuestion", json!({"questions": [many_choices()]}))], "Noted."),
        "asktwo" => then(
            vec![tool("AskUserQuestion", json!({"questions": [question()["questions"][0], many_choices()]}))],
            "Both noted.",
        ),
        "elicit" => then(vec![tool("mcp__lab__ask", json!({}))], "The server asked."),
        "plan" => vec![
            reply(vec![tool("Write", json!({"file_path": "@PLANFILE@", "content": PLAN}))]),
            reply(vec![tool("ExitPlanMode", json!({"plan": PLAN}))]),
            reply(vec![say("Plan handled.")]),
        ],
        // Sent back twice, it is shown three times.
        "planthrice" => {
            let mut steps =
                vec![reply(vec![tool("Write", json!({"file_path": "@PLANFILE@", "content": PLAN}))])];
            steps.extend((0..3).map(|_| reply(vec![tool("ExitPlanMode", json!({"plan": PLAN}))])));
            steps.push(reply(vec![say("Plan handled.")]));
            steps
        }
        "elicittwice" => vec![
            reply(vec![tool("mcp__lab__ask", json!({}))]),
            reply(vec![tool("mcp__lab__ask", json!({}))]),
            reply(vec![say("The server asked twice.")]),
        ],
        "enterplan" => then(vec![tool("EnterPlanMode", json!({}))], "In plan mode."),
        _ => return None,
    })
}

/// Scripts with subagents that the main agent waits for or that fail, and the scripts of those subagents.
fn agents(name: &str) -> Option<Vec<ScriptStep>> {
    Some(match name {
        "subfail" => then(
            vec![agent("Fails at once", "SCRIPT:err400 go", "general-purpose", false)],
            "The agent was started.",
        ),
        "subfaillate" => then(
            vec![agent("Fails late", "SCRIPT:untilerr go", "general-purpose", false)],
            "The agent was started.",
        ),
        "subfailall" => then(
            vec![
                agent("Fails first", "SCRIPT:untilerr a", "general-purpose", false),
                agent("Fails second", "SCRIPT:untilerr b", "general-purpose", false),
                agent("Fails third", "SCRIPT:untilerr c", "general-purpose", false),
            ],
            "Three agents were started.",
        ),
        "subagent" => then(
            vec![say("Delegating."), agent("Count files", "SCRIPT:subwork count", "general-purpose", false)],
            "The subagent reported.",
        ),
        "fgagent" => then(
            vec![agent("Take a nap", "SCRIPT:subslow go", "general-purpose", false)],
            "The agent reported.",
        ),
        "subsleepy" => then(
            vec![agent("Wait a while", "SCRIPT:sleep in agent", "general-purpose", false)],
            "The sleepy subagent reported.",
        ),
        "subwork" => then(
            vec![bash("touch made-by-subagent.txt && echo sub-ok", "Create a file")],
            "Subagent result: 1 file.",
        ),
        "subslow" => then(vec![bash(UNTIL_GO, "Wait in agent")], "Slow subagent finished."),
        // Two agents: one runs a command, for which it may have to ask, and one fails at once.
        "subaskfail" => then(
            vec![
                agent("Count files", "SCRIPT:subwork count", "general-purpose", true),
                agent("Fails at once", "SCRIPT:err400 go", "general-purpose", true),
            ],
            "Two agents were started.",
        ),
        _ => return None,
    })
}

/// Scripts with subagents in the background.
fn background_agents(name: &str) -> Option<Vec<ScriptStep>> {
    Some(match name {
        // A background agent, and a command of the main agent beside it.
        "agentandsleep" => vec![
            reply(vec![agent("Background agent", "SCRIPT:subslow go", "general-purpose", true)]),
            reply(vec![bash(LONG_COMMAND, "Sleep a while")]),
            reply(vec![say("Slept beside an agent.")]),
        ],
        // The same with a long text instead of a command.
        "agentandslow" => {
            vec![reply(vec![agent("Background agent", "SCRIPT:subslow go", "general-purpose", true)]), slow()]
        }
        "bgagents" => then(
            vec![
                agent("First agent", "SCRIPT:subslow a", "general-purpose", true),
                agent("Second agent", "SCRIPT:subslow b", "general-purpose", true),
            ],
            "Launched two background agents.",
        ),
        // The same with a command that ends at once.
        "agentandbash" => vec![
            reply(vec![agent("Background agent", "SCRIPT:subslow go", "general-purpose", true)]),
            reply(vec![bash("echo bash-ok", "Say a word")]),
            reply(vec![say("Spoke beside an agent.")]),
        ],
        // An agent that ends its turn while an agent of its own works.
        "nested" => then(
            vec![agent("Outer agent", "SCRIPT:nestedouter go", "general-purpose", true)],
            "Launched an agent with an agent.",
        ),
        // The main agent ends its turn meanwhile.
        "nestedouter" => vec![
            reply(vec![agent("Inner agent", "SCRIPT:subslow go", "general-purpose", true)]),
            reply(vec![bash("timeout 6 tail -f /dev/null; echo waited", "Wait a moment")]),
            reply(vec![say("The outer agent waits.")]),
        ],
        // The same, but the main agent ends its turn last: when the test lets it end its text.
        "nestedlast" => {
            vec![reply(vec![agent("Outer agent", "SCRIPT:nestedsoon go", "general-purpose", true)]), writes()]
        }
        "nestedsoon" => then(
            vec![agent("Inner agent", "SCRIPT:subslow go", "general-purpose", true)],
            "The outer agent waits.",
        ),
        // A background agent that has to ask after a while.
        "bglate" => then(
            vec![agent("Late asker", "SCRIPT:sublate go", "general-purpose", true)],
            "Launched a background agent.",
        ),
        "sublate" => vec![
            reply(vec![bash(UNTIL_GO, "Wait in agent")]),
            reply(vec![bash("touch late.txt", "Create a file")]),
            reply(vec![say("Late agent finished.")]),
        ],
        "bgagent" => then(
            vec![agent("Background agent", "SCRIPT:subslow go", "general-purpose", true)],
            "Launched a background agent.",
        ),
        _ => return None,
    })
}

/// Scripts whose reply fails or is unusual.
fn failures(name: &str) -> Option<Vec<ScriptStep>> {
    Some(match name {
        "untilerr" => {
            let mut steps = vec![reply(vec![bash(UNTIL_GO, "Wait, then fail")])];
            steps.extend(error(400, "invalid_request_error", "messages: stub says no"));
            steps
        }
        "err400" => error(400, "invalid_request_error", "messages: stub says no"),
        "err401" => error(401, "authentication_error", "invalid x-api-key"),
        "err403" => error(403, "permission_error", "stub forbids"),
        "err429" => error(429, "rate_limit_error", "stub rate limit"),
        "err500" => error(500, "api_error", "Internal server error"),
        "err529" => error(529, "overloaded_error", "Overloaded"),
        "drop" => {
            vec![ScriptStep::Reply(ModelReply {
                blocks: vec![say("Half an ans")],
                drop: true,
                ..ModelReply::default()
            })]
        }
        "maxtok" => vec![ScriptStep::Reply(ModelReply {
            blocks: vec![say("This answer was cut")],
            stop_reason: Some("max_tokens"),
            ..ModelReply::default()
        })],
        "big" => vec![ScriptStep::Reply(ModelReply {
            blocks: vec![say("Big context.")],
            context_tokens: Some(185_000),
            ..ModelReply::default()
        })],
        "full" => full(),
        _ => return None,
    })
}

/// A text that stays unfinished until the test lets it end, so that something can be done meanwhile.
fn writes() -> ScriptStep {
    let text = (1..5).map(|n| format!("Line {n:03} of an answer in writing.\n")).collect();
    let blocks = vec![Block::Text { text, pause: Duration::from_millis(100) }];
    ScriptStep::Reply(ModelReply { blocks, held: true, ..ModelReply::default() })
}

fn background(command: &str, description: &str) -> Block {
    tool("Bash", json!({"command": command, "description": description, "run_in_background": true}))
}

/// Eleven tool calls, one after the other: the turn whose length `cargo xtask bench client` measures.
fn eleven() -> Vec<ScriptStep> {
    let call = |n: usize| reply(vec![bash(&format!("echo {n}"), "Say a number")]);
    (1..=11).map(call).chain([reply(vec![say("Eleven commands finished.")])]).collect()
}

/// Commands, one after the other, in a context of a million tokens that is more than nine tenths full.
fn full() -> Vec<ScriptStep> {
    let call = |n: usize| {
        ScriptStep::Reply(ModelReply {
            blocks: vec![bash(&format!("timeout 0.5 tail -f /dev/null; echo {n}"), "Wait a moment")],
            context_tokens: Some(910_000),
            ..ModelReply::default()
        })
    };
    (1..=6).map(call).chain([reply(vec![say("Six commands finished.")])]).collect()
}

fn slow() -> ScriptStep {
    let text = (1..200).map(|n| format!("Line {n:03} of a long streamed answer.\n")).collect();
    reply(vec![Block::Text { text, pause: Duration::from_millis(250) }])
}

/// Several may be picked, and one label holds a comma.
fn many_choices() -> Value {
    json!({
        "question": "Which parts should it have?", "header": "Parts", "multiSelect": true,
        "options": [
            {"label": "Auth", "description": "Who is it"},
            {"label": "Cache", "description": "Once is enough"},
            {"label": "Logs, metrics", "description": "What happened"},
        ],
    })
}

fn question() -> Value {
    json!({"questions": [{
        "question": "Which database should we use?", "header": "Database", "multiSelect": false,
        "options": [
            {"label": "Postgres", "description": "Relational, robust"},
            {"label": "SQLite", "description": "Single file"},
        ],
    }]})
}

/// The reply to a request for a summary of the conversation.
pub(super) fn summary() -> ScriptStep {
    reply(vec![say(
        "<analysis>\nThe user tested.\n</analysis>\n<summary>\n1. Primary request: run scripts.\n</summary>",
    )])
}

/// The reply to the client's own small requests (titles, classifiers).
pub(super) fn aside(wants_title: bool) -> ScriptStep {
    reply(vec![say(if wants_title { r#"{"title": "Stub session title"}"# } else { "ok" })])
}

/// After the last step of a script.
pub(super) fn over() -> ScriptStep {
    reply(vec![say("(continuation) acknowledged.")])
}
