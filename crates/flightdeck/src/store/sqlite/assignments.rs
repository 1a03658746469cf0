//! Assignments and their messages as tables.

use flightdeck_core::assignment::transition::Completion;
use flightdeck_core::assignment::{Assignment, AssignmentMessage, Messages, TimeSpan};
use flightdeck_core::ids::AssignmentId;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, ToSql, Transaction, params};

use super::super::assignments::COUNT_SPAN;
use super::super::{AssignmentPage, AssignmentsWanted, CompletedCount, ProjectTime, Result};
use super::assignment_rows::{body, page_query};
use super::assignment_search::{put_words, search_page};
use super::from_db;

/// Inserts or updates a row. Does nothing if the assignment begins inside another completed assignment of the same session. A session
/// has one assignment at a time, so only the previous one can contain the beginning. `words_row` is the next free one of its
/// millisecond.
const PUT: &str = "INSERT INTO assignments (id, session_id, project, project_path, state, outcome, opened_at, completed_at, \
     body, words_row) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, coalesce((SELECT max(words_row) + 1 FROM assignments \
     WHERE words_row >= (?7 << 14) AND words_row < ((?7 + 1) << 14)), ?7 << 14) \
     WHERE NOT EXISTS (SELECT 1 FROM (SELECT completed_at FROM assignments WHERE session_id = ?2 AND opened_at < ?7 AND id <> ?1 \
     ORDER BY opened_at DESC LIMIT 1) WHERE completed_at > ?7) \
     ON CONFLICT (id) DO UPDATE SET session_id = excluded.session_id, project = excluded.project, \
     project_path = excluded.project_path, state = excluded.state, outcome = excluded.outcome, \
     opened_at = excluded.opened_at, completed_at = excluded.completed_at, body = excluded.body";

const PUT_MESSAGE: &str = "INSERT INTO assignment_messages (assignment, n, body) VALUES (?1, ?2, ?3)";

const PUT_TIME: &str = "INSERT INTO assignment_times (assignment, n, project, waits, from_at, to_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const ONE: &str = "SELECT body FROM assignments WHERE id = ?1";

const MESSAGES: &str = "SELECT body FROM assignment_messages WHERE assignment = ?1 ORDER BY n";

/// Answered from the index alone.
pub(super) const COUNTS: &str = "SELECT project, completed_at / ?2, sum(outcome = 'completed'), sum(outcome = 'ended'), \
     sum(outcome = 'died') FROM assignments WHERE completed_at >= ?1 GROUP BY project, completed_at / ?2";

/// Answered from the index alone.
pub(super) const TIMES: &str =
    "SELECT project, waits, from_at, to_at FROM assignment_times WHERE to_at > ?1 ORDER BY to_at";

pub(super) fn put_in(tx: &Transaction<'_>, rows: &[SessionAssignment]) -> Result<()> {
    for row in rows {
        put_one(tx, row)?;
    }
    Ok(())
}

pub(super) fn upsert_assignments(conn: &mut Connection, rows: &[SessionAssignment]) -> Result<()> {
    let tx = conn.transaction()?;
    put_in(&tx, rows)?;
    Ok(tx.commit()?)
}

fn put_one(tx: &Transaction<'_>, row: &SessionAssignment) -> Result<()> {
    let a = &row.assignment;
    let mut without_messages = row.clone();
    without_messages.assignment.messages = a.messages.emptied();
    let changed = tx.prepare_cached(PUT)?.execute(params![
        a.id.as_str(),
        row.session_id.as_str(),
        row.project.name(),
        row.project.root(),
        a.state.as_str(),
        a.outcome.map(Completion::as_str),
        a.opened_at.as_millis(),
        a.completed_at.map(Timestamp::as_millis),
        json(&without_messages)?,
    ])?;
    if changed == 0 {
        return Ok(());
    }
    put_words(tx, row)?;
    put_messages(tx, a)?;
    put_times(tx, a, row.project.name())
}

fn put_messages(tx: &Transaction<'_>, a: &Assignment) -> Result<()> {
    tx.prepare_cached("DELETE FROM assignment_messages WHERE assignment = ?1")?.execute([a.id.as_str()])?;
    let mut put = tx.prepare_cached(PUT_MESSAGE)?;
    for (n, message) in a.messages.iter().enumerate() {
        put.execute(params![a.id.as_str(), n as i64, json(message)?])?;
    }
    Ok(())
}

fn put_times(tx: &Transaction<'_>, a: &Assignment, project: &str) -> Result<()> {
    tx.prepare_cached("DELETE FROM assignment_times WHERE assignment = ?1")?.execute([a.id.as_str()])?;
    let mut put = tx.prepare_cached(PUT_TIME)?;
    for (n, TimeSpan { waits, from, to }) in a.spans.iter().enumerate() {
        put.execute(params![a.id.as_str(), n as i64, project, waits, from.as_millis(), to.as_millis()])?;
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))
}

pub(super) fn assignment_page(conn: &Connection, wanted: &AssignmentsWanted) -> Result<AssignmentPage> {
    if !wanted.words.is_empty() {
        return search_page(conn, wanted);
    }
    let (query, arguments) = page_query(wanted);
    let mut select = conn.prepare_cached(&query)?;
    let arguments: Vec<&dyn ToSql> = arguments.iter().map(AsRef::as_ref).collect();
    let rows = select.query_map(&*arguments, body)?.collect::<Result<Vec<_>, _>>()?;
    Ok(AssignmentPage::from_rows(rows.into_iter().flatten().collect(), wanted.limit))
}

