-- Written by "make generate": what the migrations in storage/schema add up to, as
-- SQLite has it. PostgreSQL has the same tables, columns and indexes.

CREATE TABLE account_notes (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	put text NOT NULL,
	noted_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);

CREATE INDEX account_notes_contact ON account_notes (org_id, contact_id);

CREATE INDEX account_notes_due ON account_notes (org_id, noted_at, id);

CREATE TABLE activities (
	org_id bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	name bytetext NOT NULL,
	properties text NOT NULL,
	source bytetext NOT NULL,
	received_at bigint NOT NULL,
	PRIMARY KEY (org_id, occurred_at, id)
);

CREATE INDEX activities_by_name ON activities (org_id, name, occurred_at, id, contact_id);

CREATE INDEX activities_of_contact ON activities (org_id, contact_id, occurred_at, id);

CREATE TABLE activity_claims (
	org_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	name bytetext NOT NULL,
	activity_id bytetext NOT NULL,
	claimed_at bigint NOT NULL,
	PRIMARY KEY (org_id, contact_id, name)
);

CREATE TABLE activity_keys (
	org_id bytetext NOT NULL,
	key bytetext NOT NULL,
	activity_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (org_id, key)
);

CREATE INDEX activity_keys_expiry ON activity_keys (org_id, expires_at);

CREATE TABLE activity_properties (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	activity_name bytetext NOT NULL,
	property bytetext NOT NULL,
	type bytetext NOT NULL,
	description text NOT NULL,
	origin bytetext NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, activity_name, property)
);

CREATE INDEX activity_properties_newest ON activity_properties (org_id, created_at, id);

CREATE TABLE api_keys (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	name text NOT NULL,
	environment bytetext NOT NULL,
	prefix bytetext NOT NULL,
	secret_hash bytea NOT NULL,
	scopes text NOT NULL,
	created_at bigint NOT NULL,
	revoked_at bigint,
	expires_at bigint, owner bytetext NOT NULL DEFAULT '',
	PRIMARY KEY (org_id, id)
);

CREATE INDEX api_keys_by_prefix ON api_keys (environment, prefix);

CREATE INDEX api_keys_grace ON api_keys (expires_at) WHERE revoked_at IS NULL;

CREATE TABLE asset_contents (
	org_id bytetext NOT NULL,
	hash bytetext NOT NULL,
	content_type bytetext NOT NULL,
	width bigint NOT NULL,
	height bigint NOT NULL,
	size_bytes bigint NOT NULL,
	store_id bytetext NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, hash)
);

CREATE INDEX asset_contents_by_hash ON asset_contents (hash);

CREATE TABLE assets (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	source_path bytetext NOT NULL,
	hash bytetext NOT NULL,
	branch bytetext NOT NULL,
	origin bytetext NOT NULL,
	status bytetext NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, source_path)
);

CREATE TABLE attribute_leftovers (
	org_id bytetext NOT NULL,
	name bytetext NOT NULL,
	attribute_id bytetext NOT NULL,
	PRIMARY KEY (org_id, name)
);

CREATE TABLE attribute_passes (
	org_id bytetext PRIMARY KEY,
	generation bigint NOT NULL,
	after_contact bytetext NOT NULL
);

CREATE TABLE attributes (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	name bytetext NOT NULL,
	type text NOT NULL,
	enum_values text NOT NULL,
	description text NOT NULL,
	origin text NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL, slot bytetext NOT NULL DEFAULT '', filling bytetext NOT NULL DEFAULT '', recast boolean NOT NULL DEFAULT FALSE,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, name)
);

CREATE INDEX attributes_newest ON attributes (org_id, created_at, id);

CREATE INDEX attributes_recast ON attributes (org_id, name) WHERE recast;

CREATE TABLE audit_events (
	org_id bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	id bytetext NOT NULL,
	action text NOT NULL,
	actor_kind text NOT NULL,
	actor_id text NOT NULL,
	surface text NOT NULL,
	subject_id text NOT NULL,
	request_id text NOT NULL,
	detail text NOT NULL,
	PRIMARY KEY (org_id, occurred_at, id)
);

CREATE INDEX audit_events_by_action ON audit_events (org_id, action, occurred_at, id);

CREATE INDEX audit_events_by_actor ON audit_events (org_id, actor_id, occurred_at, id);

CREATE TABLE authenticators (
	user_id bytetext PRIMARY KEY,
	sealed bytea NOT NULL,
	used_step bigint NOT NULL,
	created_at bigint NOT NULL,
	confirmed_at bigint
);

CREATE TABLE authorization_codes (
	hash bytea PRIMARY KEY,
	org_id bytetext NOT NULL,
	grant_id bytetext NOT NULL,
	client_id bytetext NOT NULL,
	redirect_uri text NOT NULL,
	challenge text NOT NULL,
	expires_at bigint NOT NULL,
	used_at bigint
);

CREATE INDEX authorization_codes_expiry ON authorization_codes (expires_at);

CREATE TABLE blocked_clients (
	org_id bytetext NOT NULL,
	client_id bytetext NOT NULL,
	blocked_at bigint NOT NULL,
	PRIMARY KEY (org_id, client_id)
);

CREATE TABLE broadcast_tags (
	org_id bytetext NOT NULL,
	broadcast_id bytetext NOT NULL,
	tag_id bytetext NOT NULL,
	PRIMARY KEY (org_id, broadcast_id, tag_id),
	FOREIGN KEY (org_id, tag_id) REFERENCES tags (org_id, id) ON DELETE CASCADE
);

CREATE INDEX broadcast_tags_by_tag ON broadcast_tags (org_id, tag_id);

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

CREATE INDEX broadcasts_by_audience ON broadcasts (org_id, audience_kind, audience_id);

CREATE INDEX broadcasts_newest ON broadcasts (org_id, created_at, id);

CREATE INDEX broadcasts_open ON broadcasts (state, schedule_at) WHERE state IN ('scheduled', 'sending');

CREATE TABLE bulk_chunks (
	org_id bytetext NOT NULL,
	job_id bytetext NOT NULL,
	first_index bigint NOT NULL,
	size bigint NOT NULL,
	content text NOT NULL,
	outcomes text NOT NULL,
	PRIMARY KEY (org_id, job_id, first_index),
	FOREIGN KEY (org_id, job_id) REFERENCES bulk_jobs (org_id, id) ON DELETE CASCADE
);

CREATE TABLE bulk_jobs (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	status bytetext NOT NULL,
	total bigint NOT NULL,
	processed bigint NOT NULL,
	succeeded bigint NOT NULL,
	failed bigint NOT NULL,
	attempts bigint NOT NULL,
	created_at bigint NOT NULL,
	completed_at bigint, caller bytetext NOT NULL DEFAULT '',
	PRIMARY KEY (org_id, id)
);

