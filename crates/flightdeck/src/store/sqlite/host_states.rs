//! What is remembered about other hosts, as a table.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::super::{HostState, Result};

const PUT: &str = "INSERT INTO host_states (name, body) VALUES (?1, ?2) \
     ON CONFLICT (name) DO UPDATE SET body = excluded.body";

pub(super) fn upsert_host_states(conn: &mut Connection, rows: &[HostState]) -> Result<()> {
    let tx = conn.transaction()?;
    let mut put = tx.prepare_cached(PUT)?;
    for HostState { name, body } in rows {
        put.execute(params![name, body])?;
    }
    drop(put);
    Ok(tx.commit()?)
}

pub(super) fn read_host_states(conn: &Connection) -> Result<BTreeMap<String, String>> {
    let mut select = conn.prepare_cached("SELECT name, body FROM host_states")?;
    Ok(select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
}
