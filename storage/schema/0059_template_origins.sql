-- Locks on PostgreSQL: templates (ACCESS EXCLUSIVE: reads and writes wait), for milliseconds:
-- no row is rewritten, and each lock ends with the migration.

-- origin says where a managed template is edited: managed, or git for the connected repository. A
-- copy has managed, which means nothing there. commit_id is the commit that the content comes from,
-- '' for none. faults is a JSON array of sentences: what is wrong with the content of a copy, or with
-- the files of a template in the repository. A managed template whose files were
-- never valid has version_number 0, no version and no content.
ALTER TABLE templates ADD COLUMN origin bytetext NOT NULL DEFAULT 'managed';
ALTER TABLE templates ADD COLUMN commit_id bytetext NOT NULL DEFAULT '';
ALTER TABLE templates ADD COLUMN faults text NOT NULL DEFAULT '[]';
