//! The file that tmux includes: key bindings, the line in the status bar, colours, and the hook that marks a session as seen.
//!
//! Every option that it replaces is saved in an option `@flightdeck_saved_…` first, so that `uninstall` can restore a running server.

use flightdeck_core::view::lens::FleetStatus;

use crate::pane_colours::paint::{HOME_OPTION, PANE_OPTION, WINDOW_OPTION, word};
use crate::program;

/// Our place in the array of hooks. A person's own hooks begin at 0.
pub(super) const FOCUS_HOOK: &str = "pane-focus-in[4789]";
/// What is in `status-right` after the install; also how the install is recognised there.
const STATUS_MARK: &str = "status --line";

/// Has the part that was added to `status-right`, so that `uninstall` can take it out of a running server.
pub(super) const STATUS_OPTION: &str = "@flightdeck_status";

/// How many columns of the right side of the status bar are shown. tmux cuts what is behind them.
pub(super) const LENGTH_OPTION: &str = "status-right-length";
/// Has the length that the file set. If the present length differs, the person has set it since.
pub(super) const OUR_LENGTH_OPTION: &str = "@flightdeck_status_right_length";
/// The longest usual line, `● 1234 need you · 1234 running`, and the blank behind it.
const FLEET_LINE_COLUMNS: usize = 31;

/// The options whose value the file changes as a whole.
pub(super) const STYLES: [(&str, &str); 4] = [
    ("window-status-style", WINDOW_OPTION),
    ("window-status-current-style", WINDOW_OPTION),
    ("pane-border-style", PANE_OPTION),
    ("pane-active-border-style", PANE_OPTION),
];

/// Colour and form, so that the status does not depend on colour alone. Nothing for a session that the person has checked.
const LOOKS: [(FleetStatus, &str); 4] = [
    (FleetStatus::Error, "fg=red bold"),
    (FleetStatus::Attention, "fg=yellow bold"),
    (FleetStatus::Working, "fg=blue"),
    (FleetStatus::Done, "fg=green"),
];

/// Long enough to read a sentence: tmux's own time is 750 ms.
const MESSAGE_MILLIS: u32 = 4000;

/// Keys behind tmux's prefix.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub(super) struct Keys {
    /// Key after the prefix that opens the board in a popup
    #[arg(long, default_value = "F", value_parser = key)]
    pub(super) popup_key: String,
    /// Key after the prefix that opens the board as a sidebar
    #[arg(long, default_value = "B", value_parser = key)]
    pub(super) sidebar_key: String,
    /// Key after the prefix that goes to the session that needs you most
    #[arg(long, default_value = "N", value_parser = key)]
    pub(super) next_key: String,
}

/// A key as tmux names it: `F`, `M-f`, `C-Space`.
fn key(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    match !text.is_empty() && text.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err("expected a key as tmux names it, such as F or M-f".to_owned()),
    }
}

impl Keys {
    pub(super) fn all(&self) -> [&str; 3] {
        [&self.popup_key, &self.sidebar_key, &self.next_key]
    }
}

/// The options that `uninstall` restores.
pub(super) fn saved_options() -> impl Iterator<Item = &'static str> {
    STYLES.iter().map(|(option, _)| *option).chain(["focus-events"])
}

/// The option in which the earlier value of an option is kept.
pub(super) fn saved(option: &str) -> String {
    format!("@flightdeck_saved_{}", option.replace('-', "_"))
}

/// The text of the included file. `command` is what a shell runs for `flightdeck --home HOME`.
pub(super) fn config_text(keys: &Keys, command: &str, home: &str) -> String {
    let quote = program::quoted;
    let next = format!(
        "said=$({command} focus next 2>&1) || tmux display-message -d {MESSAGE_MILLIS} \"flightdeck: $said\""
    );
    let checked = format!("{command} tmux checked --socket '#{{socket_path}}' --pane '#{{pane_id}}'");
    let Keys { popup_key, sidebar_key, next_key } = keys;
    let mut text = format!(
        "# Written by `flightdeck tmux install`; `flightdeck tmux uninstall` removes it. Changes are overwritten.\n\
         bind-key {popup_key} display-popup -E -w 90% -h 80% {}\n\
         bind-key {sidebar_key} split-window -hb -l 42 {}\n\
         bind-key {next_key} run-shell -b {}\n",
        quote(&format!("{command} tui --popup")),
        quote(&format!("{command} tui --sidebar")),
        quote(&next),
    );
    text += &save_once();
    let hook = double_quoted(&format!("run-shell -b {}", quote(&checked)));
    text += &format!("set-option -g focus-events on\nset-hook -g {FOCUS_HOOK} {hook}\n");
    text += &status_right(command);
    for (option, status) in STYLES {
        text += &format!("set-option -g {option} {}\n", quote(&style(option, status)));
    }
    text + &format!("set-option -g {HOME_OPTION} {}\n", quote(home))
}

/// Saves the options, unless the file was loaded before. In that case they have our values already.
fn save_once() -> String {
    let lines: String =
        saved_options().map(|o| format!("  set-option -gF {} '#{{{o}}}'\n", saved(o))).collect();
    format!("%if \"#{{==:#{{{HOME_OPTION}}},}}\"\n{lines}%endif\n")
}

/// Adds our part at the front of `status-right`, because tmux cuts the end of a long one, and makes room for it. Does nothing if our part is
/// there. The person's configuration may have set both options again before it included this file.
fn status_right(command: &str) -> String {
    let ours = program::quoted(&format!("#({command} {STATUS_MARK}) "));
    let (saved, length) = (saved(LENGTH_OPTION), LENGTH_OPTION);
    format!(
        "set-option -g {STATUS_OPTION} {ours}\n\
         %if \"#{{?#{{m:*{STATUS_MARK}*,#{{status-right}}}},,1}}\"\n  \
         set-option -gF status-right '#{{{STATUS_OPTION}}}#{{status-right}}'\n%endif\n\
         %if \"#{{!=:#{{{length}}},#{{{OUR_LENGTH_OPTION}}}}}\"\n  \
         set-option -gF {saved} '#{{{length}}}'\n  \
         set-option -gF {length} '#{{e|+:#{{{length}}},{FLEET_LINE_COLUMNS}}}'\n  \
         set-option -gF {OUR_LENGTH_OPTION} '#{{{length}}}'\n%endif\n"
    )
}

/// A style that follows the status in an option, and is the person's own without one.
fn style(option: &str, status: &str) -> String {
    LOOKS.iter().rev().fold(format!("#{{E:{}}}", saved(option)), |other, (fleet, look)| {
        format!("#{{?#{{==:#{{{status}}},{}}},{look},{other}}}", word(*fleet))
    })
}

/// For tmux: inside double quotes it expands `$` and a backslash.
fn double_quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$"))
}
