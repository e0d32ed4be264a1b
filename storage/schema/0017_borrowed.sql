-- One row for every active contact: what its attributes with a slot hold. Strings and
-- enums stand in s, numbers and bools (0 and 1) in n, moments in t, in microseconds.
CREATE TABLE contact_slots (
	org_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	s1 bytetext, s2 bytetext, s3 bytetext, s4 bytetext, s5 bytetext, s6 bytetext, s7 bytetext, s8 bytetext,
	s9 bytetext, s10 bytetext, s11 bytetext, s12 bytetext, s13 bytetext, s14 bytetext, s15 bytetext, s16 bytetext,
	n1 double precision, n2 double precision, n3 double precision, n4 double precision,
	n5 double precision, n6 double precision, n7 double precision, n8 double precision,
	n9 double precision, n10 double precision, n11 double precision, n12 double precision,
	n13 double precision, n14 double precision, n15 double precision, n16 double precision,
	t1 bigint, t2 bigint, t3 bigint, t4 bigint, t5 bigint, t6 bigint, t7 bigint, t8 bigint,
	PRIMARY KEY (org_id, contact_id),
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_slots_s1 ON contact_slots (org_id, s1) WHERE s1 IS NOT NULL;
CREATE INDEX contact_slots_s2 ON contact_slots (org_id, s2) WHERE s2 IS NOT NULL;
CREATE INDEX contact_slots_n1 ON contact_slots (org_id, n1) WHERE n1 IS NOT NULL;
CREATE INDEX contact_slots_t1 ON contact_slots (org_id, t1) WHERE t1 IS NOT NULL;

ALTER TABLE attributes ADD COLUMN slot bytetext NOT NULL DEFAULT '';

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
CREATE INDEX activities_by_name ON activities (org_id, name, contact_id, occurred_at);
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
