-- The newest messages of each account with their content, for people who read them. The
-- columns of lists and searches come first, because long contents are on pages of their own.
CREATE TABLE mails (
	id                INTEGER PRIMARY KEY,
	org_id            TEXT    NOT NULL,
	number            INTEGER NOT NULL, -- accounts.messages after the message was sent
	message_id        TEXT    NOT NULL,
	at                INTEGER NOT NULL,
	sender            TEXT    NOT NULL,
	recipients        TEXT    NOT NULL, -- JSON array
	subject           TEXT    NOT NULL,
	search            TEXT    NOT NULL, -- recipients and subject, in lower case
	configuration_set TEXT    NOT NULL,
	test              INTEGER NOT NULL,
	outcome           TEXT    NOT NULL,
	tags              TEXT    NOT NULL, -- JSON object
	headers           TEXT    NOT NULL, -- JSON array of names and values
	cut               INTEGER NOT NULL,
	body_text         TEXT    NOT NULL,
	body_html         TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX mails_in_order ON mails (org_id, number, message_id);
