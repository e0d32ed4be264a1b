-- Locks on PostgreSQL: no existing table.

-- How the latest sync of each kind with the sending account ended. failure is '' after a
-- success. succeeded_at is the end of the latest successful sync, NULL if there was none.
CREATE TABLE sync_results (
	org_id bytetext NOT NULL,
	kind bytetext NOT NULL,
	ended_at bigint NOT NULL,
	failure bytetext NOT NULL,
	succeeded_at bigint,
	PRIMARY KEY (org_id, kind)
);