pub(super) fn find_assignment(conn: &Connection, id: &AssignmentId) -> Result<Option<SessionAssignment>> {
    Ok(conn.prepare_cached(ONE)?.query_row([id.as_str()], body).optional()?.flatten())
}

pub(super) fn assignment_messages(conn: &Connection, id: &AssignmentId) -> Result<Option<Messages>> {
    let Some(row) = find_assignment(conn, id)? else { return Ok(None) };
    let mut select = conn.prepare_cached(MESSAGES)?;
    let messages: Vec<Option<AssignmentMessage>> =
        select.query_map([id.as_str()], body)?.collect::<Result<_, _>>()?;
    Ok(Some(row.assignment.messages.filled(messages.into_iter().flatten().collect())))
}

pub(super) fn completed_counts(conn: &Connection, since: Timestamp) -> Result<Vec<CompletedCount>> {
    let mut select = conn.prepare_cached(COUNTS)?;
    let counts = select.query_map(params![since.as_millis(), COUNT_SPAN.0], |row| {
        let n = |column| row.get::<_, i64>(column).map(from_db);
        Ok(CompletedCount {
            project: row.get(0)?,
            from: Timestamp::from_millis(row.get::<_, i64>(1)? * COUNT_SPAN.0),
            completed: n(2)?,
            ended: n(3)?,
            died: n(4)?,
        })
    })?;
    Ok(counts.collect::<Result<_, _>>()?)
}

pub(super) fn project_times(conn: &Connection, since: Timestamp) -> Result<Vec<ProjectTime>> {
    let mut select = conn.prepare_cached(TIMES)?;
    let times = select.query_map([since.as_millis()], |row| {
        let at = |column| row.get(column).map(Timestamp::from_millis);
        let span = TimeSpan { waits: row.get(1)?, from: at(2)?, to: at(3)? };
        Ok(ProjectTime { project: row.get(0)?, span })
    })?;
    Ok(times.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use flightdeck_core::assignment::transition::AssignmentState;
    use rusqlite::StatementStatus;

    use super::super::super::AssignmentCursor;
    use super::super::assignment_search::FIND_WORDS;
    use super::super::{migrate, transcripts};
    use super::*;

    fn database() -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        migrate::MIGRATIONS.iter().for_each(|step| conn.execute_batch(step).unwrap());
        conn
    }

    /// How SQLite answers the query, one step a line.
    fn plan(conn: &Connection, query: &str) -> String {
        let mut select = conn.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
        let steps = vec![rusqlite::types::Null; select.parameter_count()];
        let rows = select.query_map(rusqlite::params_from_iter(steps), |row| row.get::<_, String>(3));
        rows.unwrap().map(|step| step.unwrap()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_page_is_read_in_the_order_of_an_index() {
        let conn = database();
        let all = AssignmentsWanted { limit: 100, ..AssignmentsWanted::default() };
        let at = Timestamp::from_millis(1);
        let before = AssignmentCursor { opened_at: at, id: "a-1".into() };
        for (wanted, index) in [
            (all.clone(), "assignments_by_opening"),
            (AssignmentsWanted { before: Some(before), ..all.clone() }, "assignments_by_opening"),
            (AssignmentsWanted { since: Some(at), until: Some(at), ..all.clone() }, "assignments_by_opening"),
            (
                AssignmentsWanted { state: Some(AssignmentState::Complete), ..all.clone() },
                "assignments_by_opening",
            ),
            (AssignmentsWanted { project: Some("p".into()), ..all.clone() }, "assignments_by_project"),
            (AssignmentsWanted { project: Some("/w/p".into()), ..all }, "assignments_by_project"),
        ] {
            let plan = plan(&conn, &page_query(&wanted).0);
            assert!(plan.contains(&format!("INDEX {index}")) && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }

    #[test]
    fn a_digest_reads_only_indexes_and_costs_only_their_time() {
        let conn = database();
        let counts = plan(&conn, COUNTS);
        assert!(counts.contains("COVERING INDEX assignments_by_completion (completed_at>?)"), "{counts}");
        let times = plan(&conn, TIMES);
        assert!(times.contains("COVERING INDEX assignment_times_by_end (to_at>?)"), "{times}");
        let usage = plan(&conn, transcripts::USAGE_BETWEEN);
        assert!(usage.contains("INDEX usage_by_time (session=? AND at>? AND at<?)"), "{usage}");
    }

    #[test]
    fn a_search_reads_the_index_from_its_newest_row_on() {
        let conn = database();
        let plan = plan(&conn, FIND_WORDS);
        assert!(plan.contains("VIRTUAL TABLE INDEX") && !plan.contains("TEMP B-TREE"), "{plan}");
    }

    /// The steps of SQLite's machine for writing the next assignment of a session that already has some.
    fn steps_to_put(conn: &Connection, known: i64) -> i32 {
        let put = |n: i64| {
            let mut put = conn.prepare_cached(PUT).unwrap();
            put.reset_status(StatementStatus::VmStep);
            let (opened, completed) = (n * 10, n * 10 + 5);
            put.execute(params![
                format!("a-{n}"),
                "one",
                "p",
                "/w/p",
                "complete",
                "completed",
                opened,
                completed,
                "{}"
            ])
            .unwrap();
            put.get_status(StatementStatus::VmStep)
        };
        for n in 0..known {
            put(n);
        }
        put(known)
    }

    #[test]
    fn an_assignment_is_written_as_fast_in_a_session_with_many() {
        let (few, many) = (steps_to_put(&database(), 4), steps_to_put(&database(), 2_000));
        assert!(many < few * 2, "{few} steps after 4 assignments, {many} after 2000");
    }
}
