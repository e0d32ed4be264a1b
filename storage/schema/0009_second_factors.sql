-- Locks on PostgreSQL: sessions (ACCESS EXCLUSIVE: reads and writes wait), for milliseconds: no
-- row is rewritten, and each lock ends with the migration.

-- The shared secret of a person's authenticator app, sealed with the master key.
-- used_step is the last time step whose code was taken, so that none is good twice.
CREATE TABLE authenticators (
	user_id bytetext PRIMARY KEY,
	sealed bytea NOT NULL,
	used_step bigint NOT NULL,
	created_at bigint NOT NULL,
	confirmed_at bigint
);

-- A used code stays, so that a person sees how many are left of how many.
CREATE TABLE recovery_codes (
	user_id bytetext NOT NULL,
	hash bytea NOT NULL,
	used_at bigint,
	PRIMARY KEY (user_id, hash)
);

-- credential is what the WebAuthn library has to remember of one, as JSON.
CREATE TABLE passkeys (
	user_id bytetext NOT NULL,
	id bytetext NOT NULL,
	credential_id bytea NOT NULL UNIQUE,
	name text NOT NULL,
	credential text NOT NULL,
	created_at bigint NOT NULL,
	last_used_at bigint,
	PRIMARY KEY (user_id, id)
);

-- What was asked of an authenticator and is not answered yet. The hash is of a
-- secret that the browser holds; each is good once.
CREATE TABLE passkey_ceremonies (
	hash bytea PRIMARY KEY,
	user_id bytetext NOT NULL,
	purpose text NOT NULL,
	data text NOT NULL,
	expires_at bigint NOT NULL
);
CREATE INDEX passkey_ceremonies_expiry ON passkey_ceremonies (expires_at);

-- A session after the password and before the second factor lets nobody in.
ALTER TABLE sessions ADD COLUMN awaits_second_factor boolean NOT NULL DEFAULT false;
