-- Locks on PostgreSQL: no existing table.

-- topic_preferences is the record that reads take, {"topic": "OPT_IN"} with its
-- keys sorted; contact_topics holds the same choices as rows, to filter by.
-- shell is true as long as only a sync has made the contact.
CREATE TABLE contacts (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	email text NOT NULL,
	email_key bytetext NOT NULL,
	external_id bytetext,
	status bytetext NOT NULL,
	attributes text NOT NULL,
	topic_preferences bytetext NOT NULL,
	unsubscribe_all boolean NOT NULL,
	shell boolean NOT NULL DEFAULT FALSE,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, email_key),
	UNIQUE (org_id, external_id)
);
CREATE INDEX contacts_newest ON contacts (org_id, status, created_at, id);

CREATE TABLE contact_topics (
	org_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	topic bytetext NOT NULL,
	subscription text NOT NULL,
	PRIMARY KEY (org_id, contact_id, topic),
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);

-- search is the name and the key in lower case, folded outside the database,
-- because the engines do not agree on what lower case is beyond ASCII.
CREATE TABLE lists (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	key bytetext NOT NULL,
	name text NOT NULL,
	description text NOT NULL,
	search bytetext NOT NULL,
	source text NOT NULL,
	origin text NOT NULL,
	source_path text NOT NULL,
	status bytetext NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, key)
);
CREATE INDEX lists_newest ON lists (org_id, status, created_at, id);

CREATE TABLE list_members (
	org_id bytetext NOT NULL,
	list_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	added_at bigint NOT NULL,
	PRIMARY KEY (org_id, list_id, contact_id),
	FOREIGN KEY (org_id, list_id) REFERENCES lists (org_id, id) ON DELETE CASCADE,
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);
CREATE INDEX list_members_by_contact ON list_members (org_id, contact_id, list_id);

CREATE TABLE attributes (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	name bytetext NOT NULL,
	type text NOT NULL,
	enum_values text NOT NULL,
	description text NOT NULL,
	origin text NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, name)
);
CREATE INDEX attributes_newest ON attributes (org_id, created_at, id);

CREATE TABLE topics (
	org_id bytetext NOT NULL,
	name bytetext NOT NULL,
	display_name text NOT NULL,
	description text NOT NULL,
	default_subscription text NOT NULL,
	origin text NOT NULL,
	status text NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, name)
);

CREATE TABLE contact_lists (
	org_id bytetext PRIMARY KEY,
	name text NOT NULL,
	description text NOT NULL,
	last_synced_at bigint NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL
);
