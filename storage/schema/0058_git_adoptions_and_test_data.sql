-- Locks on PostgreSQL: git_connections (ACCESS EXCLUSIVE: reads and writes wait), for
-- milliseconds: no row is rewritten, and each lock ends with the migration.

-- Definitions that the connected repository names and that are edited in Mailhelm instead. Syncs leave
-- them out. kind is segment or workflow.
CREATE TABLE git_adoptions (
	org_id bytetext NOT NULL,
	kind bytetext NOT NULL,
	key bytetext NOT NULL,
	adopted_at bigint NOT NULL,
	PRIMARY KEY (org_id, kind, key)
);

-- The paths of the files in the folders of test data, as a JSON array. A change of a template knows from
-- them which files it has to remove.
ALTER TABLE git_connections ADD COLUMN test_data text NOT NULL DEFAULT '[]';
