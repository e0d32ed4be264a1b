-- Locks on PostgreSQL: no existing table.

-- Requests to leave the provider's sandbox. granted_at is when it was first seen
-- to be granted.
CREATE TABLE production_requests (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	mail_type text NOT NULL,
	website text NOT NULL,
	use_case text NOT NULL,
	status bytetext NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	granted_at bigint,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX production_requests_newest ON production_requests (org_id, created_at, id);
CREATE UNIQUE INDEX production_requests_open ON production_requests (org_id) WHERE status IN ('pending', 'under_review');
