-- Locks on PostgreSQL: undeliverable (SHARE: writes wait), until the end of the migration.
-- Writes of undeliverable wait until the index is built: some seconds for a million rows.

-- A page of the few addresses with one status would otherwise pass all others.
CREATE INDEX undeliverable_by_status ON undeliverable (org_id, status, last_changed_at, id);
