//! The same answers through the command line.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{Heard, asked, bash, ended, not_run, ran};
use crate::e2e::expect::{idle, permission, question as asks};
use crate::e2e::stage::Stage;

pub(in super::super) fn answered(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    let ask = bash(s, &t)?;
    s.see(&t, "asks", permission("Bash"))?;
    let listed = s.run(&["answer"])?;
    println!("  {}", listed.trim().replace('\n', "\n  "));
    ensure!(listed.contains("Bash"), "not listed: {listed}");
    let id = s.session(&t).context("no session")?;
    let session: String = id.chars().take(8).collect();
    s.run(&["answer", &session, "allow"])?;
    ran(s)?;
    ended(s, &ask, "allowed", Some("cli"))?;
    s.see(&t, "allowed", idle())?;
    let again = s.run(&["answer", ask["id"].as_str().unwrap_or_default(), "deny"]);
    let told = again.err().map(|e| e.to_string()).unwrap_or_default();
    ensure!(told.contains("already"), "answered twice: {told:?}");

    let ask = bash(s, &t)?;
    let heard = Heard::now(s);
    s.run(&["answer", &session, "deny", "--message", "use a drawer instead"])?;
    heard.wait(s, &["use a drawer instead"])?;
    ended(s, &ask, "denied", Some("cli"))?;
    s.see(&t, "denied, and the turn went on", idle())?;
    not_run(s)?;

    s.prompt(&t, "SCRIPT:ask go")?;
    let ask = asked(s, &t)?;
    s.see(&t, "asks a question", asks())?;
    let heard = Heard::now(s);
    s.run(&["answer", &session, "--pick", "2"])?;
    heard.wait(s, &["SQLite"])?;
    ended(s, &ask, "answered", Some("cli"))?;
    s.see(&t, "answered", idle())?;

    s.run(&["send", &session, "SCRIPT:hello", "from", "another", "terminal"])?;
    s.see_card(&t, "the prompt", |card| {
        card["last_user_message"] == json!("SCRIPT:hello from another terminal")
    })?;
    s.see(&t, "answered the prompt", idle())
}
