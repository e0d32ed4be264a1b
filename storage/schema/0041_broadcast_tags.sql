-- Locks on PostgreSQL: tags (SHARE ROW EXCLUSIVE: writes wait), for milliseconds: no row is
-- rewritten, and each lock ends with the migration.

-- Tags of broadcasts.
CREATE TABLE broadcast_tags (
	org_id bytetext NOT NULL,
	broadcast_id bytetext NOT NULL,
	tag_id bytetext NOT NULL,
	PRIMARY KEY (org_id, broadcast_id, tag_id),
	FOREIGN KEY (org_id, tag_id) REFERENCES tags (org_id, id) ON DELETE CASCADE
);
CREATE INDEX broadcast_tags_by_tag ON broadcast_tags (org_id, tag_id);
