//! A session's repository and tasks are on its card.

use std::fs;
use std::path::{Path, PathBuf};

use flightdeck_core::log::from_registry;
use serde_json::{Value, json};

use super::follow_tests::{EngineWithTranscripts, Stage, answer, block_on, out};
use crate::clock;

fn replace_file(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // As git does: a new file replaces the old one.
    fs::write(path.with_extension("lock"), text).unwrap();
    fs::rename(path.with_extension("lock"), path).unwrap();
}

/// The repository `api` on branch `one`, and its worktree `fix` on branch `two`.
fn repository_with_worktree(folder: &Path) -> (PathBuf, PathBuf) {
    let (api, fix) = (folder.join("api"), folder.join("fix"));
    replace_file(&api.join(".git/HEAD"), "ref: refs/heads/one\n");
    replace_file(&api.join(".git/worktrees/fix/HEAD"), "ref: refs/heads/two\n");
    replace_file(&api.join(".git/worktrees/fix/commondir"), "../..\n");
    replace_file(&fix.join(".git"), &format!("gitdir: {}/.git/worktrees/fix\n", api.display()));
    (api, fix)
}

#[test]
fn a_card_shows_the_branch_of_the_current_working_directory() {
    block_on(async {
        let stage = Stage::new();
        let (api, fix) = repository_with_worktree(stage.folder.path());
        let daemon = stage.daemon().await;
        daemon.hook_in(&stage, "s", "SessionStart", &api).await;
        let card = daemon.until("s", |c| c["git_branch"] == "one").await;
        assert_eq!((&card["tokens"], &card["project"]["worktree"]), (&Value::Null, &Value::Null));
        // The person changes the branch in another terminal: nothing but the disk tells.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        replace_file(&api.join(".git/HEAD"), "ref: refs/heads/three\n");
        daemon.until("s", |c| c["git_branch"] == "three").await;
        daemon.hook_in(&stage, "s", "UserPromptSubmit", &fix).await;
        let card = daemon.until("s", |c| c["git_branch"] == "two").await;
        assert_eq!((&card["project"]["worktree"], &card["project"]["name"]), (&json!("fix"), &json!("api")));
        replace_file(&api.join(".git/worktrees/fix/HEAD"), "ref: refs/heads/four\n");
        daemon.until("s", |c| c["git_branch"] == "four").await;
        daemon.stop().await;
    });
}

#[test]
fn a_worktree_counts_as_its_project() {
    block_on(async {
        let stage = Stage::new();
        let (api, fix) = repository_with_worktree(stage.folder.path());
        let daemon = stage.daemon().await;
        daemon.hook_in(&stage, "s", "SessionStart", &fix.join("web")).await;
        let card = daemon.until("s", |c| c["git_branch"] == "two").await;
        let expected = json!({"name": "web", "path": api.join("web"), "worktree": "fix"});
        assert_eq!(card["project"], expected);
        daemon.stop().await;
    });
}

