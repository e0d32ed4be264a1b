-- Locks on PostgreSQL: contact_uploads, contacts (ACCESS EXCLUSIVE: reads and writes wait), for
-- milliseconds: no row is rewritten, and each lock ends with the migration.

-- Since when and by whom the consent of a contact is as it is, a JSON object; see
-- ConsentChanges in core/contacts. It lacks choices that were last changed before this
-- migration.
ALTER TABLE contacts ADD COLUMN consent_changes text NOT NULL DEFAULT '{}';

-- The person who uploaded the file, '' for files uploaded before this migration.
ALTER TABLE contact_uploads ADD COLUMN uploaded_by bytetext NOT NULL DEFAULT '';
