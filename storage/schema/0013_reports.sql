-- Locks on PostgreSQL: message_events (SHARE: writes wait), until the end of the migration.
-- Writes of message_events wait until its two indexes are built: some seconds for a million
-- rows.

-- What is counted of a UTC day, kept in the transaction that stores the events.
-- day is its midnight in microseconds.
CREATE TABLE report_days (
	org_id bytetext NOT NULL,
	day bigint NOT NULL,
	channel bytetext NOT NULL,
	identity bytetext NOT NULL,
	template bytetext NOT NULL,
	sent bigint NOT NULL,
	delivered bigint NOT NULL,
	bounced bigint NOT NULL,
	complained bigint NOT NULL,
	suppressed bigint NOT NULL,
	opens bigint NOT NULL,
	unique_opens bigint NOT NULL,
	clicks bigint NOT NULL,
	unique_clicks bigint NOT NULL,
	PRIMARY KEY (org_id, day, channel, identity, template)
);

-- What is counted of a UTC hour, for the parts of days at the edges of a window.
-- Opens and clicks are not here: those of a part of a day are unique across its
-- hours. hour is its start in microseconds.
CREATE TABLE report_hours (
	org_id bytetext NOT NULL,
	hour bigint NOT NULL,
	channel bytetext NOT NULL,
	identity bytetext NOT NULL,
	template bytetext NOT NULL,
	sent bigint NOT NULL,
	delivered bigint NOT NULL,
	bounced bigint NOT NULL,
	complained bigint NOT NULL,
	suppressed bigint NOT NULL,
	PRIMARY KEY (org_id, hour, channel, identity, template)
);

-- Which recipient opened or clicked which message on which day, so that it counts
-- once as unique. A mark is the date and a digest: it names nobody.
CREATE TABLE report_marks (
	org_id bytetext NOT NULL,
	mark bytetext NOT NULL,
	PRIMARY KEY (org_id, mark)
);

-- Bounces of a UTC day by the domain of the recipient.
CREATE TABLE report_bounce_domains (
	org_id bytetext NOT NULL,
	day bigint NOT NULL,
	domain bytetext NOT NULL,
	bounced bigint NOT NULL,
	PRIMARY KEY (org_id, day, domain)
);

CREATE INDEX message_events_bounced ON message_events (org_id, occurred_at, id) WHERE type = 'Bounce';

-- Answers alone what was opened and clicked in a part of a day.
CREATE INDEX message_events_engaged ON message_events
	(org_id, occurred_at, type, channel, identity, template, message_id, recipient_key)
	WHERE type IN ('Open', 'Click') AND NOT test;