#[test]
fn the_clients_own_task_list_is_on_the_card() {
    block_on(async {
        let stage = Stage::new();
        Stage::write(&stage.main("s"), &answer("a", 1, 5));
        let tasks = stage.folder.path().join("tasks/s");
        replace_file(&tasks.join("1.json"), r#"{"id":"1","subject":"Write it","status":"in_progress"}"#);
        let daemon = stage.daemon().await;
        daemon.hook(&stage, "s", "UserPromptSubmit").await;
        let card = daemon.until("s", |c| c["progress_items"][0]["status"] == "in_progress").await;
        assert_eq!(
            card["progress_items"],
            json!([{"id": "1", "title": "Write it", "status": "in_progress"}])
        );
        replace_file(&tasks.join("1.json"), r#"{"id":"1","subject":"Write it","status":"completed"}"#);
        replace_file(&tasks.join("2.json"), r#"{"id":"2","subject":"Test it","status":"pending"}"#);
        daemon.hook(&stage, "s", "Stop").await;
        let card = daemon.until("s", |c| c["progress_items"][1]["id"] == "2").await;
        assert_eq!(card["progress_items"][0]["status"], "completed");
        daemon.stop().await;
    });
}

async fn registry_reports(daemon: &EngineWithTranscripts, session: &str, cwd: &str) {
    let now = clock::now().as_millis();
    let entry = json!({"pid": 1, "procStart": "1", "sessionId": session, "cwd": cwd, "startedAt": now,
        "status": "busy", "statusUpdatedAt": now});
    let record = from_registry::registry_record(entry.as_object().unwrap(), clock::fresh_id()).unwrap();
    daemon.engine.append(vec![record]).await.unwrap();
}

#[test]
fn a_session_that_only_the_registry_knows_gets_its_numbers_too() {
    block_on(async {
        let stage = Stage::new();
        Stage::write(&stage.main("s"), &answer("a", 1, 5));
        let daemon = stage.daemon().await;
        registry_reports(&daemon, "s", "/w/api").await;
        daemon.until("s", |c| *out(c) == json!(5)).await;
        daemon.stop().await;
    });
}

#[test]
fn a_session_that_moved_into_a_worktree_before_it_was_reported_gets_its_numbers_too() {
    block_on(async {
        let stage = Stage::new();
        Stage::write(&stage.main("s"), &answer("a", 1, 5));
        let daemon = stage.daemon().await;
        let worktree = "/w/api/.claude/worktrees/lab";
        registry_reports(&daemon, "s", worktree).await;
        daemon.until("s", |c| *out(c) == json!(5)).await;
        // Reported again: a guessed path must not replace the path that was found.
        registry_reports(&daemon, "s", worktree).await;
        Stage::write(&stage.main("s"), &answer("b", 2, 7));
        daemon.until("s", |c| *out(c) == json!(12)).await;
        // The file of this session appears only after its entry.
        registry_reports(&daemon, "later", worktree).await;
        daemon.until("later", |c| !c.is_null()).await;
        tokio::time::sleep(std::time::Duration::from_millis(1000)).await;
        Stage::write(&stage.main("later"), &answer("c", 3, 9));
        daemon.until("later", |c| *out(c) == json!(9)).await;
        daemon.stop().await;
    });
}

#[test]
fn a_copy_of_a_followed_session_in_another_folder_is_history() {
    block_on(async {
        let stage = Stage::new();
        Stage::write(&stage.main("s"), &answer("a", 1, 5));
        Stage::write(&stage.projects().join("-w-web/s.jsonl"), &answer("b", 2, 7));
        let daemon = stage.daemon().await;
        daemon.hook(&stage, "s", "SessionStart").await;
        daemon.until("s", |c| *out(c) == json!(5)).await;
        assert_eq!(daemon.report().await.total.tokens.output, 12);
        daemon.stop().await;
    });
}

#[test]
fn a_growing_transcript_reveals_a_session_without_hooks() {
    block_on(async {
        let stage = Stage::new();
        // An old file in a folder that existed before.
        Stage::write(&stage.main("old"), &answer("o", 1, 5));
        let daemon = stage.daemon().await;
        daemon.hook(&stage, "known", "UserPromptSubmit").await;
        // The folders are watched before the first transcript is read.
        daemon.wait_until_idle("known").await;
        let line = |id: &str| answer(id, 1, 7).replace("2026-11-15T10:00:01.000Z", &clock::now().to_string());
        Stage::write(&stage.main("old"), &answer("p", 2, 5));
        Stage::write(&stage.main("new"), &line("n"));
        let elsewhere = stage.projects().join("-w-web/other.jsonl");
        Stage::write(&elsewhere, &line("e"));
        let card = daemon.until("new", |c| *out(c) == json!(7)).await;
        let state = &card["agent_state"];
        assert_eq!((&state["state"], &state["source"]), (&json!("thinking"), &json!("transcript")));
        assert_eq!(card["project"]["name"], "api");
        daemon.until("other", |c| *out(c) == json!(7)).await;
        assert_eq!(daemon.card("old").await, Value::Null);
        daemon.stop().await;
    });
}
