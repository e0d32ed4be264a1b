-- Locks on PostgreSQL: handover_recipients (SHARE: writes wait), until the end of the
-- migration. Writes of handover_recipients wait until the index is built: some seconds for a
-- million rows.

-- Broadcasts: a message, its audience and its state. template is a slug and template_version
-- a number, 0 for the newest; without a template, html and body_text are the message.
-- share_from and share_to bound the ends of the ids of those members that get it, '' for
-- all; with share_rest the others get it. topic is '' for none. data is a JSON object with merge data for all recipients. rate is
-- the maximum number of messages a minute, 0 for no limit, and paced_at the time from which
-- that limit permits the next message. paused is '' or why the send waits: person,
-- daily_cap, all_mail_stopped or account. frozen is the content of the messages as JSON, from
-- the start of the send on, '' before. revision counts changes by people and callers.
CREATE TABLE broadcasts (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	name text NOT NULL,
	search bytetext NOT NULL,
	template bytetext NOT NULL,
	template_version bigint NOT NULL,
	html text NOT NULL,
	body_text text NOT NULL,
	subject text NOT NULL,
	preview_text text NOT NULL,
	audience_kind bytetext NOT NULL,
	audience_id bytetext NOT NULL,
	share_from bytetext NOT NULL,
	share_to bytetext NOT NULL,
	share_rest boolean NOT NULL,
	topic bytetext NOT NULL,
	sender text NOT NULL,
	data text NOT NULL,
	state bytetext NOT NULL,
	schedule_at bigint,
	rate bigint NOT NULL,
	paced_at bigint NOT NULL,
	paused bytetext NOT NULL,
	paused_at bigint,
	resumes_at bigint,
	frozen text NOT NULL,
	audience_size bigint,
	sent bigint NOT NULL,
	failed bigint NOT NULL,
	filtered bigint NOT NULL,
	started_at bigint,
	completed_at bigint,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	created_by_kind bytetext NOT NULL,
	created_by bytetext NOT NULL,
	user_id bytetext NOT NULL,
	application bytetext NOT NULL,
	revision bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX broadcasts_newest ON broadcasts (org_id, created_at, id);
-- Every process reads these each second: what it has to start and to send.
CREATE INDEX broadcasts_open ON broadcasts (state, schedule_at) WHERE state IN ('scheduled', 'sending');
-- Broadcasts that use a list, a segment or a template.
CREATE INDEX broadcasts_by_audience ON broadcasts (org_id, audience_kind, audience_id);

-- Pages of results, the newest first, for each outcome. It lacks recipients without an outcome:
-- claims then do not change it, and the copy of an audience does not fill it.
CREATE INDEX handover_recipients_outcomes ON handover_recipients (org_id, send_id, state, changed_at, recipient) WHERE state IN ('sent', 'failed', 'filtered');

-- stopped_at is the time since which no mail of the organization leaves.
CREATE TABLE handover_stops (
	org_id bytetext NOT NULL,
	stopped_at bigint NOT NULL,
	stopped_by bytetext NOT NULL,
	PRIMARY KEY (org_id)
);
-- The maximum number of recipients that an application may mail on one day (UTC).
CREATE TABLE handover_caps (
	org_id bytetext NOT NULL,
	application bytetext NOT NULL,
	recipients bigint NOT NULL,
	PRIMARY KEY (org_id, application)
);
-- The recipients that applications with a cap have mailed on a day, counted from 1970-01-01.
CREATE TABLE handover_days (
	org_id bytetext NOT NULL,
	application bytetext NOT NULL,
	day bigint NOT NULL,
	recipients bigint NOT NULL,
	PRIMARY KEY (org_id, application, day)
);

-- Test sends. Their recipients are in handover_recipients, under the id.
CREATE TABLE test_sends (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	subject_kind bytetext NOT NULL,
	subject_id bytetext NOT NULL,
	created_at bigint NOT NULL,
	created_by_kind bytetext NOT NULL,
	created_by bytetext NOT NULL,
	user_id bytetext NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX test_sends_newest ON test_sends (org_id, created_at, id);
