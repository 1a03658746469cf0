//! Types a prompt into the prompt box, and presses Esc. It reads the screen before and after each step.

use std::time::Duration;

use flightdeck_core::session::state_name::StateName;
use flightdeck_core::view::lens::TerminalInput;
use flightdeck_protocol::terminal::Draft;
use tokio::time::{Instant, sleep, timeout};

use super::pane::{self, PaneAddress};
use super::prompt_text::PreparedPrompt;
use super::refusal::RefusalReason;
use super::screen::{self, PromptBox};
use super::tmux::Tmux;

/// How often the screen is read while waiting for the prompt box.
const LOOK_EVERY: Duration = Duration::from_millis(40);
/// Longest time from a paste or key press until the box shows it. 20 KB take 0.1 s.
const BOX_SHOWN_MAX: Duration = Duration::from_secs(4);
/// Longest time from Enter until a hook confirms the prompt: usually 0.2 s, more on a busy machine. All waits together are
/// shorter than the command line's timeout.
const CONFIRMED_MAX: Duration = Duration::from_secs(8);
/// Most rows of a draft that are deleted at once, with two keys per row in each direction.
const CLEAR_ROWS_MAX: usize = 200;
/// Letters at the start of a text that the box must show before Enter is pressed.
const HEAD_LETTERS: usize = 16;
/// What the box shows instead of a paste with many or very long lines.
const FOLDED: [&str; 2] = ["[Pasted text #", "[...Truncated"];

/// The present state of the session.
#[derive(Clone, Debug)]
pub struct SessionNow {
    pub state: StateName,
    pub label: String,
    /// How many prompts hooks have reported. It never decreases, unlike the number on the card.
    pub prompts_heard: u32,
}

pub trait SessionWatch: Send {
    /// `None` if the session is gone.
    fn now(&mut self) -> impl Future<Output = Option<SessionNow>> + Send;
    /// Returns when the session may have changed.
    fn changed(&mut self) -> impl Future<Output = ()> + Send;
}

/// Whether the client confirmed the input in time.
pub type Confirmed = bool;

pub async fn prompt(
    tmux: &impl Tmux,
    place: &PaneAddress,
    typed: &PreparedPrompt,
    draft: Option<Draft>,
    session: &mut impl SessionWatch,
) -> Result<Confirmed, RefusalReason> {
    let before = require_idle(session).await?;
    pane::find_for_typing(tmux, place).await?;
    make_room(tmux, place, free_box(tmux, place).await?, draft).await?;
    paste(tmux, place, &typed.keys).await?;
    if !wait_for_box(tmux, place, |shows| is_shown(&typed.keys, shows)).await? {
        return Err(RefusalReason::NotSent { why: "the box does not show it".into() });
    }
    // Reading the screen took time: a turn may have begun, or the client may have ended and left a shell.
    let still = |refused: RefusalReason| RefusalReason::NotSent { why: refused.to_string() };
    require_idle(session).await.map_err(still)?;
    pane::find_for_typing(tmux, place).await.map_err(still)?;
    send_keys(tmux, place, &["Enter"]).await?;
    match typed.command {
        true => command_taken(tmux, place, &typed.keys).await,
        false => Ok(wait_until(session, |now| now.prompts_heard > before.prompts_heard).await),
    }
}

/// Presses Esc if the session is working.
pub async fn interrupt(
    tmux: &impl Tmux,
    place: &PaneAddress,
    session: &mut impl SessionWatch,
) -> Result<Confirmed, RefusalReason> {
    require_working(session).await?;
    pane::find_for_typing(tmux, place).await?;
    // A dialog has no prompt box, and one Esc is enough.
    if read_prompt_box(tmux, place).await?.is_ok_and(|shows| shows.insert_mode) {
        send_keys(tmux, place, &["Escape"]).await?;
        wait_for_box(tmux, place, |shows| !shows.insert_mode).await?;
        // Esc at an idle prompt would start a rewind.
        require_working(session).await?;
    }
    send_keys(tmux, place, &["Escape"]).await?;
    Ok(wait_until(session, |now| now.state.terminal_input() != Some(TerminalInput::Interrupt)).await)
}

async fn require_idle(session: &mut impl SessionWatch) -> Result<SessionNow, RefusalReason> {
    match session.now().await {
        Some(now) if now.state.terminal_input() == Some(TerminalInput::Prompt) => Ok(now),
        now => Err(RefusalReason::NotIdle { label: label_of(now) }),
    }
}

async fn require_working(session: &mut impl SessionWatch) -> Result<(), RefusalReason> {
    match session.now().await {
        Some(now) if now.state.terminal_input() == Some(TerminalInput::Interrupt) => Ok(()),
        now => Err(RefusalReason::NotWorking { label: label_of(now) }),
    }
}

fn label_of(now: Option<SessionNow>) -> String {
    now.map_or_else(|| "it is gone".to_owned(), |now| now.label)
}

/// False if the condition did not become true in time.
async fn wait_until(session: &mut impl SessionWatch, is_so: impl Fn(&SessionNow) -> bool) -> bool {
    let wait = async {
        loop {
            match session.now().await {
                Some(now) if !is_so(&now) => session.changed().await,
                // The session is gone: it ended or another one replaced it.
                _ => return,
            }
        }
    };
    timeout(CONFIRMED_MAX, wait).await.is_ok()
}

