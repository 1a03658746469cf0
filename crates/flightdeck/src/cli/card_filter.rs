//! Which sessions a script asks for: `--group`, `--needs-you`, `--state`, `--project`.

use std::path::Path;

use flightdeck_core::session::state_name::{Group, StateName};
use flightdeck_core::view::card::Card;

#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct CardFilter {
    /// Only the sessions of this group
    #[arg(long, value_parser = ["needs-you", "running", "done"])]
    group: Option<String>,
    /// Only the sessions that need you, the same as `--group needs-you`
    #[arg(long, conflicts_with = "group")]
    needs_you: bool,
    /// Only the sessions in one of these states, such as needs_permission,idle
    #[arg(long, value_delimiter = ',', value_parser = state, value_name = "STATE")]
    state: Vec<StateName>,
    /// Only the sessions of this project: its name, or a folder at or above the session's folder
    #[arg(long, value_name = "NAME|DIR")]
    project: Option<String>,
}

/// A state as it is on the wire; `-` counts as `_`.
fn state(word: &str) -> Result<StateName, String> {
    let name = serde_json::Value::from(word.replace('-', "_"));
    serde_json::from_value(name).map_err(|error| error.to_string())
}

impl CardFilter {
    /// Whether the person asked for ended sessions.
    pub(super) fn names_done(&self) -> bool {
        self.wanted_group() == Some(Group::Done) || self.state.contains(&StateName::SessionEnded)
    }

    /// Whether every session is wanted.
    pub(super) fn is_empty(&self) -> bool {
        self.wanted_group().is_none() && self.state.is_empty() && self.project.is_none()
    }

    pub(super) fn lists(&self, card: &Card) -> bool {
        self.wanted_group().is_none_or(|group| card.agent_state.group == group)
            && (self.state.is_empty() || self.state.contains(&card.agent_state.state))
            && self.project.as_deref().is_none_or(|project| is_in_project(card, project))
    }

    fn wanted_group(&self) -> Option<Group> {
        match self.group.as_deref() {
            _ if self.needs_you => Some(Group::NeedsYou),
            Some("needs-you") => Some(Group::NeedsYou),
            Some("running") => Some(Group::Running),
            Some(_) => Some(Group::Done),
            None => None,
        }
    }
}

fn is_in_project(card: &Card, wanted: &str) -> bool {
    let below = |path: &String| Path::new(wanted).is_absolute() && Path::new(path).starts_with(wanted);
    card.project.name == wanted || card.project.path.as_ref().is_some_and(below)
}
