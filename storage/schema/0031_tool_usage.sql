-- Locks on PostgreSQL: no existing table.

-- Calls at the agent endpoint by client, person, operation and UTC day. day is its
-- midnight in microseconds. user_id is '' for a client without a person, operation is
-- '' for requests that named none. Rows are added up in memory first, so one row is
-- written every few seconds at most.
CREATE TABLE tool_usage (
	org_id bytetext NOT NULL,
	client_id bytetext NOT NULL,
	user_id bytetext NOT NULL,
	operation bytetext NOT NULL,
	day bigint NOT NULL,
	calls bigint NOT NULL,
	confirmed bigint NOT NULL,
	asked bigint NOT NULL,
	refused bigint NOT NULL,
	failed bigint NOT NULL,
	last_at bigint NOT NULL,
	PRIMARY KEY (org_id, client_id, user_id, operation, day)
);
CREATE INDEX tool_usage_by_day ON tool_usage (org_id, day);
