//! Types a prompt into the prompt box, and presses Esc. One careful step at a time: look, type, look, Enter.

use std::time::Duration;

use flightdeck_core::answers::Draft;
use flightdeck_core::lens::{StateName, Takes};
use tokio::time::{Instant, sleep, timeout};

use super::pane::{self, Place};
use super::refused::Refused;
use super::screen::{self, PromptBox};
use super::tmux::Tmux;
use super::words::Typed;

/// What the box shows is looked for this often.
const LOOK_EVERY: Duration = Duration::from_millis(40);
/// From a paste, or a key that moves a draft, to the box that shows it. 20 KB take 0.1 s.
const SHOWN_MAX: Duration = Duration::from_secs(4);
/// From Enter to the client's own word that the prompt came: 0.2 s, more on a busy machine. All waits together are shorter
/// than the command line's patience.
const ARRIVED_MAX: Duration = Duration::from_secs(8);
/// Rows of a draft that are taken away at once; two keys a row in each direction.
const CLEAR_ROWS_MAX: usize = 200;
/// Letters of a text that the box must show before Enter is pressed.
const HEAD_LETTERS: usize = 16;
/// How the box stands for a paste of many lines or of very long ones.
const FOLDED: [&str; 2] = ["[Pasted text #", "[...Truncated"];

/// The session as the daemon knows it at this moment.
#[derive(Clone, Debug)]
pub struct Now {
    pub state: StateName,
    pub label: String,
    pub turn_count: u32,
}

pub trait Watch: Send {
    /// `None` where there is no such session any more.
    fn now(&mut self) -> impl Future<Output = Option<Now>> + Send;
    /// Returns when it may read differently.
    fn changed(&mut self) -> impl Future<Output = ()> + Send;
}

/// Whether the client has confirmed what was typed, in the time we wait for it.
pub type Confirmed = bool;

pub async fn prompt(
    tmux: &impl Tmux,
    place: &Place,
    typed: &Typed,
    draft: Option<Draft>,
    session: &mut impl Watch,
) -> Result<Confirmed, Refused> {
    let before = idle(session).await?;
    pane::find_free(tmux, place).await?;
    make_room(tmux, place, free_box(tmux, place).await?, draft).await?;
    paste(tmux, place, &typed.keys).await?;
    if !wait_for_box(tmux, place, |shows| is_shown(&typed.keys, shows)).await? {
        return Err(Refused::NotSent { why: "the box does not show it".into() });
    }
    // Looking took a moment: a turn may have begun, the client may have ended and left a shell behind.
    let still = |refused: Refused| Refused::NotSent { why: refused.to_string() };
    idle(session).await.map_err(still)?;
    pane::find_free(tmux, place).await.map_err(still)?;
    press(tmux, place, &["Enter"]).await?;
    match typed.command {
        true => taken(tmux, place, &typed.keys).await,
        false => Ok(until(session, |now| now.turn_count > before.turn_count).await),
    }
}

/// Esc, where there is something to interrupt.
pub async fn interrupt(
    tmux: &impl Tmux,
    place: &Place,
    session: &mut impl Watch,
) -> Result<Confirmed, Refused> {
    working(session).await?;
    pane::find_free(tmux, place).await?;
    // In a dialog there is no box, and one Esc is enough.
    if look(tmux, place).await?.is_ok_and(|shows| shows.insert_mode) {
        press(tmux, place, &["Escape"]).await?;
        wait_for_box(tmux, place, |shows| !shows.insert_mode).await?;
        // Esc at an idle prompt would begin a rewind.
        working(session).await?;
    }
    press(tmux, place, &["Escape"]).await?;
    Ok(until(session, |now| now.state.takes() != Some(Takes::Interrupt)).await)
}

async fn idle(session: &mut impl Watch) -> Result<Now, Refused> {
    match session.now().await {
        Some(now) if now.state.takes() == Some(Takes::Prompt) => Ok(now),
        now => Err(Refused::NotIdle { label: label(now) }),
    }
}

async fn working(session: &mut impl Watch) -> Result<(), Refused> {
    match session.now().await {
        Some(now) if now.state.takes() == Some(Takes::Interrupt) => Ok(()),
        now => Err(Refused::NotWorking { label: label(now) }),
    }
}

fn label(now: Option<Now>) -> String {
    now.map_or_else(|| "it is gone".to_owned(), |now| now.label)
}

/// False where it did not come true in time.
async fn until(session: &mut impl Watch, is_so: impl Fn(&Now) -> bool) -> bool {
    let wait = async {
        loop {
            match session.now().await {
                Some(now) if !is_so(&now) => session.changed().await,
                // Gone: it made place for another or ended.
                _ => return,
            }
        }
    };
    timeout(ARRIVED_MAX, wait).await.is_ok()
}

