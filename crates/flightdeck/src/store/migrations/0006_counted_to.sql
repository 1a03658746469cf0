-- The totals include events up to this one. Later events are counted in the log at a start, so an append need not write the
-- totals.
CREATE TABLE counted_to (
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO counted_to SELECT coalesce(max(seq), 0) FROM events;
