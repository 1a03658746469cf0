use super::*;
use crate::terminal::fake_tmux::{FakeTmux, pane_of_this_process};
use crate::terminal::prompt_text;

const RULE: &str = "────────";

fn shows(inside: &str) -> String {
    format!("● Hello\n{RULE}\n❯\u{a0}{inside}\n{RULE}\n  ⏸ manual mode on\n")
}

fn terminal(screens: &[&str]) -> FakeTmux {
    let tmux = FakeTmux::new();
    tmux.answer("display-message", &format!("%5,$1,@3,{},0,0,0,0\n", std::process::id()));
    screens.iter().for_each(|screen| tmux.answer("capture-pane", screen));
    tmux
}

/// A session that returns these states, one per call; the last one stays.
struct Scripted(Vec<(StateName, u32)>);

impl SessionWatch for Scripted {
    async fn now(&mut self) -> Option<SessionNow> {
        let (state, prompts_heard) = *self.0.first()?;
        if self.0.len() > 1 {
            self.0.remove(0);
        }
        Some(SessionNow { state, label: format!("{state:?}"), prompts_heard })
    }
    async fn changed(&mut self) {
        // Time must pass, because the wait for a change has a time limit.
        sleep(LOOK_EVERY).await;
    }
}

use StateName::{Acting, Idle, NeedsPermission};

/// Idle at first, then the prompt was submitted.
fn idle_then_prompted() -> Scripted {
    Scripted(vec![(Idle, 3), (Idle, 3), (Idle, 3), (Acting, 4)])
}

async fn type_prompt(
    tmux: &FakeTmux,
    text: &str,
    draft: Option<Draft>,
    mut session: Scripted,
) -> Result<bool, String> {
    let typed = prompt_text::prepare(text, None).unwrap();
    let typed = prompt(tmux, &pane_of_this_process(tmux), &typed, draft, &mut session).await;
    typed.map_err(|refused| refused.code().as_str().to_owned())
}

fn keys(tmux: &FakeTmux) -> Vec<String> {
    let ours = format!("flightdeck-{}-5", std::process::id());
    tmux.calls().iter().map(|call| call.replace(&ours, "B")).collect()
}

const PASTE: [&str; 3] =
    ["load-buffer -b B - <fix the build>", "paste-buffer -p -d -b B -t %5", "send-keys -t %5 Enter"];

