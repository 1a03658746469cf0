-- The log. `seq` is the rowid, so a replay reads the file from front to back. An id begins with the time it fired, so
-- its index grows at one end too.
CREATE TABLE events (
    seq         INTEGER PRIMARY KEY,
    id          BLOB NOT NULL UNIQUE,
    fired_at    INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    source      TEXT NOT NULL,
    name        TEXT NOT NULL,
    session_id  TEXT NOT NULL,
    agent_id    TEXT,
    envelope    TEXT NOT NULL,
    -- Last: the columns before it are read without following it into its overflow pages.
    payload     TEXT NOT NULL
) STRICT;
-- By stretch of the log first: an append then touches a few leaves at the index's end, not one for every session that
-- ever was. Halves the work of an append; a reader of one session makes a seek for every 1,024 events of the log.
CREATE INDEX events_by_session ON events (seq >> 10, session_id);

-- Every event ever appended, also those that retention has removed since.
CREATE TABLE event_counts (
    name  TEXT PRIMARY KEY,
    total INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
    id            INTEGER PRIMARY KEY,
    seq           INTEGER NOT NULL,
    rules_version TEXT NOT NULL,
    checksum      INTEGER NOT NULL,
    body          BLOB NOT NULL
) STRICT;
