-- Effects that must not be lost, by the event that caused them. An effect that was carried out stays, marked as done, until every
-- kept snapshot holds its event: a replay from a snapshot brings the same effect again, and must not repeat it.
CREATE TABLE outbox (
    seq     INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    body    TEXT NOT NULL,
    done    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (seq, kind, subject)
) STRICT, WITHOUT ROWID;
-- Effects of events before this one were carried out and have been removed.
CREATE TABLE outbox_horizon (
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO outbox_horizon VALUES (0);