CREATE INDEX bulk_jobs_finished ON bulk_jobs (org_id, completed_at, id) WHERE completed_at IS NOT NULL;

CREATE INDEX bulk_jobs_open ON bulk_jobs (org_id, created_at, id) WHERE completed_at IS NULL;

CREATE TABLE channels (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	name bytetext NOT NULL,
	slug bytetext NOT NULL,
	account bytetext NOT NULL,
	present boolean NOT NULL,
	tracking_domain text NOT NULL,
	suppression_policy text NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, name),
	UNIQUE (org_id, slug)
);

CREATE INDEX channels_newest ON channels (org_id, created_at, id);

CREATE TABLE clients (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	client_id bytetext NOT NULL UNIQUE,
	name text NOT NULL,
	environment text NOT NULL,
	secret_hash bytea,
	scopes text NOT NULL,
	created_at bigint NOT NULL,
	revoked_at bigint, redirect_uris text NOT NULL DEFAULT '[]', refresh_days integer NOT NULL DEFAULT 0, kind text NOT NULL DEFAULT 'registered', document_read_at bigint,
	PRIMARY KEY (org_id, id)
);

CREATE INDEX clients_dynamic ON clients (created_at) WHERE kind = 'dynamic';

CREATE TABLE connections (
	org_id bytetext NOT NULL,
	provider bytetext NOT NULL,
	account_id text NOT NULL,
	region text NOT NULL,
	endpoint text NOT NULL,
	access_key_id text NOT NULL,
	secret bytea,
	role_arn text NOT NULL,
	external_id text NOT NULL,
	topic_arn text NOT NULL,
	identities text NOT NULL, -- a JSON array
	max_24_hour_send bigint NOT NULL,
	max_send_rate bigint NOT NULL,
	may_reach_private boolean NOT NULL,
	template_version integer NOT NULL,
	ingest_path bytetext NOT NULL,
	ingest_key_hash bytea,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id),
	UNIQUE (ingest_path)
);

CREATE TABLE consent_contacts (
	org_id bytetext NOT NULL,
	email_key bytetext NOT NULL,
	email text NOT NULL,
	unsubscribe_all boolean NOT NULL,
	preferences bytetext NOT NULL,
	position bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, email_key)
);

CREATE INDEX consent_contacts_in_order ON consent_contacts (org_id, position);

CREATE TABLE consent_lists (
	org_id bytetext PRIMARY KEY,
	name text NOT NULL,
	description text NOT NULL,
	updated_at bigint NOT NULL,
	next_position bigint NOT NULL DEFAULT 1,
	moved bytetext NOT NULL DEFAULT ''
);

CREATE TABLE consent_topics (
	org_id bytetext NOT NULL,
	name bytetext NOT NULL,
	display_name text NOT NULL,
	description text NOT NULL,
	default_subscription bytetext NOT NULL,
	position bigint NOT NULL,
	PRIMARY KEY (org_id, name)
);

CREATE TABLE contact_lists (
	org_id bytetext PRIMARY KEY,
	name text NOT NULL,
	description text NOT NULL,
	last_synced_at bigint NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL
);

CREATE TABLE contact_pushes (
	org_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	queued_at bigint NOT NULL,
	attempts bigint NOT NULL,
	next_at bigint NOT NULL,
	said text NOT NULL DEFAULT '{}',
	PRIMARY KEY (org_id, contact_id),
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);

CREATE INDEX contact_pushes_due ON contact_pushes (org_id, next_at, contact_id);

CREATE TABLE contact_slots (
	org_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	s1 bytetext,
	s2 bytetext,
	s3 bytetext,
	s4 bytetext,
	s5 bytetext,
	s6 bytetext,
	s7 bytetext,
	s8 bytetext,
	s9 bytetext,
	s10 bytetext,
	s11 bytetext,
	s12 bytetext,
	s13 bytetext,
	s14 bytetext,
	s15 bytetext,
	s16 bytetext,
	n1 double precision,
	n2 double precision,
	n3 double precision,
	n4 double precision,
	n5 double precision,
	n6 double precision,
	n7 double precision,
	n8 double precision,
	n9 double precision,
	n10 double precision,
	n11 double precision,
	n12 double precision,
	n13 double precision,
	n14 double precision,
	n15 double precision,
	n16 double precision,
	t1 bigint,
	t2 bigint,
	t3 bigint,
	t4 bigint,
	t5 bigint,
	t6 bigint,
	t7 bigint,
	t8 bigint, long_texts text,
	PRIMARY KEY (org_id, contact_id),
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);

CREATE INDEX contact_slots_n1 ON contact_slots (org_id, n1) WHERE n1 IS NOT NULL;

CREATE INDEX contact_slots_n10 ON contact_slots (org_id, n10) WHERE n10 IS NOT NULL;

CREATE INDEX contact_slots_n11 ON contact_slots (org_id, n11) WHERE n11 IS NOT NULL;

CREATE INDEX contact_slots_n12 ON contact_slots (org_id, n12) WHERE n12 IS NOT NULL;

CREATE INDEX contact_slots_n13 ON contact_slots (org_id, n13) WHERE n13 IS NOT NULL;

CREATE INDEX contact_slots_n14 ON contact_slots (org_id, n14) WHERE n14 IS NOT NULL;

CREATE INDEX contact_slots_n15 ON contact_slots (org_id, n15) WHERE n15 IS NOT NULL;

CREATE INDEX contact_slots_n16 ON contact_slots (org_id, n16) WHERE n16 IS NOT NULL;

CREATE INDEX contact_slots_n2 ON contact_slots (org_id, n2) WHERE n2 IS NOT NULL;

CREATE INDEX contact_slots_n3 ON contact_slots (org_id, n3) WHERE n3 IS NOT NULL;

CREATE INDEX contact_slots_n4 ON contact_slots (org_id, n4) WHERE n4 IS NOT NULL;

CREATE INDEX contact_slots_n5 ON contact_slots (org_id, n5) WHERE n5 IS NOT NULL;

CREATE INDEX contact_slots_n6 ON contact_slots (org_id, n6) WHERE n6 IS NOT NULL;

CREATE INDEX contact_slots_n7 ON contact_slots (org_id, n7) WHERE n7 IS NOT NULL;

CREATE INDEX contact_slots_n8 ON contact_slots (org_id, n8) WHERE n8 IS NOT NULL;

CREATE INDEX contact_slots_n9 ON contact_slots (org_id, n9) WHERE n9 IS NOT NULL;

CREATE INDEX contact_slots_s1 ON contact_slots (org_id, s1) WHERE s1 IS NOT NULL;

