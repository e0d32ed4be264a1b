-- Locks on PostgreSQL: no existing table.

-- Buckets in which organizations keep received mail, or kept it earlier: rows of messages
-- name the bucket by its id. secret is sealed with the master key. in_use is true for the
-- bucket of new objects, at most one of an organization; without one, objects are files.
CREATE TABLE mail_buckets (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	endpoint text NOT NULL,
	region text NOT NULL,
	bucket text NOT NULL,
	prefix text NOT NULL,
	path_style boolean NOT NULL,
	access_key_id text NOT NULL,
	secret bytea NOT NULL,
	encryption text NOT NULL,
	kms_key_id text NOT NULL,
	in_use boolean NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX mail_buckets_in_use ON mail_buckets (org_id) WHERE in_use;
