-- Locks on PostgreSQL: no existing table.

-- The recipients of sends. A send is the mailing of one message, such as a broadcast; its
-- own row is in the table of its kind. recipient is the id of a contact or, in a test send,
-- a position. changed_at is the time of the last change of state.
CREATE TABLE handover_recipients (
	org_id bytetext NOT NULL,
	send_id bytetext NOT NULL,
	recipient bytetext NOT NULL,
	email bytetext NOT NULL,
	state bytetext NOT NULL,
	attempt bigint NOT NULL,
	claimed_by bytetext NOT NULL,
	changed_at bigint NOT NULL,
	not_before bigint NOT NULL,
	message_id bytetext NOT NULL,
	reason text NOT NULL,
	tier bytetext NOT NULL,
	PRIMARY KEY (org_id, send_id, recipient)
);
CREATE INDEX handover_recipients_pending ON handover_recipients (org_id, send_id, not_before, recipient) WHERE state = 'pending';
CREATE INDEX handover_recipients_open ON handover_recipients (org_id, changed_at) WHERE state = 'handing_over';
