-- Locks on PostgreSQL: inboxes (ACCESS EXCLUSIVE: reads and writes wait), for milliseconds: no
-- row is rewritten, and each lock ends with the migration.

-- stored_bytes is the size of the messages that an inbox has accepted, as they came.
ALTER TABLE inboxes ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0;
