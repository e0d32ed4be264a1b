-- Locks on PostgreSQL: no existing table.

-- Endpoints that receive the events of messages. secret and previous_secret are encrypted
-- with the master key; previous_secret also signs until previous_until. served_at is the
-- time of the last claim of deliveries. slow is true if the last attempt was slow or failed.
-- deleted_at is set until the deliveries of a deleted endpoint are purged.
CREATE TABLE webhook_endpoints (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	url text NOT NULL,
	description text NOT NULL,
	types text NOT NULL,
	enabled boolean NOT NULL,
	secret bytea,
	previous_secret bytea,
	previous_until bigint,
	failing_since bigint,
	disabled_at bigint,
	slow boolean NOT NULL,
	served_at bigint NOT NULL,
	created_at bigint NOT NULL,
	deleted_at bigint,
	PRIMARY KEY (org_id, id)
);

-- Deliveries of events to endpoints. attempts is the fencing token. due_at is the time of
-- the next attempt or, in the state sending, the end of the lease; NULL for a delivery that
-- is delivered or has failed. status, problem and answer are of the last attempt.
CREATE TABLE webhook_deliveries (
	org_id bytetext NOT NULL,
	endpoint_id bytetext NOT NULL,
	id bytetext NOT NULL,
	event_type bytetext NOT NULL,
	message_id bytetext NOT NULL,
	recipient text NOT NULL,
	test boolean NOT NULL,
	body text NOT NULL,
	state bytetext NOT NULL,
	attempts bigint NOT NULL,
	tries bigint NOT NULL,
	created_at bigint NOT NULL,
	due_at bigint,
	answered_at bigint,
	status bigint NOT NULL,
	problem bytetext NOT NULL,
	answer text NOT NULL,
	PRIMARY KEY (org_id, endpoint_id, id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (org_id, endpoint_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (org_id, endpoint_id, due_at) WHERE state = 'sending';
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (org_id, endpoint_id, created_at, id);
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (org_id, endpoint_id, created_at, id) WHERE state = 'failed';
