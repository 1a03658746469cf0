-- The log. `seq` is the rowid, so a replay reads the table in order. An id begins with the time the event fired, so its index
-- grows at its end too.
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
    -- The columns before the payload are read without following a large payload into its overflow pages.
    payload     TEXT NOT NULL
) STRICT;
-- By stretch of the log first: an append then writes a few leaves at the end of the index, not one for every session. That
-- halves the work of an append. A reader of one session makes one seek for every 1,024 events of the log.
CREATE INDEX events_by_session ON events (seq >> 10, session_id);

-- Counts every event that was ever appended, removed ones included.
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
