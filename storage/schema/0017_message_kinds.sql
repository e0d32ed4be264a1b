-- Locks on PostgreSQL: messages (ACCESS EXCLUSIVE: reads and writes wait), until the end of the
-- migration. Writes of messages wait until the index is built and all rows are read once: some
-- seconds for a million rows.

-- Every message that all filters but the recipient's take for the same, newest at
-- the end.
CREATE INDEX messages_by_kind ON messages (org_id, channel, identity, template, status, sent_at, id);

-- Few kinds have an identity of many, and one of few is soon met by going back in time.
DROP INDEX messages_by_identity;

-- Which kinds of messages there are among those sent in a span of 30 days, by its
-- number since 1970. A message that became another kind may leave its row behind.
CREATE TABLE message_kinds (
	org_id bytetext NOT NULL,
	span bigint NOT NULL,
	channel bytetext NOT NULL,
	identity bytetext NOT NULL,
	template bytetext NOT NULL,
	status bytetext NOT NULL,
	PRIMARY KEY (org_id, span, channel, identity, template, status)
);
INSERT INTO message_kinds (org_id, span, channel, identity, template, status)
SELECT DISTINCT org_id, sent_at / 2592000000000, channel, identity, template, status FROM messages;
