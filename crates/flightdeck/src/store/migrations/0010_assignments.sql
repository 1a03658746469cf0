-- What a person asked of a session, from the prompt until it was complete. Never removed: assignments outlive the events that
-- they were folded from.
CREATE TABLE assignments (
    -- Derived from the opening event, so a replay writes the same row again.
    id           TEXT PRIMARY KEY,
    session_id   TEXT NOT NULL,
    project      TEXT NOT NULL,
    project_path TEXT,
    state        TEXT NOT NULL,
    outcome      TEXT,
    opened_at    INTEGER NOT NULL,
    completed_at INTEGER,
    -- The assignment and its session as JSON, without the messages.
    body         TEXT NOT NULL
) STRICT;
-- The last two columns are filters: a page reads only the rows that it lists.
CREATE INDEX assignments_by_opening ON assignments (opened_at, id, completed_at, state);
CREATE INDEX assignments_by_project ON assignments (project, opened_at, id, completed_at, state);
CREATE INDEX assignments_by_session ON assignments (session_id, opened_at);
-- Covers the counts of a digest, which reads no row of the table.
CREATE INDEX assignments_by_completion ON assignments (completed_at, project, outcome);
-- When the agent worked and when it waited for the person.
CREATE TABLE assignment_times (
    assignment TEXT NOT NULL,
    n          INTEGER NOT NULL,
    project    TEXT NOT NULL,
    waits      INTEGER NOT NULL,
    from_at    INTEGER NOT NULL,
    to_at      INTEGER NOT NULL,
    PRIMARY KEY (assignment, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX assignment_times_by_end ON assignment_times (to_at, project, waits, from_at);
CREATE TABLE assignment_messages (
    assignment TEXT NOT NULL,
    n          INTEGER NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (assignment, n)
) STRICT, WITHOUT ROWID;
-- The cost of an assignment is the usage of its session between its opening and its completion.
CREATE INDEX usage_by_time ON usage (session, at);
