-- Locks on PostgreSQL: contacts (SHARE ROW EXCLUSIVE: writes wait), for milliseconds: no row is
-- rewritten, and each lock ends with the migration.

-- Bulk writes of contacts. A job's rows lie in chunks; processed is how many are
-- done, from the first on, and the place where the work goes on. attempts counts
-- the tries of the next chunk that failed.
CREATE TABLE bulk_jobs (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	status bytetext NOT NULL,
	total bigint NOT NULL,
	processed bigint NOT NULL,
	succeeded bigint NOT NULL,
	failed bigint NOT NULL,
	attempts bigint NOT NULL,
	created_at bigint NOT NULL,
	completed_at bigint,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX bulk_jobs_open ON bulk_jobs (org_id, created_at, id) WHERE completed_at IS NULL;
CREATE INDEX bulk_jobs_finished ON bulk_jobs (org_id, completed_at, id) WHERE completed_at IS NOT NULL;

-- content is the rows as they came, a JSON array, and becomes an empty one when
-- outcomes, another, takes its place.
CREATE TABLE bulk_chunks (
	org_id bytetext NOT NULL,
	job_id bytetext NOT NULL,
	first_index bigint NOT NULL,
	size bigint NOT NULL,
	content text NOT NULL,
	outcomes text NOT NULL,
	PRIMARY KEY (org_id, job_id, first_index),
	FOREIGN KEY (org_id, job_id) REFERENCES bulk_jobs (org_id, id) ON DELETE CASCADE
);

-- Contacts whose consent the sending account does not have yet. said is what was
-- said about it since it was last the account's, a JSON object; an empty one brings
-- the account what it lacks and takes nothing back that it holds. next_at is when to
-- try, or until when somebody does.
CREATE TABLE contact_pushes (
	org_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	queued_at bigint NOT NULL,
	attempts bigint NOT NULL,
	next_at bigint NOT NULL,
	said text NOT NULL DEFAULT '{}',
	PRIMARY KEY (org_id, contact_id),
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_pushes_due ON contact_pushes (org_id, next_at, contact_id);
