//! Searches assignments by words. An index of trigrams finds the rows that may contain all words, and each of these rows is then compared.
//! Words of one or two characters are not in the index, so a search for such words alone reads the table, a bounded part at a time.

use std::collections::BTreeSet;

use flightdeck_core::ids::AssignmentId;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::{Millis, Timestamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, Rows, ToSql, Transaction, params};

use super::super::{AssignmentCursor, AssignmentPage, AssignmentsWanted, Result};
use super::assignment_rows::{SEARCHED_ROWS_MAX, body, filters, page_query};

/// Letters in one entry of the index.
const TRIGRAM_CHARS: usize = 3;
/// Most trigrams of a search that are looked up in the index. More of them would exclude hardly any further row.
const TRIGRAMS_MAX: usize = 24;
/// How many bits of an index row's number count the rows of one millisecond. The queries contain the same number. The other bits are
/// enough for the times of ten thousand years.
const ROW_BITS: u32 = 14;

const WORDS_ROW: &str = "SELECT words_row FROM assignments WHERE id = ?1";

const PUT_WORDS: &str = "INSERT OR REPLACE INTO assignment_words (rowid, words) VALUES (?1, ?2)";

pub(super) const FIND_WORDS: &str = "SELECT rowid FROM assignment_words WHERE assignment_words MATCH ?1 AND rowid < ?2 \
     ORDER BY rowid DESC LIMIT ?3";

const NAME_ALL_ROWS: &str = "UPDATE assignments SET words_row = (opened_at << 14) + (SELECT count(*) FROM assignments AS other \
     WHERE other.opened_at = assignments.opened_at AND other.id < assignments.id)";

/// Writes the words of a row of the table into the index. They replace those of an earlier version of the row.
pub(super) fn put_words(tx: &Transaction<'_>, row: &SessionAssignment) -> Result<()> {
    let words_row: i64 =
        tx.prepare_cached(WORDS_ROW)?.query_row([row.assignment.id.as_str()], |row| row.get(0))?;
    tx.prepare_cached(PUT_WORDS)?.execute(params![words_row, indexed_text(row)])?;
    Ok(())
}

/// Fills the index of a database that was written before there was one.
pub(super) fn index_all(tx: &Transaction<'_>) -> Result<()> {
    tx.execute(NAME_ALL_ROWS, [])?;
    let (mut read, mut put) =
        (tx.prepare("SELECT body, words_row FROM assignments")?, tx.prepare(PUT_WORDS)?);
    let mut rows = read.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(of) = body::<SessionAssignment>(row)? {
            put.execute(params![row.get::<_, i64>(1)?, indexed_text(&of)])?;
        }
    }
    Ok(())
}

/// The texts that a search looks at. The index stops reading at a NUL.
fn indexed_text(row: &SessionAssignment) -> String {
    AssignmentsWanted::searched_texts(row).collect::<Vec<_>>().join("\n").replace('\0', " ")
}

/// The matching rows, the newest first. A page may end before it is full.
pub(super) fn search_page(conn: &Connection, wanted: &AssignmentsWanted) -> Result<AssignmentPage> {
    match trigrams(&wanted.words) {
        Some(query) => search_index(conn, &query, wanted),
        None => search_table(conn, wanted),
    }
}

/// The query for the index. `None` if all words are too short for it.
fn trigrams(words: &[String]) -> Option<String> {
    let mut trigrams = BTreeSet::new();
    for word in words {
        let chars: Vec<char> = word.chars().collect();
        trigrams.extend(chars.windows(TRIGRAM_CHARS).map(|three| three.iter().collect::<String>()));
    }
    let quoted = |trigram: &String| format!("\"{}\"", trigram.replace('"', "\"\""));
    let query: Vec<_> = trigrams.iter().take(TRIGRAMS_MAX).map(quoted).collect();
    (!query.is_empty()).then(|| query.join(" AND "))
}

/// Compares the next [`SEARCHED_ROWS_MAX`] rows that the index found.
fn search_index(conn: &Connection, query: &str, wanted: &AssignmentsWanted) -> Result<AssignmentPage> {
    let candidates = candidates(conn, query, wanted)?;
    let (read, unread) = candidates.split_at(candidates.len().min(SEARCHED_ROWS_MAX));
    let mut rows = CandidateRows::new(conn, wanted)?;
    let (mut found, mut last) = (Vec::new(), None);
    for &words_row in read {
        let opened = words_row >> ROW_BITS;
        // Rows of one millisecond are not in the order of a page, so they are read together.
        if found.len() > wanted.limit && last != Some(opened) {
            return Ok(page_of(found, wanted.limit));
        }
        last = Some(opened);
        found.extend(rows.read(words_row)?.filter(|row| wanted.finds_words(row)));
    }
    let Some(next) = unread.first() else { return Ok(page_of(found, wanted.limit)) };
    let opened = Timestamp::from_millis(next >> ROW_BITS);
    // The rest of this millisecond is unread, so all of it belongs to the next page.
    found.retain(|row| row.assignment.opened_at > opened);
    let page = page_of(found, wanted.limit);
    let next = AssignmentCursor { opened_at: opened + Millis(1), id: AssignmentId::new("") };
    Ok(AssignmentPage { next_before: page.next_before.or(Some(next)), ..page })
}

