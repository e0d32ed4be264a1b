-- Locks on PostgreSQL: no existing table.

-- Links with which people reset a forgotten password. The hash is of a secret that the
-- mail alone holds; password_mark is a digest of the password hash of then, so that no
-- link outlives a change of the password.
CREATE TABLE password_resets (
	hash bytea PRIMARY KEY,
	user_id bytetext NOT NULL,
	password_mark bytea NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL
);
CREATE INDEX password_resets_by_user ON password_resets (user_id);
CREATE INDEX password_resets_expiry ON password_resets (expires_at);

-- Browsers in which a person signed in before. Guessing from elsewhere does not keep
-- the person out there.
CREATE TABLE known_devices (
	hash bytea PRIMARY KEY,
	user_id bytetext NOT NULL,
	last_used_at bigint NOT NULL,
	expires_at bigint NOT NULL
);
CREATE INDEX known_devices_by_user ON known_devices (user_id, last_used_at);
CREATE INDEX known_devices_expiry ON known_devices (expires_at);

-- When a person was last warned that many wrong passwords were tried.
CREATE TABLE password_warnings (
	user_id bytetext PRIMARY KEY,
	warned_at bigint NOT NULL
);
