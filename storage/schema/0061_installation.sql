-- Locks on PostgreSQL: no existing table.

-- Facts that all processes of an installation must know, such as its public addresses.
CREATE TABLE installation_facts (
	name bytetext PRIMARY KEY,
	value text NOT NULL,
	updated_at bigint NOT NULL
);

-- Which master key seals new values, and what the rotation of the master key needs. purpose is
-- current for the key that seals new values, successor for the next key, sealed by key_id,
-- predecessor for the former key, sealed by key_id, and root for the source of derived keys, sealed
-- by key_id. key_id is the id of a master key, which does not reveal it.
CREATE TABLE installation_keys (
	purpose bytetext NOT NULL,
	key_id bytetext NOT NULL,
	sealed bytea NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (purpose, key_id)
);
