-- Locks on PostgreSQL: no existing table.

-- What an organization sends through and from, as its account last showed it.
-- present is false once the account no longer has the channel. account names the
-- provider's account and its region.
CREATE TABLE channels (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	name bytetext NOT NULL,
	slug bytetext NOT NULL,
	account bytetext NOT NULL,
	present boolean NOT NULL,
	tracking_domain text NOT NULL,
	suppression_policy text NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, name),
	UNIQUE (org_id, slug)
);
CREATE INDEX channels_newest ON channels (org_id, created_at, id);

-- Which organization uses a channel or an identity of a provider's account.
-- Several may share the account, and each thing in it is one organization's, so
-- this is unique over all of them.
CREATE TABLE sending_claims (
	org_id bytetext NOT NULL,
	account bytetext NOT NULL,
	kind bytetext NOT NULL,
	name bytetext NOT NULL,
	claimed_at bigint NOT NULL,
	PRIMARY KEY (org_id, account, kind, name),
	UNIQUE (account, kind, name)
);

-- identity_key is the identity in lower case, channel the name of its default
-- configuration set.
CREATE TABLE identities (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	identity text NOT NULL,
	identity_key bytetext NOT NULL,
	verification text NOT NULL,
	channel bytetext NOT NULL,
	dkim_tokens text NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, identity_key)
);
CREATE INDEX identities_newest ON identities (org_id, created_at, id);

CREATE TABLE tracking_domains (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	domain bytetext NOT NULL,
	region text NOT NULL,
	status bytetext NOT NULL,
	created_at bigint NOT NULL,
	checked_at bigint,
	verified_at bigint,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, domain)
);
CREATE INDEX tracking_domains_newest ON tracking_domains (org_id, created_at, id);

CREATE TABLE sending_syncs (
	org_id bytetext PRIMARY KEY,
	account bytetext NOT NULL,
	region text NOT NULL,
	synced_at bigint NOT NULL
);

-- search is the name, slug and subject in lower case, folded outside the database.
-- read_at is when the account last told the content, updated_at when that changed.
CREATE TABLE templates (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	name bytetext NOT NULL,
	slug bytetext NOT NULL,
	subject text NOT NULL,
	html text NOT NULL,
	body_text text NOT NULL,
	content_hash text NOT NULL,
	search bytetext NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	read_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, name),
	UNIQUE (org_id, slug)
);
CREATE INDEX templates_newest ON templates (org_id, created_at, id);