CREATE INDEX contact_slots_s10 ON contact_slots (org_id, s10) WHERE s10 IS NOT NULL;

CREATE INDEX contact_slots_s11 ON contact_slots (org_id, s11) WHERE s11 IS NOT NULL;

CREATE INDEX contact_slots_s12 ON contact_slots (org_id, s12) WHERE s12 IS NOT NULL;

CREATE INDEX contact_slots_s13 ON contact_slots (org_id, s13) WHERE s13 IS NOT NULL;

CREATE INDEX contact_slots_s14 ON contact_slots (org_id, s14) WHERE s14 IS NOT NULL;

CREATE INDEX contact_slots_s15 ON contact_slots (org_id, s15) WHERE s15 IS NOT NULL;

CREATE INDEX contact_slots_s16 ON contact_slots (org_id, s16) WHERE s16 IS NOT NULL;

CREATE INDEX contact_slots_s2 ON contact_slots (org_id, s2) WHERE s2 IS NOT NULL;

CREATE INDEX contact_slots_s3 ON contact_slots (org_id, s3) WHERE s3 IS NOT NULL;

CREATE INDEX contact_slots_s4 ON contact_slots (org_id, s4) WHERE s4 IS NOT NULL;

CREATE INDEX contact_slots_s5 ON contact_slots (org_id, s5) WHERE s5 IS NOT NULL;

CREATE INDEX contact_slots_s6 ON contact_slots (org_id, s6) WHERE s6 IS NOT NULL;

CREATE INDEX contact_slots_s7 ON contact_slots (org_id, s7) WHERE s7 IS NOT NULL;

CREATE INDEX contact_slots_s8 ON contact_slots (org_id, s8) WHERE s8 IS NOT NULL;

CREATE INDEX contact_slots_s9 ON contact_slots (org_id, s9) WHERE s9 IS NOT NULL;

CREATE INDEX contact_slots_t1 ON contact_slots (org_id, t1) WHERE t1 IS NOT NULL;

CREATE INDEX contact_slots_t2 ON contact_slots (org_id, t2) WHERE t2 IS NOT NULL;

CREATE INDEX contact_slots_t3 ON contact_slots (org_id, t3) WHERE t3 IS NOT NULL;

CREATE INDEX contact_slots_t4 ON contact_slots (org_id, t4) WHERE t4 IS NOT NULL;

CREATE INDEX contact_slots_t5 ON contact_slots (org_id, t5) WHERE t5 IS NOT NULL;

CREATE INDEX contact_slots_t6 ON contact_slots (org_id, t6) WHERE t6 IS NOT NULL;

CREATE INDEX contact_slots_t7 ON contact_slots (org_id, t7) WHERE t7 IS NOT NULL;

CREATE INDEX contact_slots_t8 ON contact_slots (org_id, t8) WHERE t8 IS NOT NULL;

CREATE TABLE contact_topics (
	org_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	topic bytetext NOT NULL,
	subscription text NOT NULL,
	PRIMARY KEY (org_id, contact_id, topic),
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);

CREATE TABLE contact_upload_chunks (
	org_id bytetext NOT NULL,
	upload_id bytetext NOT NULL,
	kind bytetext NOT NULL,
	position bigint NOT NULL,
	content bytea NOT NULL,
	PRIMARY KEY (org_id, upload_id, kind, position),
	FOREIGN KEY (org_id, upload_id) REFERENCES contact_uploads (org_id, id) ON DELETE CASCADE
);

CREATE TABLE contact_uploads (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	file_name text NOT NULL,
	size bigint NOT NULL,
	status bytetext NOT NULL,
	sample text NOT NULL,
	settings text NOT NULL,
	checked text NOT NULL,
	imported text NOT NULL,
	problem text NOT NULL,
	attempts bigint NOT NULL,
	created_at bigint NOT NULL,
	completed_at bigint,
	claimed_until bigint NOT NULL, uploaded_by bytetext NOT NULL DEFAULT '', claimed_by bytetext NOT NULL DEFAULT '',
	PRIMARY KEY (org_id, id)
);

CREATE INDEX contact_uploads_newest ON contact_uploads (org_id, created_at, id);

CREATE INDEX contact_uploads_working ON contact_uploads (org_id, created_at, id) WHERE status IN ('receiving', 'checking', 'importing');

CREATE TABLE contacts (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	email text NOT NULL,
	email_key bytetext NOT NULL,
	external_id bytetext,
	status bytetext NOT NULL,
	attributes text NOT NULL,
	topic_preferences bytetext NOT NULL,
	unsubscribe_all boolean NOT NULL,
	shell boolean NOT NULL DEFAULT FALSE,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL, stub boolean NOT NULL DEFAULT FALSE, consent_changes text NOT NULL DEFAULT '{}',
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, email_key),
	UNIQUE (org_id, external_id)
);

CREATE INDEX contacts_archived ON contacts (org_id, updated_at, id) WHERE status = 'archived';

CREATE INDEX contacts_newest ON contacts (org_id, status, created_at, id);

CREATE TABLE denied_tokens (
	token_id bytetext PRIMARY KEY,
	expires_at bigint NOT NULL
);

CREATE INDEX denied_tokens_expiry ON denied_tokens (expires_at);

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

CREATE INDEX domainauth_daily_by_source ON domainauth_daily (org_id, domain_id, source, day);

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

CREATE INDEX domainauth_domains_measure ON domainauth_domains (measure_at);

CREATE UNIQUE INDEX domainauth_domains_name ON domainauth_domains (org_id, domain);

CREATE INDEX domainauth_domains_refresh ON domainauth_domains (refresh_at) WHERE refresh_at IS NOT NULL;

CREATE UNIQUE INDEX domainauth_domains_token ON domainauth_domains (token);

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

