//! Questions: one option, several options, free text, and two questions at once.

use anyhow::Result;
use serde_json::json;

use super::{Heard, answer, asked};
use crate::e2e::expect::{idle, question as asks};
use crate::e2e::stage::Stage;

const DATABASE: &str = "Which database should we use?";
const PARTS: &str = "Which parts should it have?";
/// The client's words to the model when every answer is one of the options.
const PURE_CHOICE: &str = "have been answered";

pub(in super::super) fn question_answered(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    let steps = [
        ("ask", json!({DATABASE: "SQLite"}), vec![PURE_CHOICE, "SQLite"]),
        ("askmany", json!({PARTS: ["Auth", "Logs, metrics"]}), vec![PURE_CHOICE, r#"Auth, "Logs, metrics""#]),
        ("askmany", json!({PARTS: ["Cache", "and a bell, please"]}), vec!["Cache, and a bell, please"]),
        (
            "asktwo",
            json!({DATABASE: "Postgres", PARTS: ["Cache", "Auth"]}),
            vec![PURE_CHOICE, "Postgres", "Cache, Auth"],
        ),
    ];
    for (script, answers, told) in steps {
        s.prompt(&t, &format!("SCRIPT:{script} go"))?;
        let ask = asked(s, &t)?;
        s.see(&t, &format!("{script}: asks"), asks())?;
        let heard = Heard::now(s);
        answer(s, &ask, json!({"decision": "allow", "answers": answers}), "answered")?;
        heard.wait(s, &told)?;
        s.see(&t, &format!("{script}: answered"), idle())?;
    }
    s.prompt(&t, "SCRIPT:ask once more")?;
    let ask = asked(s, &t)?;
    let heard = Heard::now(s);
    answer(s, &ask, json!({"decision": "deny", "message": "decide yourself"}), "denied")?;
    heard.wait(s, &["decide yourself"])?;
    s.see(&t, "not answered, and the turn went on", idle())
}
