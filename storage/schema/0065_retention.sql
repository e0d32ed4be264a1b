-- Locks on PostgreSQL: contacts (SHARE: writes wait), until the end of the migration. Writes of
-- contacts wait until the index is built: about two seconds for a million contacts.

-- For how long organizations keep records that grow, by kind. days is null for the default and 0
-- for records without an end. seen_at, ran_at and deleted are those of the job that deletes.
CREATE TABLE retention (
	org_id bytetext NOT NULL,
	kind bytetext NOT NULL,
	days bigint,
	changed_at bigint,
	seen_at bigint,
	ran_at bigint,
	deleted bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (org_id, kind)
);

CREATE INDEX contacts_archived ON contacts (org_id, updated_at, id) WHERE status = 'archived';
