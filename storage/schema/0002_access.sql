-- Locks on PostgreSQL: no existing table.

CREATE TABLE orgs (
	id bytetext PRIMARY KEY,
	name text NOT NULL,
	slug bytetext NOT NULL UNIQUE,
	tier text NOT NULL,
	retention_days integer NOT NULL,
	rate_limit integer,
	git_connected boolean NOT NULL,
	created_at bigint NOT NULL
);

-- People stand outside organizations and belong to them by membership.
CREATE TABLE users (
	id bytetext PRIMARY KEY,
	email text NOT NULL,
	email_key bytetext NOT NULL UNIQUE,
	name text NOT NULL,
	password_hash text NOT NULL,
	created_at bigint NOT NULL
);

CREATE TABLE members (
	org_id bytetext NOT NULL,
	user_id bytetext NOT NULL,
	role text NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, user_id)
);

-- Credentials are looked up before the organization is known, which is why these
-- two tables have an index that org_id does not lead.
CREATE TABLE clients (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	client_id bytetext NOT NULL UNIQUE,
	name text NOT NULL,
	environment text NOT NULL,
	secret_hash bytea,
	scopes text NOT NULL,
	created_at bigint NOT NULL,
	revoked_at bigint,
	PRIMARY KEY (org_id, id)
);

CREATE TABLE api_keys (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	name text NOT NULL,
	environment bytetext NOT NULL,
	prefix bytetext NOT NULL,
	secret_hash bytea NOT NULL,
	scopes text NOT NULL,
	created_at bigint NOT NULL,
	revoked_at bigint,
	expires_at bigint,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX api_keys_by_prefix ON api_keys (environment, prefix);

-- Signing keys are the installation's. The index admits one that is not retired.
CREATE TABLE signing_keys (
	id bytetext PRIMARY KEY,
	algorithm text NOT NULL,
	sealed bytea NOT NULL,
	created_at bigint NOT NULL,
	retired_at bigint
);
CREATE UNIQUE INDEX signing_keys_current ON signing_keys ((retired_at IS NULL)) WHERE retired_at IS NULL;

-- Append-only and large: keyed so that it can be split by organization or time.
CREATE TABLE audit_events (
	org_id bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	id bytetext NOT NULL,
	action text NOT NULL,
	actor_kind text NOT NULL,
	actor_id text NOT NULL,
	surface text NOT NULL,
	subject_id text NOT NULL,
	request_id text NOT NULL,
	detail text NOT NULL,
	PRIMARY KEY (org_id, occurred_at, id)
);
