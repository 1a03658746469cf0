//! The client's list of a session's tasks: `<config dir>/tasks/<session>/<n>.json`, one file for each task.

use std::fs;
use std::path::Path;

use flightdeck_core::limits::{CARD_PROMPT_CHARS_MAX, NAME_CHARS_MAX, TODOS_MAX};
use flightdeck_core::log::todo::Todo;
use flightdeck_core::text::one_line;
use serde::Deserialize;

use super::repository::small_file;

/// Most entries of the folder that are read. The folder also contains lock files and markers.
const ENTRIES_MAX: usize = 1000;

#[derive(Deserialize)]
struct Task {
    #[serde(default)]
    subject: String,
    #[serde(default)]
    status: String,
}

/// The folder of a session's tasks, from the path of its main transcript.
pub fn tasks_folder(main: &Path) -> Option<std::path::PathBuf> {
    let projects = main.ancestors().nth(2).filter(|p| p.file_name().is_some_and(|n| n == "projects"))?;
    Some(projects.parent()?.join("tasks").join(main.file_stem()?))
}

/// The tasks in their order. Skips a file that cannot be read: it may be incomplete, and the next read finds it.
pub fn read(folder: &Path) -> Vec<Todo> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let mut places: Vec<u64> =
        entries.filter_map(|e| task_number(&e.file_name().to_string_lossy())).collect();
    places.sort_unstable();
    let todos = places.into_iter().filter_map(|place| task(folder, place));
    todos.take(TODOS_MAX).collect()
}

fn task_number(name: &str) -> Option<u64> {
    name.strip_suffix(".json")?.parse().ok()
}

fn task(folder: &Path, place: u64) -> Option<Todo> {
    let task: Task = serde_json::from_str(&small_file(&folder.join(format!("{place}.json")))?).ok()?;
    let status = one_line(&task.status, NAME_CHARS_MAX);
    let title = one_line(&task.subject, CARD_PROMPT_CHARS_MAX);
    (status != "deleted" && !title.is_empty()).then(|| Todo { id: place.to_string(), title, status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_in_their_order_and_other_files_are_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        put("10.json", r#"{"id":"10","subject":"Ten","description":"","status":"pending","blocks":[]}"#);
        put("2.json", r#"{"id":"2","subject":"Two","status":"in_progress","blockedBy":["1"]}"#);
        put("1.json", r#"{"id":"1","subject":"One","status":"completed"}"#);
        put("3.json", r#"{"id":"3","subject":"Gone","status":"deleted"}"#);
        put("4.json", "{\"id\":");
        put(".lock", "");
        put("x.json", r#"{"id":"x","subject":"No","status":"pending"}"#);
        let read: Vec<_> =
            read(dir.path()).into_iter().map(|t| format!("{} {} {}", t.id, t.title, t.status)).collect();
        assert_eq!(read, ["1 One completed", "2 Two in_progress", "10 Ten pending"]);
        assert_eq!(super::read(&dir.path().join("nowhere")), []);
    }

    #[test]
    fn the_folder_of_tasks_is_beside_projects() {
        let of = |p: &str| tasks_folder(Path::new(p));
        assert_eq!(of("/c/projects/-w-api/s-1.jsonl").as_deref(), Some(Path::new("/c/tasks/s-1")));
        assert_eq!(of("/c/elsewhere/-w-api/s-1.jsonl"), None);
    }
}
