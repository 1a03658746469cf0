-- A large snapshot is written in parts, with appends in between. It counts once its row is in `snapshots`.
CREATE TABLE snapshot_parts (
    snapshot INTEGER NOT NULL,
    part     INTEGER NOT NULL,
    body     BLOB NOT NULL,
    PRIMARY KEY (snapshot, part)
) STRICT;
INSERT INTO snapshot_parts SELECT id, 0, body FROM snapshots;
ALTER TABLE snapshots DROP COLUMN body;
