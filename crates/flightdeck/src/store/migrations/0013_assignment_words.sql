-- Finds assignments by words: the trigrams of what the log shows of each, in lower case. A row of the index is named by the opening
-- of its assignment, so that a search finds the newest first.
ALTER TABLE assignments ADD COLUMN words_row INTEGER;
CREATE UNIQUE INDEX assignments_by_words ON assignments (words_row);
-- Without the texts themselves: they are in `assignments`.
CREATE VIRTUAL TABLE assignment_words USING fts5 (
    words, content = '', contentless_delete = 1, detail = 'none', tokenize = 'trigram case_sensitive 1'
);
-- The folder is a filter too: a page of a project reads no row of another project of the same name.
DROP INDEX assignments_by_project;
CREATE INDEX assignments_by_project ON assignments (project, opened_at, id, completed_at, state, project_path);
