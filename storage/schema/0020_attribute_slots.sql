-- Locks on PostgreSQL: attributes (ACCESS EXCLUSIVE: reads and writes wait); contacts (SHARE
-- ROW EXCLUSIVE: writes wait), until the end of the migration. One row is inserted for each
-- active contact: some seconds for 100,000 contacts, in which writes of contacts wait.

-- An attribute with a slot has its values in that column of contact_slots as well;
-- '' is none. filling is the slot it will have once the pass over the contacts that
-- the change asked for has put its values there: writes keep both, reads trust slot.
ALTER TABLE attributes ADD COLUMN slot bytetext NOT NULL DEFAULT '';
ALTER TABLE attributes ADD COLUMN filling bytetext NOT NULL DEFAULT '';

-- Names under which stored values may stand although no attribute has the name:
-- values of attribute_id, which was renamed and gets them with the pass; '' when the
-- attribute was deleted, whose values stay until somebody takes the name again.
CREATE TABLE attribute_leftovers (
	org_id bytetext NOT NULL,
	name bytetext NOT NULL,
	attribute_id bytetext NOT NULL,
	PRIMARY KEY (org_id, name)
);

-- An organization whose contacts have yet to follow a change of the registry. The
-- pass has come past the contact after_contact; a change starts it again with the
-- next generation.
CREATE TABLE attribute_passes (
	org_id bytetext PRIMARY KEY,
	generation bigint NOT NULL,
	after_contact bytetext NOT NULL
);

