-- Definitions that the connected repository names and that are edited in Mailhelm instead. Syncs leave
-- them out. kind is segment or workflow.
CREATE TABLE git_adoptions (
	org_id bytetext NOT NULL,
	kind bytetext NOT NULL,
	key bytetext NOT NULL,
	adopted_at bigint NOT NULL,
	PRIMARY KEY (org_id, kind, key)
);
