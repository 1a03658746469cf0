//! Prompts that the client writes itself. They arrive as UserPromptSubmit like those of a person.
//!
//! `cargo xtask contract` searches every text of [`CLIENT_NOTICES`] in the client's program and fails if one is gone.

/// One kind of prompt that no person typed: how it begins, and a text that follows later in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientNotice {
    /// Empty if the notice begins with a number.
    pub begins: &'static str,
    /// Empty if the beginning is enough.
    pub then: &'static str,
}

const fn tag(begins: &'static str) -> ClientNotice {
    ClientNotice { begins, then: "" }
}

const fn counted(then: &'static str) -> ClientNotice {
    ClientNotice { begins: "", then }
}

/// Every notice known of the pinned client.
pub const CLIENT_NOTICES: [ClientNotice; 7] = [
    tag("<task-notification>"),
    tag("<system-reminder>"),
    tag("<wake"),
    // The person stopped one background agent, or several at once.
    ClientNotice { begins: "Background agent \"", then: "\" was stopped by the user." },
    counted(" background agents were stopped by the user: "),
    // Agents and tasks that an interrupt parked or ended.
    counted(" interrupted by the user and parked: "),
    counted(" stopped by the user: "),
];

/// How notices of older clients begin that the pinned client no longer writes.
const OLDER: [&str; 1] = ["<cron"];

/// Whether the client wrote this prompt itself.
pub fn is_client_notice(prompt: &str) -> bool {
    let prompt = prompt.trim_start();
    let counts = prompt.trim_start_matches(|c: char| c.is_ascii_digit());
    let is = |notice: &ClientNotice| match notice {
        // "2 background tasks were stopped by the user: …"
        ClientNotice { begins: "", then } => {
            counts.len() < prompt.len() && counts.starts_with(" background ") && counts.contains(then)
        }
        ClientNotice { begins, then } => prompt.starts_with(begins) && prompt.contains(then),
    };
    CLIENT_NOTICES.iter().any(is) || OLDER.iter().any(|begins| prompt.starts_with(begins))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_writes_is_told_from_what_a_person_writes() {
        for notice in [
            "<task-notification>\n<task-id>a</task-id>",
            "  <system-reminder>x",
            "<wake reason=\"external-event\">",
            "<cron>",
            "Background agent \"Count files\" was stopped by the user.",
            "2 background agents were stopped by the user: \"a\", \"b\".",
            "1 background agent was interrupted by the user and parked: \"a\". Progress is preserved",
            "3 background tasks were stopped by the user: \"a\".",
        ] {
            assert!(is_client_notice(notice), "{notice}");
        }
        for typed in [
            "fix the bug",
            "Background agent \"x\" does nothing, why?",
            "why does it say: 2 background agents were stopped by the user: \"a\"?",
            "2 files were stopped by the user: why?",
            "the <task-notification> tag",
        ] {
            assert!(!is_client_notice(typed), "{typed}");
        }
    }
}
