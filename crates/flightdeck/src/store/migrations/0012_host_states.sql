-- How far this daemon forwarded its log to other hosts, and how far it read theirs: one row of JSON for each name.
CREATE TABLE host_states (
    name TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