async fn read_prompt_box(
    tmux: &impl Tmux,
    place: &PaneAddress,
) -> Result<Result<PromptBox, String>, RefusalReason> {
    let capture = tmux.call(&place.server, &["capture-pane", "-p", "-e", "-t", &place.pane], None).await?;
    Ok(screen::read(&capture))
}

/// The prompt box, if it can take a prompt now.
async fn free_box(tmux: &impl Tmux, place: &PaneAddress) -> Result<PromptBox, RefusalReason> {
    match read_prompt_box(tmux, place).await? {
        Err(shows) => Err(RefusalReason::NoBox { shows }),
        Ok(PromptBox { shell: true, .. }) => Err(RefusalReason::ShellMode),
        Ok(PromptBox { at_work: true, .. }) => {
            Err(RefusalReason::NotIdle { label: "its terminal shows that it is working".into() })
        }
        Ok(found) => Ok(found),
    }
}

async fn make_room(
    tmux: &impl Tmux,
    place: &PaneAddress,
    found: PromptBox,
    wish: Option<Draft>,
) -> Result<(), RefusalReason> {
    let PromptBox { draft, stashed, .. } = found;
    match wish {
        _ if draft.is_empty() => return Ok(()),
        None => return Err(RefusalReason::Draft { draft }),
        Some(Draft::Keep) if stashed => return Err(RefusalReason::Stashed { draft }),
        Some(Draft::Keep) => send_keys(tmux, place, &["C-s"]).await?,
        Some(Draft::Replace) => {
            // Each row needs two keys: one for its text, one for its line break. Ctrl-C would be a single key, but it ends the
            // client if the person presses it at the same time.
            let times = (2 * draft.lines().count().min(CLEAR_ROWS_MAX)).to_string();
            send_keys(tmux, place, &["-N", &times, "C-u"]).await?;
            send_keys(tmux, place, &["-N", &times, "C-k"]).await?;
        }
    }
    match wait_for_box(tmux, place, |shows| shows.draft.is_empty()).await? {
        true => Ok(()),
        false => Err(RefusalReason::DraftStays { draft }),
    }
}

/// Pastes the text, even a single line: as key presses it would be commands in vim's normal mode.
async fn paste(tmux: &impl Tmux, place: &PaneAddress, keys: &str) -> Result<(), RefusalReason> {
    let buffer = format!("flightdeck-{}-{}", std::process::id(), place.pane.trim_start_matches('%'));
    tmux.call(&place.server, &["load-buffer", "-b", &buffer, "-"], Some(keys.as_bytes())).await?;
    let pasted =
        tmux.call(&place.server, &["paste-buffer", "-p", "-d", "-b", &buffer, "-t", &place.pane], None).await;
    if let Err(error) = pasted {
        // The buffer has the person's text. Fails if the paste has already deleted it.
        let _ = tmux.call(&place.server, &["delete-buffer", "-b", &buffer], None).await;
        return Err(error.into());
    }
    Ok(())
}

async fn send_keys(tmux: &impl Tmux, place: &PaneAddress, keys: &[&str]) -> Result<(), RefusalReason> {
    let args = [&["send-keys", "-t", &place.pane], keys].concat();
    tmux.call(&place.server, &args, None).await?;
    Ok(())
}

/// False if the box did not reach the state in time.
async fn wait_for_box(
    tmux: &impl Tmux,
    place: &PaneAddress,
    looks: impl Fn(&PromptBox) -> bool,
) -> Result<bool, RefusalReason> {
    let end = Instant::now() + BOX_SHOWN_MAX;
    loop {
        if read_prompt_box(tmux, place).await?.is_ok_and(|shows| looks(&shows)) {
            return Ok(true);
        }
        if Instant::now() > end {
            return Ok(false);
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Whether the box shows the pasted text: its beginning, or the placeholder for a long paste. Only letters and digits are
/// compared, because the terminal breaks lines and may replace characters.
fn is_shown(keys: &str, shows: &PromptBox) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).take(HEAD_LETTERS).collect()
    };
    let head = letters(keys);
    !shows.draft.is_empty()
        && (letters(&shows.draft) == head || FOLDED.iter().any(|mark| shows.draft.starts_with(mark)))
        || shows.shell && letters(&shows.draft) == head
}

/// Waits until the box does not show the command any more, because commands fire no hook.
async fn command_taken(
    tmux: &impl Tmux,
    place: &PaneAddress,
    keys: &str,
) -> Result<Confirmed, RefusalReason> {
    let end = Instant::now() + CONFIRMED_MAX;
    while Instant::now() < end {
        match read_prompt_box(tmux, place).await {
            Ok(Ok(shows)) if is_shown(keys, &shows) => sleep(LOOK_EVERY).await,
            // Another box, a dialog, or the client has ended.
            _ => return Ok(true),
        }
    }
    Ok(false)
}

#[cfg(test)]
#[path = "typing_tests.rs"]
mod tests;