/// The rows of the index that may contain the words, the newest first. One row more than a page reads shows that there is another page.
fn candidates(conn: &Connection, query: &str, wanted: &AssignmentsWanted) -> Result<Vec<i64>> {
    let until = wanted.until.map(Timestamp::as_millis);
    let before = wanted.before.as_ref().map(|before| before.opened_at.as_millis().saturating_add(1));
    let end = until.into_iter().chain(before).fold(i64::MAX >> ROW_BITS, i64::min);
    let mut find = conn.prepare_cached(FIND_WORDS)?;
    let rows =
        find.query_map(params![query, end << ROW_BITS, SEARCHED_ROWS_MAX as i64 + 1], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn page_of(mut found: Vec<SessionAssignment>, limit: usize) -> AssignmentPage {
    found.sort_by_key(|row| std::cmp::Reverse(AssignmentCursor::from_row(row)));
    AssignmentPage::from_rows(found, limit)
}

/// Reads the rows that the index found, and leaves out those that the filters exclude.
struct CandidateRows<'c> {
    select: CachedStatement<'c>,
    filters: Vec<Box<dyn ToSql>>,
}

impl<'c> CandidateRows<'c> {
    fn new(conn: &'c Connection, wanted: &AssignmentsWanted) -> Result<Self> {
        let (sql, filters) = filters(wanted);
        let query = format!("SELECT body FROM assignments WHERE words_row = ?{sql}");
        Ok(Self { select: conn.prepare_cached(&query)?, filters })
    }

    fn read(&mut self, words_row: i64) -> Result<Option<SessionAssignment>> {
        let name: [&dyn ToSql; 1] = [&words_row];
        let arguments: Vec<&dyn ToSql> =
            name.into_iter().chain(self.filters.iter().map(AsRef::as_ref)).collect();
        Ok(self.select.query_row(&*arguments, body).optional()?.flatten())
    }
}

fn search_table(conn: &Connection, wanted: &AssignmentsWanted) -> Result<AssignmentPage> {
    let (query, arguments) = page_query(wanted);
    let mut select = conn.prepare_cached(&query)?;
    let arguments: Vec<&dyn ToSql> = arguments.iter().map(AsRef::as_ref).collect();
    compare_rows(select.query(&*arguments)?, wanted)
}

/// The matching rows among the next [`SEARCHED_ROWS_MAX`]. The page ends where the search ended, even if nothing was found there.
fn compare_rows(mut rows: Rows<'_>, wanted: &AssignmentsWanted) -> Result<AssignmentPage> {
    let (mut found, mut searched, mut last) = (Vec::new(), 0, None);
    while let Some(row) = rows.next()? {
        if searched == SEARCHED_ROWS_MAX {
            return Ok(AssignmentPage { assignments: found, next_before: last });
        }
        searched += 1;
        last = Some(cursor(row)?);
        if !may_match(row.get_ref(0)?.as_str().unwrap_or_default(), &wanted.words) {
            continue;
        }
        found.extend(body::<SessionAssignment>(row)?.filter(|row| wanted.finds_words(row)));
        if found.len() > wanted.limit {
            break;
        }
    }
    Ok(AssignmentPage::from_rows(found, wanted.limit))
}

fn cursor(row: &Row<'_>) -> rusqlite::Result<AssignmentCursor> {
    let id: String = row.get(2)?;
    Ok(AssignmentCursor { opened_at: Timestamp::from_millis(row.get(1)?), id: id.into() })
}

/// Whether the JSON of a row may contain the words. Most rows can be skipped without parsing them. Words that JSON may write with an
/// escape are not checked here.
fn may_match(json: &str, words: &[String]) -> bool {
    let json = json.to_lowercase();
    let is_escaped = |word: &String| word.contains(['"', '\\']) || word.contains(char::is_control);
    words.iter().all(|word| is_escaped(word) || json.contains(word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_asked_for_the_trigrams_of_longer_words() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(trigrams(&words("ab größe")).unwrap(), "\"grö\" AND \"röß\" AND \"öße\"");
        assert_eq!(trigrams(&words("a\"b")).unwrap(), "\"a\"\"b\"");
        assert_eq!(trigrams(&words("登录 ok")), None);
        assert_eq!(trigrams(&["abc".repeat(1_000)]).unwrap(), "\"abc\" AND \"bca\" AND \"cab\"");
        let long: String = ('a'..='z').cycle().step_by(3).take(200).collect();
        assert_eq!(trigrams(&[long]).unwrap().matches(" AND ").count(), TRIGRAMS_MAX - 1);
    }
}
