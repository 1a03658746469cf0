-- How far each transcript was read. Written together with what was read, so a restart reads only new bytes.
CREATE TABLE transcript_files (
    path       TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    -- Empty for the main file.
    agent      TEXT NOT NULL,
    dev        INTEGER NOT NULL,
    inode      INTEGER NOT NULL,
    read_to    INTEGER NOT NULL,
    -- A sum of the last bytes read: a file that was written anew under the same inode has others there.
    mark       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX transcript_files_by_session ON transcript_files (session_id);

CREATE TABLE transcript_sessions (
    id         INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    cwd        TEXT,
    title      TEXT,
    -- Who started first owns what a fork copied: by the first message, then by the birth of the file.
    first_at   INTEGER NOT NULL,
    born_at    INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    -- What a card shows, where all of it was read; history reads only what costs money.
    known      TEXT
) STRICT;

-- One row for each message of a session. Sessions share messages when one is a fork of the other.
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
