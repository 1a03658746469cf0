-- A snapshot of a large fleet is written a little at a time, with appends between; it counts once its row is in `snapshots`.
CREATE TABLE snapshot_parts (
    snapshot INTEGER NOT NULL,
    part     INTEGER NOT NULL,
    body     BLOB NOT NULL,
    PRIMARY KEY (snapshot, part)
) STRICT;
INSERT INTO snapshot_parts SELECT id, 0, body FROM snapshots;
ALTER TABLE snapshots DROP COLUMN body;