CREATE INDEX domainauth_files_due ON domainauth_files (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX domainauth_files_newest ON domainauth_files (org_id, received_at, id);

CREATE INDEX domainauth_files_objects ON domainauth_files (org_id, message_id) WHERE object_key <> '';

CREATE INDEX domainauth_files_of_reporter ON domainauth_files (org_id, reporter, state);

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

CREATE INDEX domainauth_findings_news ON domainauth_findings (org_id, domain_id) WHERE NOT announced;

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

CREATE INDEX domainauth_notices_due ON domainauth_notices (due_at) WHERE due_at IS NOT NULL;

CREATE UNIQUE INDEX domainauth_notices_once ON domainauth_notices (org_id, domain_id, user_id, kind, day);

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

CREATE TABLE domainauth_reporter_days (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	day bigint NOT NULL,
	reporter bytetext NOT NULL,
	PRIMARY KEY (org_id, domain_id, day, reporter)
);

CREATE TABLE domainauth_reporters (
	org_id bytetext NOT NULL,
	reporter bytetext NOT NULL,
	decision bytetext NOT NULL,
	decided_at bigint NOT NULL,
	decided_by bytetext NOT NULL,
	PRIMARY KEY (org_id, reporter)
);

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

CREATE TABLE domainauth_subscriptions (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	user_id bytetext NOT NULL,
	alerts boolean NOT NULL,
	digest_at bigint,
	PRIMARY KEY (org_id, domain_id, user_id)
);

CREATE INDEX domainauth_subscriptions_due ON domainauth_subscriptions (digest_at) WHERE digest_at IS NOT NULL;

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

CREATE TABLE erased_address_keys (
	org_id bytetext NOT NULL,
	key_id bytetext NOT NULL,
	sealed bytea NOT NULL,
	PRIMARY KEY (org_id, key_id)
);

CREATE TABLE erased_addresses (
	org_id bytetext NOT NULL,
	hash bytea NOT NULL,
	refuses bytetext NOT NULL,
	erased_at bigint NOT NULL,
	PRIMARY KEY (org_id, hash)
);

CREATE TABLE git_adoptions (
	org_id bytetext NOT NULL,
	kind bytetext NOT NULL,
	key bytetext NOT NULL,
	adopted_at bigint NOT NULL,
	PRIMARY KEY (org_id, kind, key)
);

CREATE TABLE git_connections (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	kind bytetext NOT NULL,
	location text NOT NULL,
	path_prefix text NOT NULL,
	username text NOT NULL,
	secret bytea,
	installation bigint NOT NULL,
	branch text NOT NULL,
	commit_id bytetext NOT NULL,
	committed_at bigint NOT NULL,
	manifest text NOT NULL,
	read_at bigint NOT NULL,
	state bytetext NOT NULL,
	failure text NOT NULL,
	diagnostics text NOT NULL,
	created_at bigint NOT NULL,
	wanted bigint NOT NULL,
	claim bytetext NOT NULL,
	claimed_until bigint NOT NULL, test_data text NOT NULL DEFAULT '[]',
	PRIMARY KEY (org_id)
);

CREATE INDEX git_connections_by_installation ON git_connections (installation) WHERE installation <> 0;

CREATE TABLE git_proposals (
	org_id bytetext NOT NULL,
	branch bytetext NOT NULL,
	title text NOT NULL,
	url text NOT NULL,
	state bytetext NOT NULL,
	blobs text NOT NULL,
	operation bytetext NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, branch)
);

CREATE TABLE grants (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	user_id bytetext NOT NULL,
	client_id bytetext NOT NULL,
	resource text NOT NULL,
	scopes text NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint,
	revoked_at bigint,
	PRIMARY KEY (org_id, id)
);

CREATE INDEX grants_anywhere_by_client ON grants (client_id);

CREATE INDEX grants_by_client ON grants (org_id, client_id);

CREATE INDEX grants_newest ON grants (org_id, created_at, id);

CREATE TABLE handover_caps (
	org_id bytetext NOT NULL,
	application bytetext NOT NULL,
	recipients bigint NOT NULL,
	PRIMARY KEY (org_id, application)
);

CREATE TABLE handover_days (
	org_id bytetext NOT NULL,
	application bytetext NOT NULL,
	day bigint NOT NULL,
	recipients bigint NOT NULL,
	PRIMARY KEY (org_id, application, day)
);

CREATE TABLE handover_rates (
	org_id bytetext PRIMARY KEY,
	free_at bigint NOT NULL
);

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
	tier bytetext NOT NULL, created_at bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (org_id, send_id, recipient)
);

CREATE INDEX handover_recipients_by_age ON handover_recipients (org_id, changed_at) WHERE state IN ('sent', 'failed', 'filtered');

CREATE INDEX handover_recipients_open ON handover_recipients (org_id, changed_at) WHERE state = 'handing_over';

CREATE INDEX handover_recipients_outcomes ON handover_recipients (org_id, send_id, state, changed_at, recipient) WHERE state IN ('sent', 'failed', 'filtered');

CREATE INDEX handover_recipients_pending ON handover_recipients (org_id, send_id, not_before, recipient) WHERE state = 'pending';

CREATE TABLE handover_stops (
	org_id bytetext NOT NULL,
	stopped_at bigint NOT NULL,
	stopped_by bytetext NOT NULL,
	PRIMARY KEY (org_id)
);

CREATE TABLE identities (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	identity text NOT NULL,
	identity_key bytetext NOT NULL,
	verification text NOT NULL,
	channel bytetext NOT NULL,
	dkim_tokens text NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, identity_key)
);

CREATE INDEX identities_newest ON identities (org_id, created_at, id);

CREATE TABLE inbox_messages (
	org_id bytetext NOT NULL,
	inbox_id bytetext NOT NULL,
	seq bigint NOT NULL,
	message_id bytetext NOT NULL,
	recipients text NOT NULL,
	message text NOT NULL,
	extracted text NOT NULL,
	bytes bigint NOT NULL,
	PRIMARY KEY (org_id, inbox_id, seq),
	UNIQUE (org_id, inbox_id, message_id)
);

CREATE TABLE inbox_orgs (
	org_id bytetext PRIMARY KEY,
	disabled boolean NOT NULL
);

CREATE TABLE inbox_tokens (
	org_id bytetext NOT NULL,
	inbox_id bytetext NOT NULL,
	id bytetext NOT NULL,
	hash bytea NOT NULL UNIQUE,
	prefix bytetext NOT NULL,
	label text NOT NULL,
	created_at bigint NOT NULL,
	revoked_at bigint,
	PRIMARY KEY (org_id, inbox_id, id)
);

CREATE TABLE inboxes (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	local_part bytetext NOT NULL UNIQUE,
	owner bytetext NOT NULL,
	caller bytetext NOT NULL,
	account_ref bytetext NOT NULL,
	label text NOT NULL,
	visibility bytetext NOT NULL,
	allowed_senders text NOT NULL,
	restriction bytetext NOT NULL,
	token_id bytetext NOT NULL,
	message_count bigint NOT NULL,
	dropped_count bigint NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	deleted_at bigint,
	ends_at bigint NOT NULL,
	purged_at bigint, stored_bytes bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (org_id, id)
);

CREATE INDEX inboxes_live ON inboxes (org_id, ends_at);

CREATE INDEX inboxes_newest ON inboxes (org_id, created_at, id);

CREATE INDEX inboxes_to_forget ON inboxes (ends_at, id) WHERE purged_at IS NOT NULL;

CREATE INDEX inboxes_to_purge ON inboxes (ends_at, id) WHERE purged_at IS NULL;

