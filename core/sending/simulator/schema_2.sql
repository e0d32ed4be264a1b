-- What an account sends, refuses to send to, and renders.

ALTER TABLE accounts ADD COLUMN review    TEXT NOT NULL DEFAULT ''; -- of the request for production access
ALTER TABLE accounts ADD COLUMN mail_type TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN website   TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN use_case  TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN messages  INTEGER NOT NULL DEFAULT 0; -- how many were ever sent: message ids follow from it

ALTER TABLE contacts ADD COLUMN attributes_data TEXT NOT NULL DEFAULT ''; -- the customer's own, opaque

-- Pages are read in the order of id, here and below.
CREATE TABLE suppressed (
	id        INTEGER PRIMARY KEY AUTOINCREMENT,
	org_id    TEXT    NOT NULL,
	email_key TEXT    NOT NULL, -- lower case
	email     TEXT    NOT NULL,
	reason    TEXT    NOT NULL,
	at        INTEGER NOT NULL,
	UNIQUE (org_id, email_key)
) STRICT;

CREATE INDEX suppressed_in_order ON suppressed (org_id, id);

CREATE TABLE templates (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	org_id     TEXT    NOT NULL,
	name       TEXT    NOT NULL,
	subject    TEXT    NOT NULL,
	body_text  TEXT    NOT NULL,
	body_html  TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	UNIQUE (org_id, name)
) STRICT;

CREATE INDEX templates_in_order ON templates (org_id, id);

-- What counts against the quotas: one row for each call that sent.
CREATE TABLE sent (
	id         INTEGER PRIMARY KEY,
	org_id     TEXT    NOT NULL,
	at         INTEGER NOT NULL,
	recipients INTEGER NOT NULL
) STRICT;

CREATE INDEX sent_at ON sent (org_id, at, recipients);

-- Events that wait for their time and for somebody to take them.
CREATE TABLE outbox (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	org_id       TEXT    NOT NULL,
	due          INTEGER NOT NULL,
	event        TEXT    NOT NULL, -- the provider's JSON
	unsubscribes TEXT    NOT NULL  -- the contact who unsubscribes with it, in lower case, or ''
) STRICT;

CREATE INDEX outbox_due ON outbox (org_id, due, id);
