-- Locks on PostgreSQL: no existing table.

-- Receiving domains. region is "" if this server receives the mail. records is a JSON array of
-- the DNS records with the results of the last check, check_at the time of the next check, NULL
-- once the domain is verified. webhook_url is "" without a webhook; secret is encrypted with the
-- master key, and secret_number counts the secrets. revision counts changes to publish, and
-- publish_at is the time at which the publisher looks next, NULL if all is published.
-- failing_since, slow, served_at and leased_until are about deliveries: the first failure after
-- the last success, whether the last attempt was slow or failed, the last lease, and its end;
-- lease is its fencing token. A deleted domain stays until its routing has ended.
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
CREATE UNIQUE INDEX receiving_domains_name ON receiving_domains (domain) WHERE deleted_at IS NULL;
CREATE INDEX receiving_domains_check ON receiving_domains (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX receiving_domains_publish ON receiving_domains (publish_at) WHERE publish_at IS NOT NULL;

-- Minted addresses of receiving domains. metadata is a JSON object. listed is true if the address
-- added an entry to the patterns of the webhook. published is true once deliveries have the
-- metadata; a published address that was deleted stays until the next publication.
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
CREATE UNIQUE INDEX receiving_addresses_live ON receiving_addresses (org_id, domain_id, local_part) WHERE deleted_at IS NULL;
CREATE INDEX receiving_addresses_by_domain ON receiving_addresses (org_id, domain_id, created_at, id);

-- What is published of receiving domains. document is the JSON of routing.Document. removed_at is
-- set for a deleted domain, whose mail is still accepted for a while. version is that of the
-- routing when the row was written; receiving_routing has the last one, in one row.
CREATE TABLE receiving_routes (
	domain bytetext NOT NULL PRIMARY KEY,
	org_id bytetext NOT NULL,
	domain_id bytetext NOT NULL,
	document text NOT NULL,
	removed_at bigint,
	version bigint NOT NULL
);
CREATE INDEX receiving_routes_version ON receiving_routes (version);
CREATE INDEX receiving_routes_by_domain ON receiving_routes (org_id, domain_id);
CREATE TABLE receiving_routing (id bigint NOT NULL PRIMARY KEY, version bigint NOT NULL);

-- The log of mail to receiving domains: one row for each message and domain. recipients and
-- recipient_keys are JSON arrays of addresses, as written and in lower case.
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
CREATE INDEX receiving_messages_newest ON receiving_messages (org_id, received_at, id);
CREATE INDEX receiving_messages_by_domain ON receiving_messages (org_id, domain_id, received_at, id);
CREATE INDEX receiving_messages_by_message ON receiving_messages (org_id, message_id);

-- The states that messages passed, each attempt of a delivery among them. http_status is 0
-- without an answer.
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

-- The content of messages that can be delivered, as the JSON of inbound.Message. Rows of several
-- domains share it. It is deleted after expires_at, with the objects of the message.
CREATE TABLE receiving_contents (
	org_id bytetext NOT NULL,
	message_id bytetext NOT NULL,
	content text NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (org_id, message_id)
);
CREATE INDEX receiving_contents_expired ON receiving_contents (org_id, expires_at);

-- Deliveries to webhooks. id is the id of the message in the log. recipients is a JSON array of
-- the recipients to deliver for, entities a JSON object with the metadata of minted addresses.
-- attempts is the fencing token, tries counts the attempts since the delivery was created or
-- requested again. due_at is the time of the next attempt, NULL if none follows.
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
CREATE INDEX receiving_deliveries_due ON receiving_deliveries (org_id, domain_id, due_at) WHERE due_at IS NOT NULL;
