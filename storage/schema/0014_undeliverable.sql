-- Locks on PostgreSQL: no existing table.

-- By what rules an organization judges addresses; one without a row has the
-- standard ones. The row is also what those who judge wait for one another at.
-- judged_to is set while addresses are judged anew: the last one that was.
CREATE TABLE undeliverable_rules (
	org_id bytetext NOT NULL,
	profile bytetext NOT NULL,
	rules text NOT NULL,
	judged_to bytetext,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id)
);

-- One row for each address that is or was listed. id follows from the address.
-- Events up to forgiven_at do not count.
CREATE TABLE undeliverable (
	org_id bytetext NOT NULL,
	email_key bytetext NOT NULL,
	id bytetext NOT NULL,
	email text NOT NULL,
	status bytetext NOT NULL,
	reason bytetext NOT NULL,
	first_seen_at bigint NOT NULL,
	last_seen_at bigint NOT NULL,
	last_changed_at bigint NOT NULL,
	event_count integer NOT NULL,
	excluded_at bigint,
	exclusion_reason text NOT NULL,
	forgiven_at bigint,
	PRIMARY KEY (org_id, email_key),
	UNIQUE (org_id, id)
);
CREATE INDEX undeliverable_by_change ON undeliverable (org_id, last_changed_at, id);
