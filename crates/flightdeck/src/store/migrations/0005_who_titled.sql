-- Who gave the title: 1 the first prompt, 2 the model, 3 a person; 0 where there is none. History reads only what is new, so
-- a later prompt must not replace what stands above it. Of older titles nobody knows: they count as the model's.
ALTER TABLE transcript_sessions ADD COLUMN title_by INTEGER NOT NULL DEFAULT 0;
UPDATE transcript_sessions SET title_by = 2 WHERE title IS NOT NULL;
