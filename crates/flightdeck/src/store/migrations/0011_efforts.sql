-- Runs of skills that outlive context windows, as projections of the log. Never removed: efforts outlive the events that they
-- were folded from.
CREATE TABLE workstreams (
    -- The directory, a real path.
    dir     TEXT PRIMARY KEY,
    -- The ordinal of its newest effort.
    ordinal INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE efforts (
    -- Derived from the event that started it, so a replay writes the same row again.
    id          TEXT PRIMARY KEY,
    workstream  TEXT NOT NULL,
    skill       TEXT NOT NULL,
    ordinal     INTEGER NOT NULL,
    lifecycle   TEXT NOT NULL,
    phase       TEXT,
    seat        TEXT,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER,
    -- The last event that is in it. An older row never replaces a newer one.
    seq         INTEGER NOT NULL,
    -- The whole effort as JSON: a replay of a log without its beginning starts from it.
    body        TEXT NOT NULL
) STRICT;
CREATE INDEX efforts_by_start ON efforts (lifecycle, started_at, id);
CREATE TABLE windows (
    id         TEXT PRIMARY KEY,
    effort     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    agent_id   TEXT,
    previous   TEXT,
    heartbeat  INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    body       TEXT NOT NULL
) STRICT;
CREATE INDEX windows_by_effort ON windows (effort, started_at);
CREATE TABLE messages (
    -- Derived from the event that it was filed for.
    id     TEXT PRIMARY KEY,
    effort TEXT NOT NULL,
    kind   TEXT NOT NULL,
    at     INTEGER NOT NULL,
    body   TEXT NOT NULL
) STRICT;
CREATE INDEX messages_by_effort ON messages (effort, at, id);
