-- Locks on PostgreSQL: orgs (ACCESS EXCLUSIVE: reads and writes wait), for milliseconds: no row
-- is rewritten, and each lock ends with the migration.

-- The time at which an organization was deleted; null for all others. It can be restored for
-- seven days. erasing_at is the time since when its rows are being erased.
ALTER TABLE orgs ADD COLUMN deleted_at bigint;
ALTER TABLE orgs ADD COLUMN erasing_at bigint;

-- Statements that work for all organizations leave out the deleted ones.
CREATE INDEX orgs_deleted ON orgs (id) WHERE deleted_at IS NOT NULL;