CREATE TABLE installation_facts (
	name bytetext PRIMARY KEY,
	value text NOT NULL,
	updated_at bigint NOT NULL
);

CREATE TABLE installation_keys (
	purpose bytetext NOT NULL,
	key_id bytetext NOT NULL,
	sealed bytea NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (purpose, key_id)
);

CREATE TABLE invitations (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	hash bytea NOT NULL UNIQUE,
	email text NOT NULL,
	role text NOT NULL,
	permissions text NOT NULL,
	invited_by bytetext NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);

CREATE TABLE known_devices (
	hash bytea PRIMARY KEY,
	user_id bytetext NOT NULL,
	last_used_at bigint NOT NULL,
	expires_at bigint NOT NULL
);

CREATE INDEX known_devices_by_user ON known_devices (user_id, last_used_at);

CREATE INDEX known_devices_expiry ON known_devices (expires_at);

CREATE TABLE list_members (
	org_id bytetext NOT NULL,
	list_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	added_at bigint NOT NULL,
	PRIMARY KEY (org_id, list_id, contact_id),
	FOREIGN KEY (org_id, list_id) REFERENCES lists (org_id, id) ON DELETE CASCADE,
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);

CREATE INDEX list_members_by_contact ON list_members (org_id, contact_id, list_id);

CREATE INDEX list_members_newest ON list_members (org_id, list_id, added_at, contact_id);

CREATE TABLE lists (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	key bytetext NOT NULL,
	name text NOT NULL,
	description text NOT NULL,
	search bytetext NOT NULL,
	source text NOT NULL,
	origin text NOT NULL,
	source_path text NOT NULL,
	status bytetext NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, key)
);

CREATE INDEX lists_newest ON lists (org_id, status, created_at, id);

CREATE TABLE mail_buckets (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	endpoint text NOT NULL,
	region text NOT NULL,
	bucket text NOT NULL,
	prefix text NOT NULL,
	path_style boolean NOT NULL,
	access_key_id text NOT NULL,
	secret bytea NOT NULL,
	encryption text NOT NULL,
	kms_key_id text NOT NULL,
	in_use boolean NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);

CREATE UNIQUE INDEX mail_buckets_in_use ON mail_buckets (org_id) WHERE in_use;

CREATE TABLE mail_settings (
	org_id bytetext NOT NULL PRIMARY KEY,
	language bytetext NOT NULL,
	postal_address text NOT NULL,
	unsubscribe_footer boolean NOT NULL,
	asset_base_url text NOT NULL,
	updated_at bigint NOT NULL
);

CREATE TABLE members (
	org_id bytetext NOT NULL,
	user_id bytetext NOT NULL,
	role text NOT NULL,
	created_at bigint NOT NULL, permissions text NOT NULL DEFAULT '[]',
	PRIMARY KEY (org_id, user_id)
);

CREATE INDEX members_by_user ON members (user_id);

CREATE TABLE membership_log (
	org_id bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	id bytetext NOT NULL,
	set_kind bytetext NOT NULL,
	set_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	entered boolean NOT NULL,
	PRIMARY KEY (org_id, occurred_at, id)
);

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

CREATE INDEX message_events_against ON message_events (org_id, recipient_key, occurred_at)
	WHERE type IN ('Bounce', 'Complaint', 'Reject');

CREATE INDEX message_events_bounced ON message_events (org_id, occurred_at, id) WHERE type = 'Bounce';

CREATE INDEX message_events_of_message ON message_events (org_id, message_id, occurred_at, id);

CREATE INDEX message_events_of_recipient ON message_events (org_id, type, recipient_key, occurred_at) WHERE NOT test;

CREATE TABLE message_kinds (
	org_id bytetext NOT NULL,
	span bigint NOT NULL,
	channel bytetext NOT NULL,
	identity bytetext NOT NULL,
	template bytetext NOT NULL,
	status bytetext NOT NULL,
	PRIMARY KEY (org_id, span, channel, identity, template, status)
);

CREATE TABLE message_recipients (
	org_id bytetext NOT NULL,
	recipient bytetext NOT NULL,
	sent_at bigint NOT NULL,
	message_id bytetext NOT NULL,
	PRIMARY KEY (org_id, recipient, sent_at, message_id)
);

CREATE INDEX message_recipients_of_message ON message_recipients (org_id, message_id, sent_at);

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

CREATE INDEX messages_by_channel ON messages (org_id, channel, sent_at, id);

CREATE INDEX messages_by_kind ON messages (org_id, channel, identity, template, status, sent_at, id);

CREATE INDEX messages_by_status ON messages (org_id, status, sent_at, id);

CREATE INDEX messages_by_template ON messages (org_id, template, sent_at, id);

CREATE INDEX messages_newest ON messages (org_id, sent_at, id);

CREATE TABLE orgs (
	id bytetext PRIMARY KEY,
	name text NOT NULL,
	slug bytetext NOT NULL UNIQUE,
	tier text NOT NULL,
	retention_days integer NOT NULL,
	rate_limit integer,
	git_connected boolean NOT NULL,
	created_at bigint NOT NULL
, require_second_factor boolean NOT NULL DEFAULT false, platform_mode boolean NOT NULL DEFAULT false, deleted_at bigint, erasing_at bigint);

CREATE INDEX orgs_deleted ON orgs (id) WHERE deleted_at IS NOT NULL;

CREATE TABLE passkey_ceremonies (
	hash bytea PRIMARY KEY,
	user_id bytetext NOT NULL,
	purpose text NOT NULL,
	data text NOT NULL,
	expires_at bigint NOT NULL
);

CREATE INDEX passkey_ceremonies_expiry ON passkey_ceremonies (expires_at);

CREATE TABLE passkeys (
	user_id bytetext NOT NULL,
	id bytetext NOT NULL,
	credential_id bytea NOT NULL UNIQUE,
	name text NOT NULL,
	credential text NOT NULL,
	created_at bigint NOT NULL,
	last_used_at bigint,
	PRIMARY KEY (user_id, id)
);

CREATE TABLE password_resets (
	hash bytea PRIMARY KEY,
	user_id bytetext NOT NULL,
	password_mark bytea NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL
);

CREATE INDEX password_resets_by_user ON password_resets (user_id);

CREATE INDEX password_resets_expiry ON password_resets (expires_at);

CREATE TABLE password_warnings (
	user_id bytetext PRIMARY KEY,
	warned_at bigint NOT NULL
);

CREATE TABLE processes (
	id bytetext PRIMARY KEY,
	beat_at bigint NOT NULL
, role bytetext NOT NULL DEFAULT '');

CREATE TABLE production_requests (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	mail_type text NOT NULL,
	website text NOT NULL,
	use_case text NOT NULL,
	status bytetext NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	granted_at bigint,
	PRIMARY KEY (org_id, id)
);

