-- Locks on PostgreSQL: no existing table.

-- Repositories of Git that hold the definitions of organizations. secret is encrypted and NULL
-- if there is none. branch to manifest are those of the last commit that was applied, with empty
-- texts before the first; committed_at and read_at are then 0. wanted counts the requests for a sync.
-- claim is the id of the sync that runs until claimed_until at the latest.
CREATE TABLE git_connections (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	kind bytetext NOT NULL,
	location text NOT NULL,
	path_prefix text NOT NULL,
	username text NOT NULL,
	secret bytea,
	installation bigint NOT NULL,
	branch text NOT NULL,
	commit_id bytetext NOT NULL,
	committed_at bigint NOT NULL,
	manifest text NOT NULL,
	read_at bigint NOT NULL,
	state bytetext NOT NULL,
	failure text NOT NULL,
	diagnostics text NOT NULL,
	created_at bigint NOT NULL,
	wanted bigint NOT NULL,
	claim bytetext NOT NULL,
	claimed_until bigint NOT NULL,
	PRIMARY KEY (org_id)
);
CREATE INDEX git_connections_by_installation ON git_connections (installation) WHERE installation <> 0;

-- Changes that were proposed on branches. blobs has the Git ids of the changed contents by path.
CREATE TABLE git_proposals (
	org_id bytetext NOT NULL,
	branch bytetext NOT NULL,
	title text NOT NULL,
	url text NOT NULL,
	state bytetext NOT NULL,
	blobs text NOT NULL,
	operation bytetext NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, branch)
);
