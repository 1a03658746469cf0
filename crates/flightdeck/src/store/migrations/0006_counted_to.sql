-- The totals hold events up to this one; those after it are counted in the log at a start. So an append need not write them.
CREATE TABLE counted_to (
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO counted_to SELECT coalesce(max(seq), 0) FROM events;
