-- Locks on PostgreSQL: no existing table.

-- Contact files that people upload, and their imports. sample has the header and the
-- first rows, settings how the columns are read. checked and imported are the counts of
-- the dry run and of the import. A process that works on an upload holds it until
-- claimed_until.
CREATE TABLE contact_uploads (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	file_name text NOT NULL,
	size bigint NOT NULL,
	status bytetext NOT NULL,
	sample text NOT NULL,
	settings text NOT NULL,
	checked text NOT NULL,
	imported text NOT NULL,
	problem text NOT NULL,
	attempts bigint NOT NULL,
	created_at bigint NOT NULL,
	completed_at bigint,
	claimed_until bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX contact_uploads_newest ON contact_uploads (org_id, created_at, id);
CREATE INDEX contact_uploads_working ON contact_uploads (org_id, created_at, id) WHERE status IN ('checking', 'importing');

-- The uploaded file (kind file) and its rejected rows (kind rejected), in pieces.
CREATE TABLE contact_upload_chunks (
	org_id bytetext NOT NULL,
	upload_id bytetext NOT NULL,
	kind bytetext NOT NULL,
	position bigint NOT NULL,
	content bytea NOT NULL,
	PRIMARY KEY (org_id, upload_id, kind, position),
	FOREIGN KEY (org_id, upload_id) REFERENCES contact_uploads (org_id, id) ON DELETE CASCADE
);
