-- A record has a host and a subject. NULL in `host` is this machine. NULL in `subject` is the session in `session_id`. Any other
-- subject is written as `kind:id` ('seat:…', 'effort:…', 'host:…') or 'none', and `session_id` is empty.
-- Existing rows are not rewritten: the new columns read as NULL there. The columns come after the payload, but a NULL takes no
-- bytes there, so reading them does not follow a large payload into its overflow pages.
-- There is no index over them: no query needs one yet, and building it would read the whole log.
ALTER TABLE events ADD COLUMN host TEXT;
ALTER TABLE events ADD COLUMN subject TEXT;
