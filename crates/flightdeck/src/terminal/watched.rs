//! Whether a person is looking at a pane.

use super::pane::{self, PaneAddress};
use super::refusal::RefusalReason;
use super::tmux::Tmux;

/// The pane that each client of the server shows. `client_flags` has `focused` unless the terminal said that it lost the
/// focus; a tmux before 3.1 prints nothing there.
const FORMAT: &str = "#{client_control_mode} #{pane_id} #{client_flags}";

/// Whether a tmux client shows this pane as its active one, in a terminal that has the focus as far as tmux knows.
pub async fn is_watched(tmux: &impl Tmux, place: &PaneAddress) -> Result<bool, RefusalReason> {
    pane::find(tmux, place).await?;
    let clients = tmux.call(&place.server, &["list-clients", "-F", FORMAT], None).await?;
    Ok(clients.lines().any(|line| {
        let mut fields = line.splitn(3, ' ');
        let (control, shown) = (fields.next(), fields.next());
        let flags = fields.next().unwrap_or_default();
        let focused = flags.is_empty() || flags.split(',').any(|flag| flag == "focused");
        control != Some("1") && shown == Some(place.pane.as_str()) && focused
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::fake_tmux::{FakeTmux, pane_of_this_process};

    #[tokio::test]
    async fn a_pane_is_watched_if_a_focused_client_shows_it() {
        for (clients, expected) in [
            ("", false),
            ("0 %5 attached,focused,UTF-8\n", true),
            ("0 %5 attached,UTF-8\n", false),
            ("0 %6 attached,focused\n", false),
            ("1 %5 attached,focused,control-mode\n", false),
            ("0 %5 \n", true),
            ("0 %6 attached,focused\n0 %5 attached,focused\n", true),
        ] {
            let tmux = FakeTmux::new();
            tmux.answer("display-message", &format!("%5,$1,@3,{},0,0,0,0\n", std::process::id()));
            tmux.answer("list-clients", clients);
            assert_eq!(
                is_watched(&tmux, &pane_of_this_process(&tmux)).await.unwrap(),
                expected,
                "{clients:?}"
            );
        }
    }
}
