-- Locks on PostgreSQL: api_keys (ACCESS EXCLUSIVE: reads and writes wait), for milliseconds: no
-- row is rewritten, and each lock ends with the migration.

-- Addresses that people have verified or want to verify. address is email in lower case.
-- owner is a person or an API key. start_id is the latest start of the verification, and
-- code_hash the keyed hash of its code, NULL before the code exists and after the address is
-- verified. wrong_codes counts since the latest start. verified_at is NULL before.
CREATE TABLE verified_senders (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	owner bytetext NOT NULL,
	email text NOT NULL,
	address bytetext NOT NULL,
	start_id bytetext NOT NULL,
	code_hash bytea,
	code_expires_at bigint NOT NULL,
	wrong_codes bigint NOT NULL,
	verified_at bigint,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX verified_senders_by_address ON verified_senders (org_id, address);
CREATE INDEX verified_senders_of_owner ON verified_senders (org_id, owner, created_at, id);

-- When owners of claims last requested codes, in all organizations together. started is a JSON
-- array of the times of the last hour.
CREATE TABLE verified_sender_starts (
	owner bytetext NOT NULL PRIMARY KEY,
	started text NOT NULL
);

-- owner is the person who created the key, or the first key of a row of rotations. It is ''
-- for a key that the operator created, and for a key from before this column.
ALTER TABLE api_keys ADD COLUMN owner bytetext NOT NULL DEFAULT '';
