-- Who gave the title: 1 the first prompt, 2 the model, 3 a person; 0 if there is none. The history reader reads only new lines,
-- so a later prompt must not replace a title of higher rank. The origin of existing titles is unknown: they count as the model's.
ALTER TABLE transcript_sessions ADD COLUMN title_by INTEGER NOT NULL DEFAULT 0;
UPDATE transcript_sessions SET title_by = 2 WHERE title IS NOT NULL;
