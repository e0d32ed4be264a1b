-- Locks on PostgreSQL: no existing table.

-- One row for each message that an account took. status is the weightiest of its
-- events and rank its weight, so that events may come in any order.
CREATE TABLE messages (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	sender text NOT NULL,
	recipient text NOT NULL,
	identity bytetext NOT NULL,
	sent_at bigint NOT NULL,
	status bytetext NOT NULL,
	rank integer NOT NULL,
	last_event_at bigint NOT NULL,
	channel bytetext NOT NULL,
	subject text NOT NULL,
	template bytetext NOT NULL,
	test boolean NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX messages_newest ON messages (org_id, sent_at, id);
CREATE INDEX messages_by_status ON messages (org_id, status, sent_at, id);
CREATE INDEX messages_by_channel ON messages (org_id, channel, sent_at, id);
CREATE INDEX messages_by_template ON messages (org_id, template, sent_at, id);
CREATE INDEX messages_by_identity ON messages (org_id, identity, sent_at, id);

-- Every recipient of a message, as the provider spells the address.
CREATE TABLE message_recipients (
	org_id bytetext NOT NULL,
	recipient bytetext NOT NULL,
	sent_at bigint NOT NULL,
	message_id bytetext NOT NULL,
	PRIMARY KEY (org_id, recipient, sent_at, message_id)
);
CREATE INDEX message_recipients_of_message ON message_recipients (org_id, message_id, sent_at);

-- Appended to and never changed. The id follows from what the event says, so the
-- primary key also keeps an event from being stored twice; time comes first in it,
-- so that the table can be partitioned. What reports group by stands here as well,
-- because the part of a day at the edge of a window is counted from events.
CREATE TABLE message_events (
	org_id bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	id bytetext NOT NULL,
	message_id bytetext NOT NULL,
	type bytetext NOT NULL,
	recipient text NOT NULL,
	recipient_key bytetext NOT NULL,
	bounce_type bytetext,
	bounce_sub_type bytetext,
	channel bytetext NOT NULL,
	identity bytetext NOT NULL,
	template bytetext NOT NULL,
	test boolean NOT NULL,
	metadata text,
	recorded_at bigint NOT NULL,
	PRIMARY KEY (org_id, occurred_at, id)
);
CREATE INDEX message_events_of_message ON message_events (org_id, message_id, occurred_at, id);
CREATE INDEX message_events_against ON message_events (org_id, recipient_key, occurred_at)
	WHERE type IN ('Bounce', 'Complaint', 'Reject');