CREATE INDEX production_requests_newest ON production_requests (org_id, created_at, id);

CREATE UNIQUE INDEX production_requests_open ON production_requests (org_id) WHERE status IN ('pending', 'under_review');

CREATE TABLE received_mail (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	envelope text NOT NULL,
	store_id bytetext NOT NULL,
	raw_key text NOT NULL,
	discard text NOT NULL,
	received_at bigint NOT NULL,
	attempts bigint NOT NULL,
	due_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);

CREATE INDEX received_mail_due ON received_mail (due_at, id);

CREATE TABLE receiving_addresses (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	local_part bytetext NOT NULL,
	metadata text NOT NULL,
	listed boolean NOT NULL,
	published boolean NOT NULL,
	created_at bigint NOT NULL,
	deleted_at bigint,
	PRIMARY KEY (org_id, id)
);

CREATE INDEX receiving_addresses_by_domain ON receiving_addresses (org_id, domain_id, created_at, id);

CREATE UNIQUE INDEX receiving_addresses_live ON receiving_addresses (org_id, domain_id, local_part) WHERE deleted_at IS NULL;

CREATE TABLE receiving_contents (
	org_id bytetext NOT NULL,
	message_id bytetext NOT NULL,
	content text NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (org_id, message_id)
);

CREATE INDEX receiving_contents_expired ON receiving_contents (org_id, expires_at);

CREATE TABLE receiving_deliveries (
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	id bytetext NOT NULL,
	message_id bytetext NOT NULL,
	recipients text NOT NULL,
	entities text NOT NULL,
	attempts bigint NOT NULL,
	tries bigint NOT NULL,
	due_at bigint,
	PRIMARY KEY (org_id, domain_id, id)
);

CREATE INDEX receiving_deliveries_next ON receiving_deliveries (org_id, domain_id, due_at, id) WHERE due_at IS NOT NULL;

CREATE TABLE receiving_domains (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	domain bytetext NOT NULL,
	status bytetext NOT NULL,
	last_error text NOT NULL,
	region bytetext NOT NULL,
	cross_region boolean NOT NULL,
	records text NOT NULL,
	check_at bigint,
	webhook_url text NOT NULL,
	patterns text NOT NULL,
	spam_posture bytetext NOT NULL,
	virus_posture bytetext NOT NULL,
	webhook_status bytetext NOT NULL,
	webhook_error text NOT NULL,
	published_at bigint,
	secret bytea,
	secret_number bigint NOT NULL,
	revision bigint NOT NULL,
	publish_at bigint,
	failing_since bigint,
	slow boolean NOT NULL,
	served_at bigint NOT NULL,
	leased_until bigint NOT NULL,
	lease bigint NOT NULL,
	created_at bigint NOT NULL,
	deleted_at bigint,
	PRIMARY KEY (org_id, id)
);

CREATE INDEX receiving_domains_check ON receiving_domains (check_at) WHERE check_at IS NOT NULL;

CREATE UNIQUE INDEX receiving_domains_name ON receiving_domains (domain) WHERE deleted_at IS NULL;

CREATE INDEX receiving_domains_publish ON receiving_domains (publish_at) WHERE publish_at IS NOT NULL;

CREATE TABLE receiving_messages (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	domain bytetext NOT NULL,
	message_id bytetext NOT NULL,
	sender text NOT NULL,
	sender_key text NOT NULL,
	recipients text NOT NULL,
	recipient_keys text NOT NULL,
	subject text NOT NULL,
	verdicts text NOT NULL,
	outcome bytetext NOT NULL,
	test boolean NOT NULL,
	size bigint NOT NULL,
	received_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);

CREATE INDEX receiving_messages_by_domain ON receiving_messages (org_id, domain_id, received_at, id);

CREATE INDEX receiving_messages_by_message ON receiving_messages (org_id, message_id);

CREATE INDEX receiving_messages_newest ON receiving_messages (org_id, received_at, id);

CREATE TABLE receiving_routes (
	domain bytetext NOT NULL PRIMARY KEY,
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	document text NOT NULL,
	removed_at bigint,
	version bigint NOT NULL
);

CREATE INDEX receiving_routes_by_domain ON receiving_routes (org_id, domain_id);

CREATE INDEX receiving_routes_version ON receiving_routes (version);

CREATE TABLE receiving_routing (id bigint NOT NULL PRIMARY KEY, version bigint NOT NULL);

CREATE TABLE receiving_states (
	org_id bytetext NOT NULL,
	message bytetext NOT NULL,
	id bytetext NOT NULL,
	state bytetext NOT NULL,
	occurred_at bigint NOT NULL,
	detail text NOT NULL,
	http_status bigint NOT NULL,
	PRIMARY KEY (org_id, message, occurred_at, id)
);

CREATE TABLE recovery_codes (
	user_id bytetext NOT NULL,
	hash bytea NOT NULL,
	used_at bigint,
	PRIMARY KEY (user_id, hash)
);

CREATE TABLE refresh_tokens (
	hash bytea PRIMARY KEY,
	org_id bytetext NOT NULL,
	grant_id bytetext NOT NULL,
	client_id bytetext NOT NULL,
	issued_at bigint NOT NULL,
	used_at bigint
);

CREATE TABLE replay_records (
	org_id bytetext NOT NULL,
	space bytetext NOT NULL,
	key bytetext NOT NULL,
	digest text NOT NULL,
	token text NOT NULL,
	done boolean NOT NULL,
	result bytea,
	expires_at bigint NOT NULL, process bytetext NOT NULL DEFAULT '', caller bytetext NOT NULL DEFAULT '', subject bytetext, called_at bigint,
	PRIMARY KEY (org_id, space, key)
);

CREATE INDEX replay_records_called ON replay_records (org_id, called_at, space, key) WHERE called_at IS NOT NULL;

CREATE INDEX replay_records_expiry ON replay_records (expires_at);

CREATE INDEX replay_records_subject ON replay_records (org_id, caller, subject) WHERE subject IS NOT NULL;

CREATE TABLE report_bounce_domains (
	org_id bytetext NOT NULL,
	day bigint NOT NULL,
	domain bytetext NOT NULL,
	bounced bigint NOT NULL,
	PRIMARY KEY (org_id, day, domain)
);

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
	suppressed bigint NOT NULL, opens bigint NOT NULL DEFAULT 0, unique_opens bigint NOT NULL DEFAULT 0, clicks bigint NOT NULL DEFAULT 0, unique_clicks bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (org_id, hour, channel, identity, template)
);

CREATE TABLE report_marks (
	org_id bytetext NOT NULL,
	mark bytetext NOT NULL,
	PRIMARY KEY (org_id, mark)
);

