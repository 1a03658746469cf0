//! The Claude Code plugin: its hooks call the `flightdeck` on the PATH, and stay silent without one.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::workspace::succeed;

const README: &str = "# Flightdeck for Claude Code

The hooks of this plugin send the events of each session to Flightdeck. They need the `flightdeck` program on the PATH; without it they do
nothing.

Load the plugin with `claude --plugin-dir DIR`, or install it from a marketplace that lists it. Then start the daemon with `flightdeck up
--no-hooks`: the plugin replaces the hooks that `flightdeck hooks install` writes into the settings.
";

/// Writes the plugin's folder. The handlers are those that `flightdeck hooks print` prints.
pub(crate) fn write(binary: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let manifest = json!({
        "name": "flightdeck",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Sends the events of each session to Flightdeck, the board for many Claude Code sessions",
        "author": { "name": "The Flightdeck maintainers" },
        "license": "MIT",
    });
    let hooks = json!({ "description": "Flightdeck", "hooks": hooks(binary)? });
    let file = |path: &str, json: &Value| -> Result<()> {
        Ok(fs::write(folder.join(path), serde_json::to_string_pretty(json)? + "\n")?)
    };
    for part in [".claude-plugin", "hooks"] {
        fs::create_dir_all(folder.join(part))?;
    }
    file(".claude-plugin/plugin.json", &manifest)?;
    file("hooks/hooks.json", &hooks)?;
    Ok(fs::write(folder.join("README.md"), README)?)
}

fn hooks(binary: &Path) -> Result<Value> {
    let home = tempfile::tempdir()?;
    let mut print = Command::new(binary);
    print.env_clear().env("HOME", home.path()).arg("--home").arg(home.path()).args(["hooks", "print"]);
    let mut settings: Value = serde_json::from_str(&succeed(&mut print)?)?;
    let [program, home] =
        [format!("'{}' hook", binary.display()), format!(" --home '{}'", home.path().display())];
    let mut handlers = 0;
    for command in commands(&mut settings) {
        let options = command.strip_prefix(&program).and_then(|options| options.split_once(&home));
        let (before, after) = options.with_context(|| format!("not a handler of ours: {command}"))?;
        *command = format!("flightdeck hook{before}{after}");
        handlers += 1;
    }
    if handlers == 0 {
        bail!("`flightdeck hooks print` printed no handler");
    }
    Ok(settings["hooks"].take())
}

/// The command of every handler.
fn commands(settings: &mut Value) -> impl Iterator<Item = &mut String> {
    let groups = settings["hooks"].as_object_mut().into_iter().flat_map(|events| events.values_mut());
    let groups = groups.filter_map(Value::as_array_mut).flatten();
    let handlers = groups.filter_map(|group| group["hooks"].as_array_mut()).flatten();
    handlers.filter_map(|handler| match &mut handler["command"] {
        Value::String(command) => Some(command),
        _ => None,
    })
}
