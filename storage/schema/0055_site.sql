-- Locks on PostgreSQL: no existing table.

-- Website identity. Statements find visitors by hashes in a JSON parameter; SQLite has the
-- function unhex itself.
/*pg
CREATE FUNCTION unhex(digits text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT decode(digits, 'hex')
$$;
*/

-- The publishable keys with which websites send beacons. hash is the SHA-256 of the key.
-- expires_at is NULL for the key in use, and the end of the grace period of an earlier key.
CREATE TABLE site_keys (
	org_id bytetext NOT NULL,
	key bytetext NOT NULL,
	hash bytea NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint,
	PRIMARY KEY (org_id, key),
	UNIQUE (hash)
);
CREATE UNIQUE INDEX site_keys_in_use ON site_keys (org_id) WHERE expires_at IS NULL;

-- Organizations that have turned beacons off.
CREATE TABLE sites_off (
	org_id bytetext NOT NULL,
	turned_off_at bigint NOT NULL,
	PRIMARY KEY (org_id)
);

-- Beacons by outcome and UTC day (days since 1970-01-01). name is the refused name of
-- the outcome bad_name, "" for other outcomes and for names beyond the limit of a day.
CREATE TABLE site_counts (
	org_id bytetext NOT NULL,
	day bigint NOT NULL,
	outcome bytetext NOT NULL,
	name bytetext NOT NULL,
	beacons bigint NOT NULL,
	last_at bigint NOT NULL,
	PRIMARY KEY (org_id, day, outcome, name)
);
CREATE INDEX site_counts_by_day ON site_counts (day);
