-- Locks on PostgreSQL: no existing table.

-- A row is a reservation until done, then a result. Either way it counts until
-- expires_at; token is the reservation that may complete it.
CREATE TABLE replay_records (
	org_id bytetext NOT NULL,
	space bytetext NOT NULL,
	key bytetext NOT NULL,
	digest text NOT NULL,
	token text NOT NULL,
	done boolean NOT NULL,
	result bytea,
	expires_at bigint NOT NULL,
	PRIMARY KEY (org_id, space, key)
);
CREATE INDEX replay_records_expiry ON replay_records (expires_at);

CREATE TABLE spent_confirmations (
	org_id bytetext NOT NULL,
	confirmation_id bytetext NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (org_id, confirmation_id)
);
CREATE INDEX spent_confirmations_expiry ON spent_confirmations (expires_at);
