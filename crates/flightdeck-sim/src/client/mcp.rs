//! An MCP server with one tool that asks the person to fill in a form, over stdio. It logs every line it receives.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::Path;

use serde_json::{Value, json};

/// The question on the form.
pub const MESSAGE: &str = "What is your name?";

/// Serves until stdin ends.
pub fn serve(log: &Path, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut log = OpenOptions::new().create(true).append(true).open(log)?;
    let mut calls = Vec::new();
    for line in input.lines() {
        let line = line?;
        writeln!(log, "{line}")?;
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if let Some(answer) = answer(&message, &mut calls) {
            writeln!(output, "{answer}")?;
            output.flush()?;
        }
    }
    Ok(())
}

/// Answers one line. `calls` has the tool calls that wait for the person, by the id of their form.
fn answer(message: &Value, calls: &mut Vec<Value>) -> Option<Value> {
    let id = message.get("id")?;
    let reply = |id: &Value, result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    Some(match message["method"].as_str() {
        Some("initialize") => reply(
            id,
            json!({"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "lab", "version": "1"}}),
        ),
        Some("tools/list") => reply(
            id,
            json!({"tools": [{"name": "ask", "description": "Asks the user for a name",
                "inputSchema": {"type": "object", "properties": {}}}]}),
        ),
        Some("tools/call") => {
            calls.push(id.clone());
            let schema =
                json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
            json!({"jsonrpc": "2.0", "id": calls.len() - 1, "method": "elicitation/create",
                "params": {"message": MESSAGE, "requestedSchema": schema}})
        }
        Some(_) => reply(id, json!({})),
        None => {
            let call = calls.get(usize::try_from(id.as_u64()?).ok()?)?;
            let text = format!("the person said {}", message["result"]);
            reply(call, json!({"content": [{"type": "text", "text": text}]}))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_becomes_a_form_and_its_answer_the_result() {
        let log = std::env::temp_dir().join(format!("flightdeck-mcp-{}", std::process::id()));
        let lines = [
            json!({"id": 7, "method": "tools/call", "params": {"name": "ask"}}),
            json!({"method": "notifications/initialized"}),
            json!({"id": 0, "result": {"action": "decline"}}),
        ];
        let input = lines.map(|l| l.to_string()).join("\n");
        let mut output = Vec::new();
        serve(&log, input.as_bytes(), &mut output).unwrap();
        let sent: Vec<Value> =
            output.split(|b| *b == b'\n').filter_map(|l| serde_json::from_slice(l).ok()).collect();
        assert_eq!((&sent[0]["method"], &sent[0]["id"]), (&json!("elicitation/create"), &json!(0)));
        assert_eq!(sent[1]["id"], 7);
        assert_eq!(sent[1]["result"]["content"][0]["text"], r#"the person said {"action":"decline"}"#);
        assert_eq!(std::fs::read_to_string(&log).unwrap().trim_end(), input);
        std::fs::remove_file(log).unwrap();
    }
}
