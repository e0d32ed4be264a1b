-- Locks on PostgreSQL: bulk_jobs, replay_records (ACCESS EXCLUSIVE: reads and writes wait);
-- contacts (SHARE ROW EXCLUSIVE: writes wait), until the end of the migration. Calls with an
-- idempotency key wait until replay_records is read once for its index.

-- A reservation is its process's: it ends with the process. subject is set on a result
-- that counts until its caller next writes to the record with that id; the index is
-- for that write, which ends such results.
ALTER TABLE replay_records ADD COLUMN process bytetext NOT NULL DEFAULT '';
ALTER TABLE replay_records ADD COLUMN caller bytetext NOT NULL DEFAULT '';
ALTER TABLE replay_records ADD COLUMN subject bytetext;
CREATE INDEX replay_records_subject ON replay_records (org_id, caller, subject) WHERE subject IS NOT NULL;

-- The processes that hold reservations, with the last sign of life of each by its own
-- clock. On SQLite there is one process, which needs no row.
CREATE TABLE processes (
	id bytetext PRIMARY KEY,
	beat_at bigint NOT NULL
);

-- caller is who asked for the bulk write, as in replay_records.
ALTER TABLE bulk_jobs ADD COLUMN caller bytetext NOT NULL DEFAULT '';

-- Writes that are about to change at the account what a sync could not set right by the
-- mirror alone, should their own transaction fail: it removes the row. put is an
-- address that the account does not list before the write, '' for none.
CREATE TABLE account_notes (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	put text NOT NULL,
	noted_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);
CREATE INDEX account_notes_due ON account_notes (org_id, noted_at, id);
CREATE INDEX account_notes_contact ON account_notes (org_id, contact_id);
