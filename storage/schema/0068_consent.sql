-- Locks on PostgreSQL: no existing table.

-- The contact lists of organizations that send through an SMTP server, which keeps no consent.
-- next_position is behind the position of every contact. moved is the hash of the list that was
-- last moved here from a file of simulated accounts, or empty.
CREATE TABLE consent_lists (
	org_id bytetext PRIMARY KEY,
	name text NOT NULL,
	description text NOT NULL,
	updated_at bigint NOT NULL,
	next_position bigint NOT NULL DEFAULT 1,
	moved bytetext NOT NULL DEFAULT ''
);

-- The topics of these lists. position is the order of their creation.
CREATE TABLE consent_topics (
	org_id bytetext NOT NULL,
	name bytetext NOT NULL,
	display_name text NOT NULL,
	description text NOT NULL,
	default_subscription bytetext NOT NULL,
	position bigint NOT NULL,
	PRIMARY KEY (org_id, name)
);

-- The contacts of these lists. email_key is the address in lower case, preferences has the choices
-- about topics, such as "+news -offers". position is the order of creation, in which pages are read.
CREATE TABLE consent_contacts (
	org_id bytetext NOT NULL,
	email_key bytetext NOT NULL,
	email text NOT NULL,
	unsubscribe_all boolean NOT NULL,
	preferences bytetext NOT NULL,
	position bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, email_key)
);

CREATE INDEX consent_contacts_in_order ON consent_contacts (org_id, position);