-- The values that predicates filter on, one row for each active contact: s holds
-- strings and enums, n numbers and booleans (0, 1), t instants in microseconds.
-- contacts.attributes is the record that these are taken from.
CREATE TABLE contact_slots (
	org_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	s1 bytetext,
	s2 bytetext,
	s3 bytetext,
	s4 bytetext,
	s5 bytetext,
	s6 bytetext,
	s7 bytetext,
	s8 bytetext,
	s9 bytetext,
	s10 bytetext,
	s11 bytetext,
	s12 bytetext,
	s13 bytetext,
	s14 bytetext,
	s15 bytetext,
	s16 bytetext,
	n1 double precision,
	n2 double precision,
	n3 double precision,
	n4 double precision,
	n5 double precision,
	n6 double precision,
	n7 double precision,
	n8 double precision,
	n9 double precision,
	n10 double precision,
	n11 double precision,
	n12 double precision,
	n13 double precision,
	n14 double precision,
	n15 double precision,
	n16 double precision,
	t1 bigint,
	t2 bigint,
	t3 bigint,
	t4 bigint,
	t5 bigint,
	t6 bigint,
	t7 bigint,
	t8 bigint,
	PRIMARY KEY (org_id, contact_id),
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_slots_s1 ON contact_slots (org_id, s1) WHERE s1 IS NOT NULL;
CREATE INDEX contact_slots_s2 ON contact_slots (org_id, s2) WHERE s2 IS NOT NULL;
CREATE INDEX contact_slots_s3 ON contact_slots (org_id, s3) WHERE s3 IS NOT NULL;
CREATE INDEX contact_slots_s4 ON contact_slots (org_id, s4) WHERE s4 IS NOT NULL;
CREATE INDEX contact_slots_s5 ON contact_slots (org_id, s5) WHERE s5 IS NOT NULL;
CREATE INDEX contact_slots_s6 ON contact_slots (org_id, s6) WHERE s6 IS NOT NULL;
CREATE INDEX contact_slots_s7 ON contact_slots (org_id, s7) WHERE s7 IS NOT NULL;
CREATE INDEX contact_slots_s8 ON contact_slots (org_id, s8) WHERE s8 IS NOT NULL;
CREATE INDEX contact_slots_s9 ON contact_slots (org_id, s9) WHERE s9 IS NOT NULL;
CREATE INDEX contact_slots_s10 ON contact_slots (org_id, s10) WHERE s10 IS NOT NULL;
CREATE INDEX contact_slots_s11 ON contact_slots (org_id, s11) WHERE s11 IS NOT NULL;
CREATE INDEX contact_slots_s12 ON contact_slots (org_id, s12) WHERE s12 IS NOT NULL;
CREATE INDEX contact_slots_s13 ON contact_slots (org_id, s13) WHERE s13 IS NOT NULL;
CREATE INDEX contact_slots_s14 ON contact_slots (org_id, s14) WHERE s14 IS NOT NULL;
CREATE INDEX contact_slots_s15 ON contact_slots (org_id, s15) WHERE s15 IS NOT NULL;
CREATE INDEX contact_slots_s16 ON contact_slots (org_id, s16) WHERE s16 IS NOT NULL;
CREATE INDEX contact_slots_n1 ON contact_slots (org_id, n1) WHERE n1 IS NOT NULL;
CREATE INDEX contact_slots_n2 ON contact_slots (org_id, n2) WHERE n2 IS NOT NULL;
CREATE INDEX contact_slots_n3 ON contact_slots (org_id, n3) WHERE n3 IS NOT NULL;
CREATE INDEX contact_slots_n4 ON contact_slots (org_id, n4) WHERE n4 IS NOT NULL;
CREATE INDEX contact_slots_n5 ON contact_slots (org_id, n5) WHERE n5 IS NOT NULL;
CREATE INDEX contact_slots_n6 ON contact_slots (org_id, n6) WHERE n6 IS NOT NULL;
CREATE INDEX contact_slots_n7 ON contact_slots (org_id, n7) WHERE n7 IS NOT NULL;
CREATE INDEX contact_slots_n8 ON contact_slots (org_id, n8) WHERE n8 IS NOT NULL;
CREATE INDEX contact_slots_n9 ON contact_slots (org_id, n9) WHERE n9 IS NOT NULL;
CREATE INDEX contact_slots_n10 ON contact_slots (org_id, n10) WHERE n10 IS NOT NULL;
CREATE INDEX contact_slots_n11 ON contact_slots (org_id, n11) WHERE n11 IS NOT NULL;
CREATE INDEX contact_slots_n12 ON contact_slots (org_id, n12) WHERE n12 IS NOT NULL;
CREATE INDEX contact_slots_n13 ON contact_slots (org_id, n13) WHERE n13 IS NOT NULL;
CREATE INDEX contact_slots_n14 ON contact_slots (org_id, n14) WHERE n14 IS NOT NULL;
CREATE INDEX contact_slots_n15 ON contact_slots (org_id, n15) WHERE n15 IS NOT NULL;
CREATE INDEX contact_slots_n16 ON contact_slots (org_id, n16) WHERE n16 IS NOT NULL;
CREATE INDEX contact_slots_t1 ON contact_slots (org_id, t1) WHERE t1 IS NOT NULL;
CREATE INDEX contact_slots_t2 ON contact_slots (org_id, t2) WHERE t2 IS NOT NULL;
CREATE INDEX contact_slots_t3 ON contact_slots (org_id, t3) WHERE t3 IS NOT NULL;
CREATE INDEX contact_slots_t4 ON contact_slots (org_id, t4) WHERE t4 IS NOT NULL;
CREATE INDEX contact_slots_t5 ON contact_slots (org_id, t5) WHERE t5 IS NOT NULL;
CREATE INDEX contact_slots_t6 ON contact_slots (org_id, t6) WHERE t6 IS NOT NULL;
CREATE INDEX contact_slots_t7 ON contact_slots (org_id, t7) WHERE t7 IS NOT NULL;
CREATE INDEX contact_slots_t8 ON contact_slots (org_id, t8) WHERE t8 IS NOT NULL;

INSERT INTO contact_slots (org_id, contact_id) SELECT org_id, id FROM contacts WHERE status = 'active';
INSERT INTO attribute_passes (org_id, generation, after_contact) SELECT DISTINCT org_id, 1, '' FROM attributes;
