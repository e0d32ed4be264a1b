-- Locks on PostgreSQL: users (ACCESS EXCLUSIVE: reads and writes wait), for milliseconds: no
-- row is rewritten, and each lock ends with the migration.

-- The time since when the operator keeps a person from signing in; null for all others.
ALTER TABLE users ADD COLUMN disabled_at bigint;
