-- Locks on PostgreSQL: clients, members (ACCESS EXCLUSIVE: reads and writes wait), for
-- milliseconds: no row is rewritten, and each lock ends with the migration.

ALTER TABLE clients ADD COLUMN redirect_uris text NOT NULL DEFAULT '[]';
ALTER TABLE clients ADD COLUMN refresh_days integer NOT NULL DEFAULT 0;

ALTER TABLE members ADD COLUMN permissions text NOT NULL DEFAULT '[]';
-- A person chooses among all organizations that they belong to.
CREATE INDEX members_by_user ON members (user_id);

CREATE TABLE grants (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	user_id bytetext NOT NULL,
	client_id bytetext NOT NULL,
	resource text NOT NULL,
	scopes text NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint,
	revoked_at bigint,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX grants_newest ON grants (org_id, created_at, id);
CREATE INDEX grants_by_client ON grants (org_id, client_id);

-- Codes and refresh tokens are secrets that arrive without their organization,
-- so the hash is the key. A used row stays, to tell a replay from a guess.
CREATE TABLE authorization_codes (
	hash bytea PRIMARY KEY,
	org_id bytetext NOT NULL,
	grant_id bytetext NOT NULL,
	client_id bytetext NOT NULL,
	redirect_uri text NOT NULL,
	challenge text NOT NULL,
	expires_at bigint NOT NULL,
	used_at bigint
);
CREATE INDEX authorization_codes_expiry ON authorization_codes (expires_at);

CREATE TABLE refresh_tokens (
	hash bytea PRIMARY KEY,
	org_id bytetext NOT NULL,
	grant_id bytetext NOT NULL,
	client_id bytetext NOT NULL,
	issued_at bigint NOT NULL,
	used_at bigint
);

-- Access tokens that were revoked before they expire, by the ids in them.
CREATE TABLE denied_tokens (
	token_id bytetext PRIMARY KEY,
	expires_at bigint NOT NULL
);
CREATE INDEX denied_tokens_expiry ON denied_tokens (expires_at);

-- Sessions are people's. org_id is the organization they work in at the moment.
CREATE TABLE sessions (
	hash bytea PRIMARY KEY,
	user_id bytetext NOT NULL,
	org_id bytetext NOT NULL,
	created_at bigint NOT NULL,
	last_seen_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	second_factor_at bigint
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);