CREATE TABLE retention (
	org_id bytetext NOT NULL,
	kind bytetext NOT NULL,
	days bigint,
	changed_at bigint,
	seen_at bigint,
	ran_at bigint,
	deleted bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (org_id, kind)
);

CREATE TABLE segment_members (
	org_id bytetext NOT NULL,
	segment_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	entered_at bigint NOT NULL,
	PRIMARY KEY (org_id, segment_id, contact_id),
	FOREIGN KEY (org_id, segment_id) REFERENCES segments (org_id, id) ON DELETE CASCADE,
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);

CREATE INDEX segment_members_by_contact ON segment_members (org_id, contact_id);

CREATE INDEX segment_members_newest ON segment_members (org_id, segment_id, entered_at, contact_id);

CREATE TABLE segment_sizes (
	org_id bytetext NOT NULL,
	segment_id bytetext NOT NULL,
	day bigint NOT NULL,
	members bigint NOT NULL,
	PRIMARY KEY (org_id, segment_id, day),
	FOREIGN KEY (org_id, segment_id) REFERENCES segments (org_id, id) ON DELETE CASCADE
);

CREATE TABLE segment_touched (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	PRIMARY KEY (org_id, id)
);

CREATE TABLE segments (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	key bytetext NOT NULL,
	name text NOT NULL,
	description text NOT NULL,
	search bytetext NOT NULL,
	source text NOT NULL,
	profile_version integer NOT NULL,
	eval_class bytetext NOT NULL,
	status bytetext NOT NULL,
	eval_warning text NOT NULL,
	eval_warning_at bigint,
	member_count bigint NOT NULL,
	last_evaluated_at bigint,
	origin bytetext NOT NULL,
	source_path text NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	stale boolean NOT NULL DEFAULT TRUE,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, key)
);

CREATE INDEX segments_newest ON segments (org_id, created_at, id);

CREATE TABLE send_approvals (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	broadcast_id bytetext NOT NULL,
	state bytetext NOT NULL,
	asked_kind bytetext NOT NULL,
	asked_by bytetext NOT NULL,
	asked_user bytetext NOT NULL,
	requested_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	revision bigint NOT NULL,
	scheduled_at bigint,
	digest bytetext NOT NULL,
	preview text NOT NULL,
	decided_at bigint,
	decided_by bytetext NOT NULL,
	reason text NOT NULL,
	approved_size bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);

CREATE INDEX send_approvals_newest ON send_approvals (org_id, requested_at, id);

CREATE INDEX send_approvals_of_broadcast ON send_approvals (org_id, broadcast_id, requested_at, id);

CREATE INDEX send_approvals_waiting ON send_approvals (org_id, expires_at) WHERE state = 'pending';

CREATE TABLE send_policies (
	org_id bytetext NOT NULL,
	application bytetext NOT NULL,
	rule bytetext NOT NULL,
	above bigint NOT NULL,
	lists bytetext NOT NULL,
	also_people boolean NOT NULL,
	updated_at bigint NOT NULL,
	updated_by bytetext NOT NULL,
	PRIMARY KEY (org_id, application)
);

CREATE TABLE sending_claims (
	org_id bytetext NOT NULL,
	account bytetext NOT NULL,
	kind bytetext NOT NULL,
	name bytetext NOT NULL,
	claimed_at bigint NOT NULL,
	PRIMARY KEY (org_id, account, kind, name),
	UNIQUE (account, kind, name)
);

CREATE TABLE sending_syncs (
	org_id bytetext PRIMARY KEY,
	account bytetext NOT NULL,
	region text NOT NULL,
	synced_at bigint NOT NULL
);

CREATE TABLE sessions (
	hash bytea PRIMARY KEY,
	user_id bytetext NOT NULL,
	org_id bytetext NOT NULL,
	created_at bigint NOT NULL,
	last_seen_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	second_factor_at bigint
, awaits_second_factor boolean NOT NULL DEFAULT false);

CREATE INDEX sessions_by_user ON sessions (user_id);

CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE signing_keys (
	id bytetext PRIMARY KEY,
	algorithm text NOT NULL,
	sealed bytea NOT NULL,
	created_at bigint NOT NULL,
	retired_at bigint
);

CREATE UNIQUE INDEX signing_keys_current ON signing_keys ((retired_at IS NULL)) WHERE retired_at IS NULL;

CREATE TABLE site_counts (
	org_id bytetext NOT NULL,
	day bigint NOT NULL,
	outcome bytetext NOT NULL,
	name bytetext NOT NULL,
	beacons bigint NOT NULL,
	last_at bigint NOT NULL,
	PRIMARY KEY (org_id, day, outcome, name)
);

CREATE INDEX site_counts_by_day ON site_counts (day);

CREATE TABLE site_keys (
	org_id bytetext NOT NULL,
	key bytetext NOT NULL,
	hash bytea NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint,
	PRIMARY KEY (org_id, key),
	UNIQUE (hash)
);

CREATE UNIQUE INDEX site_keys_in_use ON site_keys (org_id) WHERE expires_at IS NULL;

CREATE TABLE sites_off (
	org_id bytetext NOT NULL,
	turned_off_at bigint NOT NULL,
	PRIMARY KEY (org_id)
);

CREATE TABLE spent_confirmations (
	org_id bytetext NOT NULL,
	confirmation_id bytetext NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (org_id, confirmation_id)
);

CREATE INDEX spent_confirmations_expiry ON spent_confirmations (expires_at);

CREATE TABLE suppressed_addresses (
	org_id bytetext NOT NULL,
	email_key bytetext NOT NULL,
	PRIMARY KEY (org_id, email_key)
);

CREATE TABLE sync_results (
	org_id bytetext NOT NULL,
	kind bytetext NOT NULL,
	ended_at bigint NOT NULL,
	failure bytetext NOT NULL,
	succeeded_at bigint,
	PRIMARY KEY (org_id, kind)
);

CREATE TABLE tags (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	name bytetext NOT NULL,
	color bytetext NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, name)
);

CREATE INDEX tags_newest ON tags (org_id, created_at, id);

CREATE TABLE template_tags (
	org_id bytetext NOT NULL,
	template_id bytetext NOT NULL,
	tag_id bytetext NOT NULL,
	PRIMARY KEY (org_id, template_id, tag_id),
	FOREIGN KEY (org_id, template_id) REFERENCES templates (org_id, id) ON DELETE CASCADE,
	FOREIGN KEY (org_id, tag_id) REFERENCES tags (org_id, id) ON DELETE CASCADE
);

CREATE INDEX template_tags_by_tag ON template_tags (org_id, tag_id);

