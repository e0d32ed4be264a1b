-- Locks on PostgreSQL: no existing table.

-- Workflows. status_before is the status to which an invalid workflow returns, '' for none.
-- Versions are numbers in workflow_versions, 0 for none. trigger_* describe the trigger of the
-- current version: trigger_source is the id of a segment or a name, and trigger_key what people
-- write for it. waits is true if runs may wait for a change of their contact. backfill is a JSON
-- object while existing contacts enter, '' otherwise. open is true for workflows that a process
-- may have to work for: active ones, and archived ones with runs to end.
CREATE TABLE workflows (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	key bytetext NOT NULL,
	name text NOT NULL,
	search bytetext NOT NULL,
	status bytetext NOT NULL,
	status_before bytetext NOT NULL,
	invalid_reason text NOT NULL,
	require_approval boolean NOT NULL,
	current_version bigint NOT NULL,
	draft_version bigint NOT NULL,
	trigger_kind bytetext NOT NULL,
	trigger_source bytetext NOT NULL,
	trigger_key bytetext NOT NULL,
	waits boolean NOT NULL,
	swept_until bigint NOT NULL,
	backfill text NOT NULL,
	origin bytetext NOT NULL,
	source_path text NOT NULL,
	source_url text NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	activated_at bigint,
	closing boolean NOT NULL,
	open boolean NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, key)
);
CREATE INDEX workflows_newest ON workflows (org_id, created_at, id);
CREATE INDEX workflows_open ON workflows (org_id, id) WHERE open;
CREATE INDEX workflows_triggered ON workflows (org_id, trigger_kind, trigger_source) WHERE status = 'active';

-- A version that was never activated is replaced when its author saves again.
CREATE TABLE workflow_versions (
	org_id bytetext NOT NULL,
	workflow_id bytetext NOT NULL,
	number bigint NOT NULL,
	source text NOT NULL,
	content_hash bytetext NOT NULL,
	created_at bigint NOT NULL,
	created_by_kind bytetext NOT NULL,
	created_by bytetext NOT NULL,
	user_id bytetext NOT NULL,
	activated_at bigint,
	PRIMARY KEY (org_id, workflow_id, number)
);

-- The limit of messages to one contact from all workflows of an organization, for workflows
-- without one of their own: at most messages within amount units.
CREATE TABLE workflow_caps (
	org_id bytetext NOT NULL,
	messages bigint NOT NULL,
	amount bigint NOT NULL,
	unit bytetext NOT NULL,
	PRIMARY KEY (org_id)
);

-- Runs. node_path and phase say where a run is, and passes is a JSON object with the current
-- pass of each repeat around that step, '' for none. wake_at is the timer, NULL for none.
-- on_change is true if a change of the contact also continues the run. exit_kind and exit_name
-- say how a run has ended, '' for an active one.
CREATE TABLE workflow_runs (
	org_id bytetext NOT NULL,
	workflow_id bytetext NOT NULL,
	id bytetext NOT NULL,
	version bigint NOT NULL,
	contact_id bytetext NOT NULL,
	status bytetext NOT NULL,
	node_path bytetext NOT NULL,
	phase bytetext NOT NULL,
	until_at bigint,
	wake_at bigint,
	on_change boolean NOT NULL,
	passed boolean NOT NULL,
	passes bytetext NOT NULL,
	cause bytetext NOT NULL,
	source_key bytetext NOT NULL,
	started_at bigint NOT NULL,
	completed_at bigint,
	exit_kind bytetext NOT NULL,
	exit_name text NOT NULL,
	faults bigint NOT NULL,
	PRIMARY KEY (org_id, workflow_id, id)
);
-- A contact has one active run in a workflow.
CREATE UNIQUE INDEX workflow_runs_live ON workflow_runs (org_id, workflow_id, contact_id) WHERE status = 'active';
CREATE INDEX workflow_runs_of_contact ON workflow_runs (org_id, contact_id, workflow_id, id);
-- Runs without a timer are not in it, so no query for due runs reads those that sleep.
CREATE INDEX workflow_runs_timers ON workflow_runs (org_id, workflow_id, wake_at, id) WHERE wake_at IS NOT NULL;
CREATE INDEX workflow_runs_by_status ON workflow_runs (org_id, workflow_id, status, id);
CREATE INDEX workflow_runs_held ON workflow_runs (org_id, id) WHERE phase = 'held';

-- The timelines of runs.
CREATE TABLE workflow_events (
	org_id bytetext NOT NULL,
	workflow_id bytetext NOT NULL,
	run_id bytetext NOT NULL,
	id bytetext NOT NULL,
	version bigint NOT NULL,
	node_path bytetext NOT NULL,
	event_type bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	iteration bigint NOT NULL,
	arm bytetext NOT NULL,
	tier bytetext NOT NULL,
	reason bytetext NOT NULL,
	exit_kind bytetext NOT NULL,
	exit_name text NOT NULL,
	detail text NOT NULL,
	PRIMARY KEY (org_id, workflow_id, run_id, id)
);
CREATE INDEX workflow_events_by_step ON workflow_events (org_id, workflow_id, version, event_type, node_path, run_id);

-- Triggers that have happened. The runner decides whether a run begins, and removes the row.
CREATE TABLE workflow_entries (
	org_id bytetext NOT NULL,
	workflow_id bytetext NOT NULL,
	id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	cause bytetext NOT NULL,
	source_key bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	PRIMARY KEY (org_id, workflow_id, id)
);

-- Contacts that have changed while runs wait for changes. Rows are only added and removed, so
-- that a change of a contact waits for no other writer.
CREATE TABLE workflow_touched (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	PRIMARY KEY (org_id, id)
);

-- The messages of a send step of one version. Their recipients are in handover_recipients,
-- under the id of the send and the id of the mail.
CREATE TABLE workflow_sends (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	workflow_id bytetext NOT NULL,
	version bigint NOT NULL,
	node_path bytetext NOT NULL,
	template bytetext NOT NULL,
	topic bytetext NOT NULL,
	transactional boolean NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX workflow_sends_of_version ON workflow_sends (org_id, workflow_id, version);
-- state is pending, sent, failed or filtered.
CREATE TABLE workflow_mails (
	org_id bytetext NOT NULL,
	send_id bytetext NOT NULL,
	id bytetext NOT NULL,
	run_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	at bigint NOT NULL,
	state bytetext NOT NULL,
	PRIMARY KEY (org_id, send_id, id)
);
CREATE INDEX workflow_mails_of_contact ON workflow_mails (org_id, contact_id, at);
CREATE INDEX workflow_mails_open ON workflow_mails (org_id, send_id, id) WHERE state = 'pending';
CREATE INDEX workflow_mails_by_state ON workflow_mails (org_id, send_id, state);
