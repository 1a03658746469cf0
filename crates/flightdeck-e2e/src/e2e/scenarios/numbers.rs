//! Data on the card that is not state: from the status line, the transcript, the repository.

use std::fs;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::e2e::expect::idle;
use crate::e2e::stage::Stage;

/// The client draws the status line at its start and after each reply.
const DRAWN: Duration = Duration::from_secs(20);

/// The person's own status line is wrapped: it prints the same as before, the daemon receives its input, and uninstalling
/// restores it.
pub(super) fn status_line(s: &mut Stage) -> Result<()> {
    let git = s.lab.cwd().join(".git");
    ["objects", "refs"].iter().try_for_each(|folder| fs::create_dir_all(git.join(folder)))?;
    fs::write(git.join("HEAD"), "ref: refs/heads/trunk\n")?;
    let mut settings = s.lab.settings()?;
    settings["statusLine"] = json!({"type": "command", "command": "wc -l | sed 's/.*/my own line/'"});
    s.lab.write_settings(&settings)?;
    s.run(&["hooks", "install", "--statusline"])?;
    let t = s.open("a")?;
    t.tui.wait_text("my own line", DRAWN)?;
    s.prompt(&t, "SCRIPT:hello one")?;
    s.see(&t, "answered", idle())?;
    t.tui.wait_text("my own line", DRAWN)?;
    s.see_card(&t, "context and cost by the status line", |card| {
        card["context"]["window"].is_u64() && card["cost"]["client_usd_micros"].is_u64()
    })?;
    s.see_card(&t, "tokens by the transcript, branch by the repository", |card| {
        card["tokens"]["output"].as_u64() > Some(0) && card["git_branch"] == "trunk"
    })?;
    s.run(&["hooks", "uninstall"])?;
    // The client adds its own settings to the file.
    let after = s.lab.settings()?;
    let given_back = after["statusLine"] == settings["statusLine"] && after["hooks"] == settings["hooks"];
    ensure!(given_back, "the settings came back as {after}");
    Ok(())
}
