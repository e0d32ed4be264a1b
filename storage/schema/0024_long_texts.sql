-- Locks on PostgreSQL: contact_slots (ACCESS EXCLUSIVE: reads and writes wait), for
-- milliseconds: no row is rewritten, and each lock ends with the migration.

-- An entry of an index has room for some 2,700 bytes on PostgreSQL. Of a text that is
-- longer than 2,048 bytes the slot has the beginning, a character longer than that,
-- and long_texts the whole: an object by slot, NULL where all texts are whole.
ALTER TABLE contact_slots ADD COLUMN long_texts text;
