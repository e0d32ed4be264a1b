-- Locks on PostgreSQL: no existing table.

-- The time from which the sending account of an organization may be passed further messages.
-- All workers of the organization reserve their share of the account's rate here.
CREATE TABLE handover_rates (
	org_id bytetext PRIMARY KEY,
	free_at bigint NOT NULL
);
