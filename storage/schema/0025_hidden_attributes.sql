-- Locks on PostgreSQL: attributes (ACCESS EXCLUSIVE: reads and writes wait), until the end of
-- the migration. All rows of attributes are changed, of which an organization has few.

-- recast is set once the name of an attribute has stood for values of another type, its
-- own or those of a deleted attribute. Stored values may be of that type still; reads of
-- contacts leave out what cannot be made into the present one.
ALTER TABLE attributes ADD COLUMN recast boolean NOT NULL DEFAULT FALSE;
UPDATE attributes SET recast = TRUE;
CREATE INDEX attributes_recast ON attributes (org_id, name) WHERE recast;
