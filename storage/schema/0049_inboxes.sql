-- Locks on PostgreSQL: no existing table.

-- Temporary inboxes. local_part is unique in all organizations, because it is the address.
-- owner sees a private inbox; the live inboxes of caller are counted. ends_at is expires_at or,
-- if it is earlier, the time of the deletion. purged_at is set when the messages are deleted.
-- token_id is the pull link that was made with the inbox.
CREATE TABLE inboxes (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	local_part bytetext NOT NULL UNIQUE,
	owner bytetext NOT NULL,
	caller bytetext NOT NULL,
	account_ref bytetext NOT NULL,
	label text NOT NULL,
	visibility bytetext NOT NULL,
	allowed_senders text NOT NULL,
	restriction bytetext NOT NULL,
	token_id bytetext NOT NULL,
	message_count bigint NOT NULL,
	dropped_count bigint NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	deleted_at bigint,
	ends_at bigint NOT NULL,
	purged_at bigint,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX inboxes_newest ON inboxes (org_id, created_at, id);
CREATE INDEX inboxes_live ON inboxes (org_id, ends_at);
-- The purge looks for ended inboxes of all organizations.
CREATE INDEX inboxes_to_purge ON inboxes (ends_at, id) WHERE purged_at IS NULL;
CREATE INDEX inboxes_to_forget ON inboxes (ends_at, id) WHERE purged_at IS NOT NULL;

-- Pull links. hash is the SHA-256 of the secret, by which the pull host finds the inbox, so it
-- is unique in all organizations.
CREATE TABLE inbox_tokens (
	org_id bytetext NOT NULL,
	inbox_id bytetext NOT NULL,
	id bytetext NOT NULL,
	hash bytea NOT NULL UNIQUE,
	prefix bytetext NOT NULL,
	label text NOT NULL,
	created_at bigint NOT NULL,
	revoked_at bigint,
	PRIMARY KEY (org_id, inbox_id, id)
);

-- Messages of inboxes. seq is the position in the inbox, from 1. bytes is the length of the
-- column message.
CREATE TABLE inbox_messages (
	org_id bytetext NOT NULL,
	inbox_id bytetext NOT NULL,
	seq bigint NOT NULL,
	message_id bytetext NOT NULL,
	recipients text NOT NULL,
	message text NOT NULL,
	extracted text NOT NULL,
	bytes bigint NOT NULL,
	PRIMARY KEY (org_id, inbox_id, seq),
	UNIQUE (org_id, inbox_id, message_id)
);

-- Organizations that have minted inboxes. The lock of the row is that of new inboxes. disabled
-- is true if the operator allows no inboxes.
CREATE TABLE inbox_orgs (
	org_id bytetext PRIMARY KEY,
	disabled boolean NOT NULL
);
