-- Locks on PostgreSQL: contacts (SHARE ROW EXCLUSIVE: writes wait); list_members (SHARE: writes
-- wait), until the end of the migration. Writes of list_members wait until the index is built:
-- some seconds for a million rows.

-- Every entry into a set of contacts and every exit from it, in the order they
-- happened. Rows are only ever added, and stay when the set or the contact goes;
-- list_members holds who is on a list now. set_kind is list or segment.
CREATE TABLE membership_log (
	org_id bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	id bytetext NOT NULL,
	set_kind bytetext NOT NULL,
	set_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	entered boolean NOT NULL,
	PRIMARY KEY (org_id, occurred_at, id)
);

CREATE INDEX list_members_newest ON list_members (org_id, list_id, added_at, contact_id);

-- The one visitor id in force of a contact. hash is its SHA-256, to find the contact
-- by; sealed is the id itself under the master key, to show it again. Revoking it
-- removes the row.
CREATE TABLE visitor_ids (
	org_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	hash bytea NOT NULL,
	sealed bytea NOT NULL,
	issued_at bigint NOT NULL,
	PRIMARY KEY (org_id, contact_id),
	UNIQUE (org_id, hash),
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);
