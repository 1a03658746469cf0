//! What a step expects on the screen, and which states of the board agree with it.

use std::time::Duration;

use flightdeck_sim::screen::Screen;
use serde_json::Value;

/// The states of the board that agree with a screen. If the screen is ambiguous, the step names the states.
pub(super) fn allowed(screen: &Screen) -> &'static [&'static str] {
    match screen {
        Screen::Starting | Screen::Unknown => &[],
        Screen::Idle => &["idle"],
        Screen::Working => &["thinking", "acting", "delegating", "compacting"],
        Screen::Background => &["waiting_background"],
        Screen::Permission { .. } => &["needs_permission"],
        Screen::Question => &["awaiting_input"],
        Screen::Plan => &["awaiting_approval"],
        // The person opened a menu: the state of the session does not change.
        Screen::Dialog => &["idle", "interrupted", "error"],
        Screen::Interrupted => &["interrupted"],
        Screen::Error => &["error"],
        Screen::Exited => &["session_ended"],
    }
}

/// How the card differs from a permission dialog on the screen: another tool or another agent.
pub(super) fn ask_differs(screen: &Screen, card: &Value) -> Option<String> {
    let Screen::Permission { tool, from_agent } = screen else { return None };
    let label = card["agent_state"]["label"].as_str().unwrap_or_default();
    let for_tool = format!("ermission for {tool}");
    let is_said = label.contains(&for_tool) && label.starts_with("Permission for ") != *from_agent;
    let asks: Vec<&Value> =
        card["asks"].as_array().into_iter().flatten().filter(|a| is_unanswered(a)).collect();
    let is_it = |ask: &&Value| ask["tool_name"] == **tool && ask["agent_id"].is_string() == *from_agent;
    if is_said && asks.iter().any(is_it) {
        return None;
    }
    Some(format!("the screen shows {screen:?}, the card says {label:?} and has {asks:?}"))
}

/// An ask that was answered nowhere. The board may have closed it while the terminal still asks.
fn is_unanswered(ask: &Value) -> bool {
    ask["resolution"]["by"].is_null()
}

#[derive(Clone, Debug)]
pub(super) struct Expect {
    pub(super) screen: Screen,
    /// The states that agree, in place of those in the table: fewer states, or states for an ambiguous screen.
    pub(super) board: Option<&'static [&'static str]>,
    pub(super) within: Duration,
    /// The board may lag one step behind and agree by chance.
    pub(super) behind: bool,
}

impl Expect {
    fn screen(screen: Screen) -> Self {
        Self { screen, board: None, within: Duration::from_secs(20), behind: false }
    }

    pub(super) fn board(self, states: &'static [&'static str]) -> Self {
        Self { board: Some(states), ..self }
    }

    /// No hook reports this state: the board follows the client's registry.
    pub(super) fn by_registry(self) -> Self {
        Self { behind: true, ..self }
    }

    pub(super) fn states(&self) -> &'static [&'static str] {
        self.board.unwrap_or_else(|| allowed(&self.screen))
    }
}

pub(super) fn idle() -> Expect {
    Expect::screen(Screen::Idle)
}

pub(super) fn working() -> Expect {
    Expect::screen(Screen::Working)
}

pub(super) fn background() -> Expect {
    Expect::screen(Screen::Background)
}

pub(super) fn permission(tool: &str) -> Expect {
    Expect::screen(Screen::Permission { tool: tool.into(), from_agent: false })
}

pub(super) fn agent_permission(tool: &str) -> Expect {
    Expect::screen(Screen::Permission { tool: tool.into(), from_agent: true })
}

pub(super) fn question() -> Expect {
    Expect::screen(Screen::Question)
}

pub(super) fn plan() -> Expect {
    Expect::screen(Screen::Plan)
}

pub(super) fn dialog() -> Expect {
    Expect::screen(Screen::Dialog)
}

/// Esc fires no hook, so the board learns of it from the registry.
pub(super) fn interrupted() -> Expect {
    Expect::screen(Screen::Interrupted)
}

pub(super) fn error() -> Expect {
    Expect::screen(Screen::Error)
}

pub(super) fn exited() -> Expect {
    Expect::screen(Screen::Exited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn card(label: &str, tool: &str, agent: Option<&str>, resolution: Value) -> Value {
        let ask = json!({"tool_name": tool, "agent_id": agent, "resolution": resolution});
        json!({"agent_state": {"label": label}, "asks": [ask]})
    }

    #[test]
    fn a_card_that_names_the_tool_and_its_owner_agrees() {
        let bash = card("Permission for Bash: ls", "Bash", None, Value::Null);
        assert_eq!(ask_differs(&permission("Bash").screen, &bash), None);
        let of_agent = card("Explore needs permission for Bash", "Bash", Some("a1"), Value::Null);
        assert_eq!(ask_differs(&agent_permission("Bash").screen, &of_agent), None);
        let given_up = json!({"how": "timed_out", "by": null});
        let given_up = card("Permission for Bash: ls", "Bash", None, given_up);
        assert_eq!(ask_differs(&permission("Bash").screen, &given_up), None);
    }

    #[test]
    fn another_tool_another_owner_and_no_open_ask_are_told() {
        let asks = permission("Bash").screen;
        let differs = |card: Value| ask_differs(&asks, &card).is_some();
        assert!(differs(card("Permission for Bash: ls", "Read", None, Value::Null)));
        assert!(differs(card("Permission for Read: a.txt", "Bash", None, Value::Null)));
        assert!(differs(card("Permission for Bash: ls", "Bash", Some("a1"), Value::Null)));
        assert!(differs(card("Explore needs permission for Bash", "Bash", None, Value::Null)));
        assert!(differs(card(
            "Permission for Bash: ls",
            "Bash",
            None,
            json!({"how": "allowed", "by": "web"})
        )));
        let own = card("Permission for Bash: ls", "Bash", None, Value::Null);
        assert!(ask_differs(&agent_permission("Bash").screen, &own).is_some());
        assert_eq!(ask_differs(&Screen::Idle, &json!({})), None);
    }
}
