-- Locks on PostgreSQL: audit_events, orgs (ACCESS EXCLUSIVE: reads and writes wait), until the
-- end of the migration. Writes and reads of audit_events wait until its two indexes are built:
-- some seconds for a million rows.

ALTER TABLE orgs ADD COLUMN require_second_factor boolean NOT NULL DEFAULT false;
ALTER TABLE orgs ADD COLUMN platform_mode boolean NOT NULL DEFAULT false;

-- Invitations arrive as a secret in a link, without their organization, so the
-- hash is found first. A used or withdrawn one goes away.
CREATE TABLE invitations (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	hash bytea NOT NULL UNIQUE,
	email text NOT NULL,
	role text NOT NULL,
	permissions text NOT NULL,
	invited_by bytetext NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);

-- The audit log is read by action and by actor as well as whole.
/*pg ALTER TABLE audit_events ALTER COLUMN action TYPE bytetext, ALTER COLUMN actor_id TYPE bytetext; */
CREATE INDEX audit_events_by_action ON audit_events (org_id, action, occurred_at, id);
CREATE INDEX audit_events_by_actor ON audit_events (org_id, actor_id, occurred_at, id);
