-- Locks on PostgreSQL: handover_recipients (ACCESS EXCLUSIVE: reads and writes wait), until the end
-- of the migration. It takes milliseconds: no row is written.

-- When the broadcast or the test send was created, or the message of a workflow. It is 0 in rows
-- from before this migration. On PostgreSQL the table is divided by it.
ALTER TABLE handover_recipients ADD COLUMN created_at bigint NOT NULL DEFAULT 0;