CREATE TABLE template_versions (
	org_id bytetext NOT NULL,
	template_id bytetext NOT NULL,
	version_number bigint NOT NULL,
	subject text NOT NULL,
	html text NOT NULL,
	body_text text NOT NULL,
	content_hash text NOT NULL,
	message text NOT NULL,
	saved_by_kind bytetext NOT NULL,
	saved_by bytetext NOT NULL,
	user_id bytetext NOT NULL,
	saved_at bigint NOT NULL,
	PRIMARY KEY (org_id, template_id, version_number),
	FOREIGN KEY (org_id, template_id) REFERENCES templates (org_id, id) ON DELETE CASCADE
);

CREATE TABLE templates (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	name bytetext NOT NULL,
	slug bytetext NOT NULL,
	subject text NOT NULL,
	html text NOT NULL,
	body_text text NOT NULL,
	content_hash text NOT NULL,
	search bytetext NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	read_at bigint NOT NULL, source bytetext NOT NULL DEFAULT 'import', version_number bigint NOT NULL DEFAULT 0, topic bytetext NOT NULL DEFAULT '', test_data text NOT NULL DEFAULT '', deployed_version bigint NOT NULL DEFAULT 0, deployed_at bigint, deploy_failure bytetext NOT NULL DEFAULT '', deploy_tried_at bigint NOT NULL DEFAULT 0, deploy_claimed boolean NOT NULL DEFAULT FALSE, assets_changed_at bigint NOT NULL DEFAULT 0, origin bytetext NOT NULL DEFAULT 'managed', commit_id bytetext NOT NULL DEFAULT '', faults text NOT NULL DEFAULT '[]',
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, name),
	UNIQUE (org_id, slug)
);

CREATE INDEX templates_managed ON templates (org_id, id) WHERE source = 'managed';

CREATE INDEX templates_newest ON templates (org_id, created_at, id);

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

CREATE TABLE topics (
	org_id bytetext NOT NULL,
	name bytetext NOT NULL,
	display_name text NOT NULL,
	description text NOT NULL,
	default_subscription text NOT NULL,
	origin text NOT NULL,
	status text NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id, name)
);

CREATE TABLE tracking_domains (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	domain bytetext NOT NULL,
	region text NOT NULL,
	status bytetext NOT NULL,
	created_at bigint NOT NULL,
	checked_at bigint,
	verified_at bigint,
	PRIMARY KEY (org_id, id),
	UNIQUE (org_id, domain)
);

CREATE INDEX tracking_domains_newest ON tracking_domains (org_id, created_at, id);

CREATE TABLE undeliverable (
	org_id bytetext NOT NULL,
	email_key bytetext NOT NULL,
	id bytetext NOT NULL,
	email text NOT NULL,
	status bytetext NOT NULL,
	reason bytetext NOT NULL,
	first_seen_at bigint NOT NULL,
	last_seen_at bigint NOT NULL,
	last_changed_at bigint NOT NULL,
	event_count integer NOT NULL,
	excluded_at bigint,
	exclusion_reason text NOT NULL,
	forgiven_at bigint,
	PRIMARY KEY (org_id, email_key),
	UNIQUE (org_id, id)
);

CREATE INDEX undeliverable_by_change ON undeliverable (org_id, last_changed_at, id);

CREATE INDEX undeliverable_by_status ON undeliverable (org_id, status, last_changed_at, id);

CREATE TABLE undeliverable_rules (
	org_id bytetext NOT NULL,
	profile bytetext NOT NULL,
	rules text NOT NULL,
	judged_to bytetext,
	updated_at bigint NOT NULL,
	PRIMARY KEY (org_id)
);

CREATE TABLE users (
	id bytetext PRIMARY KEY,
	email text NOT NULL,
	email_key bytetext NOT NULL UNIQUE,
	name text NOT NULL,
	password_hash text NOT NULL,
	created_at bigint NOT NULL
, disabled_at bigint);

CREATE TABLE verified_sender_starts (
	subject bytetext NOT NULL PRIMARY KEY,
	started text NOT NULL
, latest bigint NOT NULL DEFAULT 0);

CREATE INDEX verified_sender_starts_by_latest ON verified_sender_starts (latest);

CREATE TABLE verified_senders (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	owner bytetext NOT NULL,
	email text NOT NULL,
	address bytetext NOT NULL,
	start_id bytetext NOT NULL,
	code_hash bytea,
	code_expires_at bigint NOT NULL,
	wrong_codes bigint NOT NULL,
	verified_at bigint,
	created_at bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);

CREATE UNIQUE INDEX verified_senders_by_address ON verified_senders (org_id, address);

CREATE INDEX verified_senders_of_owner ON verified_senders (org_id, owner, created_at, id);

CREATE TABLE visitor_ids (
	org_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	hash bytea NOT NULL,
	sealed bytea NOT NULL,
	issued_at bigint NOT NULL,
	PRIMARY KEY (org_id, contact_id),
	UNIQUE (org_id, hash),
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);

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

CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (org_id, endpoint_id, created_at, id) WHERE state = 'failed';

CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (org_id, endpoint_id, created_at, id);

CREATE INDEX webhook_deliveries_sending ON webhook_deliveries (org_id, endpoint_id, due_at) WHERE state = 'sending';

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

CREATE TABLE workflow_caps (
	org_id bytetext NOT NULL,
	messages bigint NOT NULL,
	amount bigint NOT NULL,
	unit bytetext NOT NULL,
	PRIMARY KEY (org_id)
);

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

CREATE INDEX workflow_events_by_age ON workflow_events (org_id, occurred_at);

CREATE INDEX workflow_events_by_step ON workflow_events (org_id, workflow_id, version, event_type, node_path, run_id);

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

CREATE INDEX workflow_mails_by_state ON workflow_mails (org_id, send_id, state);

CREATE INDEX workflow_mails_of_contact ON workflow_mails (org_id, contact_id, at);

CREATE INDEX workflow_mails_open ON workflow_mails (org_id, send_id, id) WHERE state = 'pending';

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

CREATE INDEX workflow_runs_by_status ON workflow_runs (org_id, status, workflow_id, id);

CREATE INDEX workflow_runs_held ON workflow_runs (org_id, id) WHERE phase = 'held';

CREATE UNIQUE INDEX workflow_runs_live ON workflow_runs (org_id, workflow_id, contact_id) WHERE status = 'active';

CREATE INDEX workflow_runs_of_contact ON workflow_runs (org_id, contact_id, workflow_id, id);

CREATE INDEX workflow_runs_timers ON workflow_runs (org_id, workflow_id, wake_at, id) WHERE wake_at IS NOT NULL;

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

CREATE TABLE workflow_touched (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	PRIMARY KEY (org_id, id)
);

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
