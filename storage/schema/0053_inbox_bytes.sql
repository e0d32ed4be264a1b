-- stored_bytes is the size of the messages that an inbox has accepted, as they came.
ALTER TABLE inboxes ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0;
