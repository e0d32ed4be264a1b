-- Locks on PostgreSQL: no existing table.

-- How an organization's sending account is reached. secret is sealed with the
-- master key. ingest_path names the organization in the address that events are
-- sent to, so it is unique over all of them; it proves nothing.
CREATE TABLE connections (
	org_id bytetext NOT NULL,
	provider bytetext NOT NULL,
	account_id text NOT NULL,
	region text NOT NULL,
	endpoint text NOT NULL,
	access_key_id text NOT NULL,
	secret bytea,
	role_arn text NOT NULL,
	external_id text NOT NULL,
	topic_arn text NOT NULL,
	identities text NOT NULL, -- a JSON array
	max_24_hour_send bigint NOT NULL,
	max_send_rate bigint NOT NULL,
	may_reach_private boolean NOT NULL,
	template_version integer NOT NULL,
	ingest_path bytetext NOT NULL,
	ingest_key_hash bytea,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id),
	UNIQUE (ingest_path)
);
