-- The whole state of simulated accounts. Every key starts with org_id.
-- Times are microseconds since 1970 in UTC.

CREATE TABLE accounts (
	org_id             TEXT    PRIMARY KEY,
	account_id         TEXT    NOT NULL,
	region             TEXT    NOT NULL,
	sandbox            INTEGER NOT NULL,
	sending_enabled    INTEGER NOT NULL,
	max_24_hour_send   INTEGER NOT NULL,
	max_send_rate      INTEGER NOT NULL,
	sent_last_24_hours INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE identities (
	org_id       TEXT NOT NULL,
	identity_key TEXT NOT NULL, -- lower case
	identity     TEXT NOT NULL,
	verification TEXT NOT NULL,
	PRIMARY KEY (org_id, identity_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE configuration_sets (
	org_id             TEXT NOT NULL,
	name               TEXT NOT NULL,
	tracking_domain    TEXT NOT NULL,
	suppression_policy TEXT NOT NULL, -- words separated by spaces
	PRIMARY KEY (org_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE contact_lists (
	org_id      TEXT    PRIMARY KEY,
	name        TEXT    NOT NULL,
	description TEXT    NOT NULL,
	updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE topics (
	org_id       TEXT    NOT NULL,
	name         TEXT    NOT NULL,
	display_name TEXT    NOT NULL,
	description  TEXT    NOT NULL,
	default_to   TEXT    NOT NULL,
	position     INTEGER NOT NULL, -- the order in which topics were added
	PRIMARY KEY (org_id, name)
) STRICT, WITHOUT ROWID;

-- Pages are read in the order of id. AUTOINCREMENT never gives an id twice, so a
-- contact that is added while somebody pages is always behind their token.
CREATE TABLE contacts (
	id              INTEGER PRIMARY KEY AUTOINCREMENT,
	org_id          TEXT    NOT NULL,
	email_key       TEXT    NOT NULL, -- lower case
	email           TEXT    NOT NULL,
	unsubscribe_all INTEGER NOT NULL,
	preferences     TEXT    NOT NULL, -- see preferences.go
	updated_at      INTEGER NOT NULL,
	UNIQUE (org_id, email_key)
) STRICT;

CREATE INDEX contacts_in_order ON contacts (org_id, id);
