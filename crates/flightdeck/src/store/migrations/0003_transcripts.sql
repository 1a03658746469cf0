-- How far each transcript was read. Written in one transaction with the messages, so a restart reads only new bytes.
CREATE TABLE transcript_files (
    path       TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    -- Empty for the main file.
    agent      TEXT NOT NULL,
    dev        INTEGER NOT NULL,
    inode      INTEGER NOT NULL,
    read_to    INTEGER NOT NULL,
    -- A checksum of the last bytes read: a replaced file with the same inode has other bytes there.
    mark       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX transcript_files_by_session ON transcript_files (session_id);

CREATE TABLE transcript_sessions (
    id         INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    cwd        TEXT,
    title      TEXT,
    -- The session that started first owns messages that a fork copied: by the first message, then by the file's creation.
    first_at   INTEGER NOT NULL,
    born_at    INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    -- What a card shows, if every line was read. The history reader reads only usage.
    known      TEXT
) STRICT;

-- One row for each message of a session. A fork shares messages with its origin.
CREATE TABLE usage (
    session        INTEGER NOT NULL,
    key            BLOB NOT NULL,
    at             INTEGER NOT NULL,
    model          TEXT NOT NULL,
    agent          TEXT NOT NULL,
    input          INTEGER NOT NULL,
    output         INTEGER NOT NULL,
    cache_read     INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    web_searches   INTEGER NOT NULL,
    PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;
