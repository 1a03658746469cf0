-- The last card of each session that left the board. Never removed: for the list of all sessions, and so that a late hook does
-- not bring an ended session back.
CREATE TABLE sessions (
    id               TEXT PRIMARY KEY,
    project          TEXT,
    title            TEXT,
    started_at       INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL,
    ended_at         INTEGER,
    card             TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_by_activity ON sessions (last_activity_at, id);
