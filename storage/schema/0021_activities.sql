-- Locks on PostgreSQL: contacts (ACCESS EXCLUSIVE: reads and writes wait), for milliseconds: no
-- row is rewritten, and each lock ends with the migration.

-- stub is true as long as only activities have named the contact: nobody has consented
-- to anything, the sending account does not know the address, and no mail goes there.
ALTER TABLE contacts ADD COLUMN stub boolean NOT NULL DEFAULT FALSE;

-- Only ever added to, and removed by age. Nothing is received before it happens.
-- properties are the bytes that were sent. contact_id stands at the end of the index by
-- name so that counting contacts by their activities reads nothing but the index.
CREATE TABLE activities (
	org_id bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	name bytetext NOT NULL,
	properties text NOT NULL,
	source bytetext NOT NULL,
	received_at bigint NOT NULL,
	PRIMARY KEY (org_id, occurred_at, id)
);
CREATE INDEX activities_by_name ON activities (org_id, name, occurred_at, id, contact_id);
CREATE INDEX activities_of_contact ON activities (org_id, contact_id, occurred_at, id);

-- What an idempotency key was first used for, until expires_at.
CREATE TABLE activity_keys (
	org_id bytetext NOT NULL,
	key bytetext NOT NULL,
	activity_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (org_id, key)
);
CREATE INDEX activity_keys_expiry ON activity_keys (org_id, expires_at);

-- What a contact did under a name that counts once. It outlives the activity.
CREATE TABLE activity_claims (
	org_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	name bytetext NOT NULL,
	activity_id bytetext NOT NULL,
	claimed_at bigint NOT NULL,
	PRIMARY KEY (org_id, contact_id, name)
);

-- Properties of activities that predicates may filter on.
CREATE TABLE activity_properties (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	activity_name bytetext NOT NULL,
	property bytetext NOT NULL,
	type bytetext NOT NULL,
	description text NOT NULL,
	origin bytetext NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, activity_name, property)
);
CREATE INDEX activity_properties_newest ON activity_properties (org_id, created_at, id);
