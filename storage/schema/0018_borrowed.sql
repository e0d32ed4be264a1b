-- Activities and the log of memberships, as far as predicates read them.
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

CREATE TABLE membership_log (
	org_id bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	id bytetext NOT NULL,
	set_kind bytetext NOT NULL,
	set_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	entered boolean NOT NULL,
	PRIMARY KEY (org_id, occurred_at, id)
);