async fn look(tmux: &impl Tmux, place: &Place) -> Result<Result<PromptBox, String>, Refused> {
    let capture = tmux.call(&place.server, &["capture-pane", "-p", "-e", "-t", &place.pane], None).await?;
    Ok(screen::read(&capture))
}

/// A box that takes a prompt now.
async fn free_box(tmux: &impl Tmux, place: &Place) -> Result<PromptBox, Refused> {
    match look(tmux, place).await? {
        Err(shows) => Err(Refused::NoBox { shows }),
        Ok(PromptBox { shell: true, .. }) => Err(Refused::ShellMode),
        Ok(PromptBox { at_work: true, .. }) => {
            Err(Refused::NotIdle { label: "its terminal says that it is at work".into() })
        }
        Ok(found) => Ok(found),
    }
}

async fn make_room(
    tmux: &impl Tmux,
    place: &Place,
    found: PromptBox,
    wish: Option<Draft>,
) -> Result<(), Refused> {
    let PromptBox { draft, stashed, .. } = found;
    match wish {
        _ if draft.is_empty() => return Ok(()),
        None => return Err(Refused::Draft { draft }),
        Some(Draft::Keep) if stashed => return Err(Refused::Stashed { draft }),
        Some(Draft::Keep) => press(tmux, place, &["C-s"]).await?,
        Some(Draft::Replace) => {
            // To the start and to the end of a row, then over its edge. Ctrl-C would be one key, but ends a client whose
            // person presses it too.
            let times = (2 * draft.lines().count().min(CLEAR_ROWS_MAX)).to_string();
            press(tmux, place, &["-N", &times, "C-u"]).await?;
            press(tmux, place, &["-N", &times, "C-k"]).await?;
        }
    }
    match wait_for_box(tmux, place, |shows| shows.draft.is_empty()).await? {
        true => Ok(()),
        false => Err(Refused::DraftStays { draft }),
    }
}

/// As one paste, a single line too: as keys it would be commands in vim's normal mode.
async fn paste(tmux: &impl Tmux, place: &Place, keys: &str) -> Result<(), Refused> {
    let buffer = format!("flightdeck-{}-{}", std::process::id(), place.pane.trim_start_matches('%'));
    tmux.call(&place.server, &["load-buffer", "-b", &buffer, "-"], Some(keys.as_bytes())).await?;
    let pasted =
        tmux.call(&place.server, &["paste-buffer", "-p", "-d", "-b", &buffer, "-t", &place.pane], None).await;
    if let Err(error) = pasted {
        // It holds the person's text; usually the paste has taken it away.
        let _ = tmux.call(&place.server, &["delete-buffer", "-b", &buffer], None).await;
        return Err(error.into());
    }
    Ok(())
}

async fn press(tmux: &impl Tmux, place: &Place, keys: &[&str]) -> Result<(), Refused> {
    let args = [&["send-keys", "-t", &place.pane], keys].concat();
    tmux.call(&place.server, &args, None).await?;
    Ok(())
}

/// False where the box does not come to look so.
async fn wait_for_box(
    tmux: &impl Tmux,
    place: &Place,
    looks: impl Fn(&PromptBox) -> bool,
) -> Result<bool, Refused> {
    let end = Instant::now() + SHOWN_MAX;
    loop {
        if look(tmux, place).await?.is_ok_and(|shows| looks(&shows)) {
            return Ok(true);
        }
        if Instant::now() > end {
            return Ok(false);
        }
        sleep(LOOK_EVERY).await;
    }
}

/// The box holds what was pasted: its beginning, or the client's stand-in for a long paste. Only letters and digits are
/// compared; rows are broken and characters drawn as the terminal can.
fn is_shown(keys: &str, shows: &PromptBox) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).take(HEAD_LETTERS).collect()
    };
    let head = letters(keys);
    !shows.draft.is_empty()
        && (letters(&shows.draft) == head || FOLDED.iter().any(|mark| shows.draft.starts_with(mark)))
        || shows.shell && letters(&shows.draft) == head
}

/// A command fires no hook: it is taken when the box does not hold it any more.
async fn taken(tmux: &impl Tmux, place: &Place, keys: &str) -> Result<Confirmed, Refused> {
    let end = Instant::now() + ARRIVED_MAX;
    while Instant::now() < end {
        match look(tmux, place).await {
            Ok(Ok(shows)) if is_shown(keys, &shows) => sleep(LOOK_EVERY).await,
            // Another box, a dialog, or no client any more.
            _ => return Ok(true),
        }
    }
    Ok(false)
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
