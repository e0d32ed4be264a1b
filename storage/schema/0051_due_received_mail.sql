-- Locks on PostgreSQL: receiving_deliveries (ACCESS EXCLUSIVE: reads and writes wait), until
-- the end of the migration. receiving_deliveries has only deliveries that are not finished.

-- Due deliveries of received mail are read in the order of due_at and id.
DROP INDEX receiving_deliveries_due;
CREATE INDEX receiving_deliveries_next ON receiving_deliveries (org_id, domain_id, due_at, id) WHERE due_at IS NOT NULL;
