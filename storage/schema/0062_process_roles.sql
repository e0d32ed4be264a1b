-- Locks on PostgreSQL: processes (ACCESS EXCLUSIVE: reads and writes wait), for milliseconds:
-- no row is rewritten, and each lock ends with the migration.

-- role is what the process does: all, api or worker. It is '' for processes of versions
-- before this column.
ALTER TABLE processes ADD COLUMN role bytetext NOT NULL DEFAULT '';
