//! The queries of a page of assignments, and how a row is read.

use flightdeck_core::time::Timestamp;
use rusqlite::{Row, ToSql};

use super::super::AssignmentsWanted;

/// The rows that one page of a search reads. It is answered within a tenth of a second, also if no row matches.
pub(super) const SEARCHED_ROWS_MAX: usize = 4_000;

/// The query of a page and its arguments.
pub(super) fn page_query(wanted: &AssignmentsWanted) -> (String, Vec<Box<dyn ToSql>>) {
    let (filters, mut arguments) = filters(wanted);
    let query = format!(
        "SELECT body, opened_at, id FROM assignments WHERE TRUE{filters} ORDER BY opened_at DESC, id DESC LIMIT ?"
    );
    let rows = if wanted.words.is_empty() { wanted.limit } else { SEARCHED_ROWS_MAX };
    arguments.push(Box::new(i64::try_from(rows).unwrap_or(i64::MAX).saturating_add(1)));
    (query, arguments)
}

/// The filters of a page, except its words, and their arguments. Only those that are set are in it, so that SQLite can use the index of
/// each.
pub(super) fn filters(wanted: &AssignmentsWanted) -> (String, Vec<Box<dyn ToSql>>) {
    let until = wanted.until.map_or(i64::MAX, Timestamp::as_millis);
    let mut query = " AND opened_at < ?".to_owned();
    let mut arguments: Vec<Box<dyn ToSql>> = vec![Box::new(until)];
    let mut filter = |sql: &str, values: Vec<Box<dyn ToSql>>| {
        query += " AND ";
        query += sql;
        arguments.extend(values);
    };
    if let Some(project) = &wanted.project {
        // With a slash it is the path of a project, otherwise the name.
        match project.trim_end_matches('/').rsplit_once('/') {
            None => filter("project = ?", vec![Box::new(project.clone())]),
            Some((_, name)) => {
                let name: Box<dyn ToSql> = Box::new(name.to_owned());
                filter("project = ? AND project_path = ?", vec![name, Box::new(project.clone())]);
            }
        }
    }
    if let Some(state) = wanted.state {
        filter("state = ?", vec![Box::new(state.as_str())]);
    }
    if let Some(since) = wanted.since {
        filter("(completed_at IS NULL OR completed_at >= ?)", vec![Box::new(since.as_millis())]);
    }
    if let Some(before) = &wanted.before {
        let at: Box<dyn ToSql> = Box::new(before.opened_at.as_millis());
        filter("(opened_at, id) < (?, ?)", vec![at, Box::new(before.id.to_string())]);
    }
    (query, arguments)
}

/// Parses the body of a row. A row that cannot be read is `None`, and is left out.
pub(super) fn body<T: serde::de::DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<Option<T>> {
    let text: String = row.get(0)?;
    let read = serde_json::from_str(&text);
    if let Err(error) = &read {
        tracing::warn!(%error, "a stored assignment cannot be read; it is left out");
    }
    Ok(read.ok())
}