#[tokio::test(start_paused = true)]
async fn a_prompt_is_pasted_checked_on_screen_and_sent() {
    let tmux = terminal(&[&shows(""), &shows(""), &shows("fix the build")]);
    assert_eq!(type_prompt(&tmux, "fix the build", None, idle_then_prompted()).await, Ok(true));
    assert_eq!(keys(&tmux), PASTE);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_without_confirmation_returns_false() {
    let tmux = terminal(&[&shows(""), &shows("fix the build")]);
    assert_eq!(type_prompt(&tmux, "fix the build", None, Scripted(vec![(Idle, 3)])).await, Ok(false));
}

#[tokio::test(start_paused = true)]
async fn no_key_is_pressed_unless_the_session_is_idle_and_the_box_is_there() {
    let tmux = terminal(&[&shows("")]);
    for state in [Acting, NeedsPermission, StateName::WaitingBackground, StateName::SessionEnded] {
        let told = type_prompt(&tmux, "go", None, Scripted(vec![(state, 3)])).await;
        assert_eq!(told, Err("not_idle".into()), "{state:?}");
    }
    for (screen, code) in [
        ("  ▔▔▔▔\n   Select model\n   ❯ 1. Default\n".to_owned(), "no_prompt_box"),
        (shows("").replace('❯', "!"), "shell_mode"),
        (shows("").replace("manual mode on", "manual mode on · esc to interrupt"), "not_idle"),
        (shows("half a thought"), "draft"),
    ] {
        let tmux = terminal(&[&screen]);
        let told = type_prompt(&tmux, "go", None, idle_then_prompted()).await;
        assert_eq!((told, keys(&tmux)), (Err(code.into()), vec![]), "{screen}");
    }
}

#[tokio::test(start_paused = true)]
async fn enter_is_not_pressed_if_the_box_does_not_show_the_text() {
    let tmux = terminal(&[&shows(""), &shows(""), &shows("something else")]);
    let told = type_prompt(&tmux, "fix the build", None, idle_then_prompted()).await;
    assert_eq!(
        (told, keys(&tmux)),
        (Err("not_sent".into()), PASTE[..2].iter().map(|s| s.to_string()).collect())
    );
}

#[tokio::test(start_paused = true)]
async fn enter_is_not_pressed_if_a_turn_began_meanwhile() {
    let tmux = terminal(&[&shows(""), &shows("fix the build")]);
    let told = type_prompt(&tmux, "fix the build", None, Scripted(vec![(Idle, 3), (Acting, 4)])).await;
    assert_eq!(told, Err("not_sent".into()));
    assert!(!keys(&tmux).iter().any(|call| call.contains("Enter")));
}

#[tokio::test(start_paused = true)]
async fn a_draft_is_stashed_or_deleted_as_the_person_chose() {
    let screens = [&shows("one\n  two"), &shows(""), &shows("fix the build")];
    let tmux = terminal(&screens.map(String::as_str));
    assert_eq!(type_prompt(&tmux, "fix the build", Some(Draft::Keep), idle_then_prompted()).await, Ok(true));
    assert_eq!(keys(&tmux), [&["send-keys -t %5 C-s"][..], &PASTE].concat());

    let tmux = terminal(&screens.map(String::as_str));
    assert_eq!(
        type_prompt(&tmux, "fix the build", Some(Draft::Replace), idle_then_prompted()).await,
        Ok(true)
    );
    assert_eq!(keys(&tmux)[..2], ["send-keys -t %5 -N 4 C-u", "send-keys -t %5 -N 4 C-k"]);

    // The draft cannot be moved, so nothing is pasted after it.
    let tmux = terminal(&[&shows("one")]);
    let told = type_prompt(&tmux, "fix the build", Some(Draft::Keep), idle_then_prompted()).await;
    assert_eq!((told, keys(&tmux)), (Err("draft".into()), vec!["send-keys -t %5 C-s".to_owned()]));

    // A second stash would replace the first.
    let stashed = format!("      › stashed\n{RULE}\n❯\u{a0}one\n{RULE}\n");
    let tmux = terminal(&[&stashed]);
    let told = type_prompt(&tmux, "fix the build", Some(Draft::Keep), idle_then_prompted()).await;
    assert_eq!((told, keys(&tmux)), (Err("draft".into()), vec![]));
}

#[test]
fn a_text_is_recognised_in_the_box_by_its_letters_or_by_the_placeholder() {
    let shown = |keys: &str, draft: &str| {
        let prompt_box = PromptBox {
            draft: draft.into(),
            shell: false,
            stashed: false,
            insert_mode: false,
            at_work: false,
        };
        is_shown(keys, &prompt_box)
    };
    assert!(shown("a\tb c", "a    b c"));
    assert!(shown(&"long ".repeat(9000), "[Pasted text #2]"));
    assert!(shown("日本語", "日本語"));
    assert!(shown("one two three four five six", "one two\nthree fo\nur five six"));
    assert!(!shown("fix", ""));
    assert!(!shown("fix the build", "fix the"));
}

#[tokio::test(start_paused = true)]
async fn esc_is_pressed_once_or_twice_in_vims_insert_mode() {
    let working = || Scripted(vec![(Acting, 3), (Acting, 3), (Idle, 3)]);
    let tmux = terminal(&[&shows("")]);
    assert!(
        interrupt(&tmux, &pane_of_this_process(&tmux), &mut Scripted(vec![(Acting, 3), (Idle, 3)]))
            .await
            .unwrap()
    );
    assert_eq!(keys(&tmux), ["send-keys -t %5 Escape"]);

    let insert = shows("").replace("⏸", "-- INSERT -- ⏸");
    let tmux = terminal(&[&insert, &insert, &shows("")]);
    assert!(interrupt(&tmux, &pane_of_this_process(&tmux), &mut working()).await.unwrap());
    assert_eq!(keys(&tmux), ["send-keys -t %5 Escape", "send-keys -t %5 Escape"]);

    // The turn ended meanwhile: a second Esc would start a rewind.
    let tmux = terminal(&[&insert, &shows("")]);
    let refused = interrupt(&tmux, &pane_of_this_process(&tmux), &mut Scripted(vec![(Acting, 3), (Idle, 3)]))
        .await
        .unwrap_err();
    assert_eq!((refused.code().as_str(), keys(&tmux).len()), ("not_working", 1));

    let tmux = terminal(&[&shows("")]);
    let refused =
        interrupt(&tmux, &pane_of_this_process(&tmux), &mut Scripted(vec![(Idle, 3)])).await.unwrap_err();
    assert_eq!((refused.code().as_str(), keys(&tmux).len()), ("not_working", 0));
}
