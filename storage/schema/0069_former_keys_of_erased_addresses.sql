-- Locks on PostgreSQL: no existing table.

-- The keys of hashes of erased addresses that an organization brought from other installations, sealed
-- with the master key. key_id is derived from the key.
CREATE TABLE erased_address_keys (
	org_id bytetext NOT NULL,
	key_id bytetext NOT NULL,
	sealed bytea NOT NULL,
	PRIMARY KEY (org_id, key_id)
);
