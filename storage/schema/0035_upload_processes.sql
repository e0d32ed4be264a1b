-- Locks on PostgreSQL: contact_uploads (ACCESS EXCLUSIVE: reads and writes wait), until the end
-- of the migration. contact_uploads has few rows.

-- The server process that receives, checks or imports the file, '' for none and for work
-- that began before this migration. The work of a process that has ended is continued by
-- another.
ALTER TABLE contact_uploads ADD COLUMN claimed_by bytetext NOT NULL DEFAULT '';
DROP INDEX contact_uploads_working;
CREATE INDEX contact_uploads_working ON contact_uploads (org_id, created_at, id) WHERE status IN ('receiving', 'checking', 'importing');
