-- Locks on PostgreSQL: templates (ACCESS EXCLUSIVE: reads and writes wait), for milliseconds:
-- no row is rewritten, and each lock ends with the migration.

-- Templates that Mailhelm manages (source managed) are in the table of the copies of the
-- account's templates (source import). name is the name in the sending account for both,
-- for a managed template the one under which it is deployed. version_number is the newest
-- version, 0 for a copy. deployed_version is the version in the account, 0 for none.
-- deploy_failure is '' or the kind of failure of the last attempt to deploy.
ALTER TABLE templates ADD COLUMN source bytetext NOT NULL DEFAULT 'import';
ALTER TABLE templates ADD COLUMN version_number bigint NOT NULL DEFAULT 0;
ALTER TABLE templates ADD COLUMN topic bytetext NOT NULL DEFAULT '';
ALTER TABLE templates ADD COLUMN test_data text NOT NULL DEFAULT '';
ALTER TABLE templates ADD COLUMN deployed_version bigint NOT NULL DEFAULT 0;
ALTER TABLE templates ADD COLUMN deployed_at bigint;
ALTER TABLE templates ADD COLUMN deploy_failure bytetext NOT NULL DEFAULT '';
CREATE INDEX templates_managed ON templates (org_id, id) WHERE source = 'managed';

-- Every version of a managed template. saved_by is the id of the credential, or of the
-- signed-in person; saved_by_kind is api_key, oauth_client, user or operator. user_id is
-- the person for whom an application saved, '' for none.
CREATE TABLE template_versions (
	org_id bytetext NOT NULL,
	template_id bytetext NOT NULL,
	version_number bigint NOT NULL,
	subject text NOT NULL,
	html text NOT NULL,
	body_text text NOT NULL,
	content_hash text NOT NULL,
	message text NOT NULL,
	saved_by_kind bytetext NOT NULL,
	saved_by bytetext NOT NULL,
	user_id bytetext NOT NULL,
	saved_at bigint NOT NULL,
	PRIMARY KEY (org_id, template_id, version_number),
	FOREIGN KEY (org_id, template_id) REFERENCES templates (org_id, id) ON DELETE CASCADE
);

-- Tags of templates. color is a name or a hexadecimal color, '' for none.
CREATE TABLE tags (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	name bytetext NOT NULL,
	color bytetext NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, name)
);
CREATE INDEX tags_newest ON tags (org_id, created_at, id);

CREATE TABLE template_tags (
	org_id bytetext NOT NULL,
	template_id bytetext NOT NULL,
	tag_id bytetext NOT NULL,
	PRIMARY KEY (org_id, template_id, tag_id),
	FOREIGN KEY (org_id, template_id) REFERENCES templates (org_id, id) ON DELETE CASCADE,
	FOREIGN KEY (org_id, tag_id) REFERENCES tags (org_id, id) ON DELETE CASCADE
);
CREATE INDEX template_tags_by_tag ON template_tags (org_id, tag_id);
