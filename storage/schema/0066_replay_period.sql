-- Locks on PostgreSQL: replay_records (ACCESS EXCLUSIVE: reads and writes wait), until the end of
-- the migration. Calls with an idempotency key wait until replay_records is read once for its
-- index: less than a second for a million results.

-- The time of a call whose idempotency key its caller chose, null until it is done and for keys
-- that were derived from the call. The index finds results that are older than the period of
-- their organization; results of derived keys are not in it, and cost nothing.
ALTER TABLE replay_records ADD COLUMN called_at bigint;
CREATE INDEX replay_records_called ON replay_records (org_id, called_at, space, key) WHERE called_at IS NOT NULL;
