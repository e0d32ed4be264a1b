-- The configuration set of an identity's mail that names none; '' for no such default.

ALTER TABLE identities ADD COLUMN configuration_set TEXT NOT NULL DEFAULT '';
