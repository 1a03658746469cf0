//! Writes the status of panes into options of their tmux server. The included file of `flightdeck tmux install` turns them into
//! colours, so a server that did not load it is left alone.

use std::collections::BTreeMap;
use std::path::Path;

use flightdeck_core::view::lens::FleetStatus;

use crate::terminal::pane::check_own_socket;
use crate::terminal::tmux::{Tmux, TmuxError};

/// Set by the included file to the Flightdeck home whose daemon writes the other two.
pub const HOME_OPTION: &str = "@flightdeck_home";
/// The status of a pane.
pub const PANE_OPTION: &str = "@flightdeck_pane";
/// The most urgent status in a tmux window.
pub const WINDOW_OPTION: &str = "@flightdeck_window";

/// The status as it is written into an option.
pub fn word(status: FleetStatus) -> &'static str {
    match status {
        FleetStatus::Error => "error",
        FleetStatus::Attention => "attention",
        FleetStatus::Working => "working",
        FleetStatus::Checked => "checked",
        FleetStatus::Done => "done",
    }
}

/// Writes what differs from `shown`, the status of each pane of this server. So a pane that an earlier daemon left behind is
/// corrected too.
pub(super) async fn paint(
    tmux: &impl Tmux,
    server: &Path,
    home: &Path,
    shown: impl Fn(&str) -> Option<FleetStatus> + Send,
) -> Result<(), TmuxError> {
    // A hook payload can name any socket.
    if check_own_socket(server).is_err() {
        return Ok(());
    }
    let format =
        format!("#{{window_id}} #{{pane_id}} #{{{PANE_OPTION}}} #{{{WINDOW_OPTION}}} #{{{HOME_OPTION}}}");
    let listed = tmux.call(server, &["list-panes", "-a", "-F", &format], None).await?;
    let commands = commands(&windows(&listed, &home.to_string_lossy()), shown);
    if commands.is_empty() {
        return Ok(());
    }
    let words: Vec<&str> = commands.iter().map(String::as_str).collect();
    tmux.call(server, &words, None).await.map(drop)
}

/// A tmux window as its server describes it.
#[derive(Debug, Default)]
struct TmuxWindow<'a> {
    /// The status that is written in the window; empty if none is.
    written: &'a str,
    /// The panes of the window, each with the status that is written in it.
    panes: BTreeMap<&'a str, &'a str>,
}

/// The windows by id. Empty if the server does not want the colours of this home.
fn windows<'a>(listed: &'a str, home: &str) -> BTreeMap<&'a str, TmuxWindow<'a>> {
    let mut windows: BTreeMap<&str, TmuxWindow<'_>> = BTreeMap::new();
    for line in listed.lines() {
        let fields: Vec<&str> = line.splitn(5, ' ').collect();
        if let [window, pane, pane_status, window_status, wanted] = fields.as_slice()
            && *wanted == home
        {
            let window = windows.entry(window).or_default();
            window.written = window_status;
            window.panes.insert(pane, pane_status);
        }
    }
    windows
}

/// One call of tmux: a `set-option` for each pane and window whose status differs.
fn commands(
    windows: &BTreeMap<&str, TmuxWindow<'_>>,
    shown: impl Fn(&str) -> Option<FleetStatus>,
) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for (id, window) in windows {
        for (pane, written) in &window.panes {
            push_if_other(&mut commands, ["-p", pane, PANE_OPTION], written, shown(pane));
        }
        let worst = window.panes.keys().filter_map(|pane| shown(pane)).min();
        push_if_other(&mut commands, ["-w", id, WINDOW_OPTION], window.written, worst);
    }
    commands
}

fn push_if_other(
    commands: &mut Vec<String>,
    [scope, target, name]: [&str; 3],
    written: &str,
    status: Option<FleetStatus>,
) {
    if written == status.map_or("", word) {
        return;
    }
    let mut words = if commands.is_empty() { vec![] } else { vec![";"] };
    words.extend(["set-option", scope, "-q", "-t", target]);
    match status {
        Some(status) => words.extend([name, word(status)]),
        None => words.extend(["-u", name]),
    }
    commands.extend(words.into_iter().map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;
    use FleetStatus::{Attention, Working};

    fn painted(listed: &str, shown: &[(&str, FleetStatus)]) -> String {
        let status = |pane: &str| shown.iter().find(|(name, _)| *name == pane).map(|(_, status)| *status);
        let commands = commands(&windows(listed, "/h d"), status).join(" ");
        commands.replace("set-option", "set").replace(" -q -t", "")
    }

    #[test]
    fn a_window_has_the_worst_status_of_its_panes() {
        let listed = "@1 %5   /h d\n@1 %6   /h d\n@2 %50   /h d\n";
        assert_eq!(
            painted(listed, &[("%5", Working), ("%6", Attention)]),
            "set -p %5 @flightdeck_pane working ; set -p %6 @flightdeck_pane attention ; \
             set -w @1 @flightdeck_window attention"
        );
    }

    #[test]
    fn only_what_differs_is_written() {
        let listed = "@1 %5 working attention /h d\n@1 %6 attention attention /h d\n";
        assert_eq!(painted(listed, &[("%5", Working), ("%6", Attention)]), "");
        assert_eq!(
            painted(listed, &[("%5", Working)]),
            "set -p %6 -u @flightdeck_pane ; set -w @1 @flightdeck_window working"
        );
    }

    #[test]
    fn a_server_without_the_included_file_or_of_another_home_is_left_alone() {
        for listed in ["@1 %5   \n", "@1 %5   /h\n"] {
            assert_eq!(painted(listed, &[("%5", Working)]), "", "{listed:?}");
        }
    }
}
