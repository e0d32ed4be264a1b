-- Locks on PostgreSQL: no existing table.

-- What stays of erased persons. hash is a keyed hash of the address, refuses is opt_out, complaint, bounce
-- or empty.
CREATE TABLE erased_addresses (
	org_id bytetext NOT NULL,
	hash bytea NOT NULL,
	refuses bytetext NOT NULL,
	erased_at bigint NOT NULL,
	PRIMARY KEY (org_id, hash)
);
