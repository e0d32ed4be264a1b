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
