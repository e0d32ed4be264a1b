-- Locks on PostgreSQL: no existing table.

-- Domain authentication: DMARC aggregate reports and what is known from them. A day is a number
-- of UTC days since 1970-01-01.

-- Domains whose reports are read. token is in the local part of the address for reports.
-- snapshot is the JSON of the last answers of DNS (lookup.Snapshot), "" before the first.
-- measured_at is the last time at which DNS answered, measure_at the time of the next poll,
-- requested_at the last measurement that a caller asked for. refresh_at is the time at which
-- findings and events are computed again, NULL if nothing changed. acknowledgement is the JSON
-- of readiness.Acknowledgement, "" without one.
CREATE TABLE domainauth_domains (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	domain bytetext NOT NULL,
	token bytetext NOT NULL,
	snapshot text NOT NULL,
	measured_at bigint,
	measure_at bigint NOT NULL,
	requested_at bigint,
	refresh_at bigint,
	refreshed_at bigint,
	last_report_at bigint,
	acknowledgement text NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX domainauth_domains_name ON domainauth_domains (org_id, domain);
CREATE UNIQUE INDEX domainauth_domains_token ON domainauth_domains (token);
CREATE INDEX domainauth_domains_measure ON domainauth_domains (measure_at);
CREATE INDEX domainauth_domains_refresh ON domainauth_domains (refresh_at) WHERE refresh_at IS NOT NULL;

-- Files with reports: an attachment of a mail, or a file that was imported. domain_id is the
-- domain to which a mail was addressed, "" for other origins. reporter is what the report states,
-- and before it is read the domain of the From address of the mail. verdicts is the JSON of the
-- verdicts on the mail, "" for other origins. state is waiting, held, read or failed. store_id and
-- object_key name the object with the file while it may be read again, "" otherwise; in_text is
-- true if it is the whole mail, whose text is the file. others is a JSON array of the keys of the
-- other objects of the mail, which are deleted with the file. reports counts the reports that were taken,
-- duplicates those that were known, tls_reports reports about SMTP TLS, foreign_reports reports
-- about other domains. due_at is the time of the next attempt, NULL if none follows; attempts is
-- the fencing token.
CREATE TABLE domainauth_files (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	origin bytetext NOT NULL,
	name text NOT NULL,
	message_id bytetext NOT NULL,
	sender text NOT NULL,
	reporter bytetext NOT NULL,
	verdicts text NOT NULL,
	state bytetext NOT NULL,
	problem text NOT NULL,
	store_id bytetext NOT NULL,
	object_key bytetext NOT NULL,
	in_text boolean NOT NULL DEFAULT FALSE,
	others text NOT NULL DEFAULT '[]',
	size bigint NOT NULL,
	reports bigint NOT NULL,
	duplicates bigint NOT NULL,
	tls_reports bigint NOT NULL,
	foreign_reports bigint NOT NULL,
	attempts bigint NOT NULL,
	due_at bigint,
	received_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX domainauth_files_newest ON domainauth_files (org_id, received_at, id);
CREATE INDEX domainauth_files_of_reporter ON domainauth_files (org_id, reporter, state);
CREATE INDEX domainauth_files_due ON domainauth_files (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX domainauth_files_objects ON domainauth_files (org_id, message_id) WHERE object_key <> '';

-- Reports that count, or are being read. identity is a hash by which a copy of a report is known.
-- policy is the policy that the reporter found, as the text of a record, "" if it states none.
-- state is reading or counted. passing counts the messages that passed DMARC. warnings is a JSON
-- array of report.Warning.
CREATE TABLE domainauth_reports (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	file_id bytetext NOT NULL,
	identity bytetext NOT NULL,
	reporter bytetext NOT NULL,
	organization text NOT NULL,
	report_id text NOT NULL,
	begins_at bigint NOT NULL,
	ends_at bigint NOT NULL,
	day bigint NOT NULL,
	policy text NOT NULL,
	state bytetext NOT NULL,
	records bigint NOT NULL,
	messages bigint NOT NULL,
	passing bigint NOT NULL,
	warnings text NOT NULL,
	received_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX domainauth_reports_identity ON domainauth_reports (org_id, domain_id, identity);
CREATE INDEX domainauth_reports_newest ON domainauth_reports (org_id, domain_id, received_at, id);
CREATE INDEX domainauth_reports_of_file ON domainauth_reports (org_id, file_id);

-- The records of reports, kept for 90 days. dkim and spf say whether an aligned domain passed,
-- relayed whether a forwarder caused the failure. details is the JSON of what receivers reported
-- about signatures, SPF and reasons.
CREATE TABLE domainauth_rows (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	day bigint NOT NULL,
	report bytetext NOT NULL,
	n bigint NOT NULL,
	source bytetext NOT NULL,
	ip bytetext NOT NULL,
	messages bigint NOT NULL,
	disposition bytetext NOT NULL,
	dkim boolean NOT NULL,
	spf boolean NOT NULL,
	relayed boolean NOT NULL,
	header_from text NOT NULL,
	envelope_from text NOT NULL,
	details text NOT NULL,
	PRIMARY KEY (org_id, domain_id, day, report, n)
);

-- Sources of mail. key is that of package sources. support is a JSON object with the last day
-- whose rows support each classification. first_day and last_day are those with messages.
-- sample_ips is a JSON array.
CREATE TABLE domainauth_sources (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	id bytetext NOT NULL,
	key bytetext NOT NULL,
	name text NOT NULL,
	provider bytetext NOT NULL,
	classification bytetext NOT NULL,
	support text NOT NULL,
	decision bytetext NOT NULL,
	decided_at bigint,
	decided_by bytetext NOT NULL,
	first_day bigint NOT NULL,
	last_day bigint NOT NULL,
	sample_ips text NOT NULL,
	PRIMARY KEY (org_id, domain_id, id)
);
CREATE UNIQUE INDEX domainauth_sources_key ON domainauth_sources (org_id, domain_id, key);

-- Findings about sources. closed_day is NULL while the finding is open.
CREATE TABLE domainauth_findings (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	source bytetext NOT NULL,
	code bytetext NOT NULL,
	opened_day bigint NOT NULL,
	closed_day bigint,
	detail text NOT NULL,
	announced boolean NOT NULL,
	PRIMARY KEY (org_id, domain_id, source, code, opened_day)
);

-- Numbers of messages by day and source, by month and source (month is the first day of it), and
-- by day. A column has the messages with one disposition and one outcome: both, dkim and spf say
-- what passed for an aligned domain; fail failed, and relayed failed because of a forwarder.
CREATE TABLE domainauth_daily (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	day bigint NOT NULL,
	source bytetext NOT NULL,
	none_both bigint NOT NULL,
	none_dkim bigint NOT NULL,
	none_spf bigint NOT NULL,
	none_fail bigint NOT NULL,
	none_relayed bigint NOT NULL,
	quarantine_both bigint NOT NULL,
	quarantine_dkim bigint NOT NULL,
	quarantine_spf bigint NOT NULL,
	quarantine_fail bigint NOT NULL,
	quarantine_relayed bigint NOT NULL,
	reject_both bigint NOT NULL,
	reject_dkim bigint NOT NULL,
	reject_spf bigint NOT NULL,
	reject_fail bigint NOT NULL,
	reject_relayed bigint NOT NULL,
	PRIMARY KEY (org_id, domain_id, day, source)
);
CREATE TABLE domainauth_monthly (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	month bigint NOT NULL,
	source bytetext NOT NULL,
	none_both bigint NOT NULL,
	none_dkim bigint NOT NULL,
	none_spf bigint NOT NULL,
	none_fail bigint NOT NULL,
	none_relayed bigint NOT NULL,
	quarantine_both bigint NOT NULL,
	quarantine_dkim bigint NOT NULL,
	quarantine_spf bigint NOT NULL,
	quarantine_fail bigint NOT NULL,
	quarantine_relayed bigint NOT NULL,
	reject_both bigint NOT NULL,
	reject_dkim bigint NOT NULL,
	reject_spf bigint NOT NULL,
	reject_fail bigint NOT NULL,
	reject_relayed bigint NOT NULL,
	PRIMARY KEY (org_id, domain_id, month, source)
);
CREATE TABLE domainauth_totals (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	day bigint NOT NULL,
	none_both bigint NOT NULL,
	none_dkim bigint NOT NULL,
	none_spf bigint NOT NULL,
	none_fail bigint NOT NULL,
	none_relayed bigint NOT NULL,
	quarantine_both bigint NOT NULL,
	quarantine_dkim bigint NOT NULL,
	quarantine_spf bigint NOT NULL,
	quarantine_fail bigint NOT NULL,
	quarantine_relayed bigint NOT NULL,
	reject_both bigint NOT NULL,
	reject_dkim bigint NOT NULL,
	reject_spf bigint NOT NULL,
	reject_fail bigint NOT NULL,
	reject_relayed bigint NOT NULL,
	PRIMARY KEY (org_id, domain_id, day)
);
CREATE INDEX domainauth_daily_by_source ON domainauth_daily (org_id, domain_id, source, day);

-- The days that the reports of a reporter cover.
CREATE TABLE domainauth_reporter_days (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	day bigint NOT NULL,
	reporter bytetext NOT NULL,
	PRIMARY KEY (org_id, domain_id, day, reporter)
);

-- The texts that DNS records had: one row for each time in which a record kept one text. text is
-- NULL where there was no record. kind is that of the event of a change.
CREATE TABLE domainauth_records (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	subject bytetext NOT NULL,
	first_seen_at bigint NOT NULL,
	last_seen_at bigint NOT NULL,
	kind bytetext NOT NULL,
	text text,
	PRIMARY KEY (org_id, domain_id, subject, first_seen_at)
);

-- Events of the timeline. Those of kinds policy_change and setup_change are computed from
-- sightings, the others are what people did. actor is the person, "" for computed events.
CREATE TABLE domainauth_events (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	kind bytetext NOT NULL,
	origin bytetext NOT NULL,
	subject bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	observed_at bigint NOT NULL,
	sightings bigint NOT NULL,
	old_record text,
	new_record text,
	title text NOT NULL,
	note text NOT NULL,
	actor bytetext NOT NULL,
	PRIMARY KEY (org_id, domain_id, id)
);
CREATE INDEX domainauth_events_newest ON domainauth_events (org_id, domain_id, occurred_at, id);

-- What people decided about reporters: accepted or rejected, "" for a reporter whose files are held
-- without a decision; then decided_at is when the first one was held.
CREATE TABLE domainauth_reporters (
	org_id bytetext NOT NULL,
	reporter bytetext NOT NULL,
	decision bytetext NOT NULL,
	decided_at bigint NOT NULL,
	decided_by bytetext NOT NULL,
	PRIMARY KEY (org_id, reporter)
);

-- Mail about a domain that a member asked for. digest_at is the time of the next weekly digest,
-- NULL without one.
CREATE TABLE domainauth_subscriptions (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	user_id bytetext NOT NULL,
	alerts boolean NOT NULL,
	digest_at bigint,
	PRIMARY KEY (org_id, domain_id, user_id)
);
CREATE INDEX domainauth_subscriptions_due ON domainauth_subscriptions (digest_at) WHERE digest_at IS NOT NULL;

-- Mails to members about a domain. The id is also that of a send, whose only recipient is in
-- handover_recipients. day is the UTC day on which the mail was decided. The texts are "" once the
-- mail has ended. due_at is the time of the next attempt, NULL after the end.
CREATE TABLE domainauth_notices (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	user_id bytetext NOT NULL,
	kind bytetext NOT NULL,
	day bigint NOT NULL,
	subject text NOT NULL,
	plain text NOT NULL,
	html text NOT NULL,
	attempts bigint NOT NULL,
	due_at bigint,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX domainauth_notices_once ON domainauth_notices (org_id, domain_id, user_id, kind, day);
CREATE INDEX domainauth_notices_due ON domainauth_notices (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX domainauth_findings_news ON domainauth_findings (org_id, domain_id) WHERE NOT announced;
