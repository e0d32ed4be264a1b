-- Locks on PostgreSQL: no existing table.

-- Messages that were accepted and are not processed yet. envelope is the envelope as JSON,
-- with the routes of the recipients. raw_key is the key of the message in the object store.
-- due_at is the time of the next attempt or, while a process works on the message, the end of
-- its lease. attempts is the fencing token. discard is "" or, for a message that was processed, a
-- JSON array with the keys of objects that must be deleted.
CREATE TABLE received_mail (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	envelope text NOT NULL,
	store_id bytetext NOT NULL,
	raw_key text NOT NULL,
	discard text NOT NULL,
	received_at bigint NOT NULL,
	attempts bigint NOT NULL,
	due_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX received_mail_due ON received_mail (due_at, id);
