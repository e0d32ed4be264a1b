-- Locks on PostgreSQL: templates (ACCESS EXCLUSIVE: reads and writes wait), for milliseconds:
-- no row is rewritten, and each lock ends with the migration.

-- The contents of images that mail shows. hash is the SHA-256 of the content in hexadecimal, by
-- which the object store with the id store_id has it. width and height are 0 if they are unknown.
-- Rows are never deleted: mail that was sent shows the images.
CREATE TABLE asset_contents (
	org_id bytetext NOT NULL,
	hash bytetext NOT NULL,
	content_type bytetext NOT NULL,
	width bigint NOT NULL,
	height bigint NOT NULL,
	size_bytes bigint NOT NULL,
	store_id bytetext NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, hash)
);
-- The public address of a content does not name the organization.
CREATE INDEX asset_contents_by_hash ON asset_contents (hash);

-- Images by their paths in a bundle or in the connected repository. branch is '' for a bundle.
-- status is active, or archived for an image whose path is no longer defined.
CREATE TABLE assets (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	source_path bytetext NOT NULL,
	hash bytetext NOT NULL,
	branch bytetext NOT NULL,
	origin bytetext NOT NULL,
	status bytetext NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, source_path)
);

-- When an image that the template names last changed. The template is then deployed again.
ALTER TABLE templates ADD COLUMN assets_changed_at bigint NOT NULL DEFAULT 0;
