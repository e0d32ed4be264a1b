-- Locks on PostgreSQL: contacts (SHARE ROW EXCLUSIVE: writes wait); message_events (SHARE:
-- writes wait), until the end of the migration. Writes of message_events wait until the index
-- is built: some seconds for a million rows.

-- A definition is text and what follows from it. eval_warning is '' when there is none.
-- stale is true while all contacts have to be judged anew.
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

-- Who is in now. What led here stands in membership_log.
CREATE TABLE segment_members (
	org_id bytetext NOT NULL,
	segment_id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	entered_at bigint NOT NULL,
	PRIMARY KEY (org_id, segment_id, contact_id),
	FOREIGN KEY (org_id, segment_id) REFERENCES segments (org_id, id) ON DELETE CASCADE,
	FOREIGN KEY (org_id, contact_id) REFERENCES contacts (org_id, id) ON DELETE CASCADE
);
CREATE INDEX segment_members_newest ON segment_members (org_id, segment_id, entered_at, contact_id);
CREATE INDEX segment_members_by_contact ON segment_members (org_id, contact_id);

-- Contacts that changed and are not judged yet. A row is only ever added and removed,
-- never met by another writer, so that a change of a contact waits for nobody.
CREATE TABLE segment_touched (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	contact_id bytetext NOT NULL,
	PRIMARY KEY (org_id, id)
);

-- The account's own list of addresses that it refuses to mail, as the last sweep
-- found it.
CREATE TABLE suppressed_addresses (
	org_id bytetext NOT NULL,
	email_key bytetext NOT NULL,
	PRIMARY KEY (org_id, email_key)
);

-- Events of messages by the contact they happened to.
CREATE INDEX message_events_of_recipient ON message_events (org_id, type, recipient_key, occurred_at) WHERE NOT test;

-- Values in JSON as predicates read them: NULL unless of the type. SQLite has the
-- same functions from storage, in Go. A number of more than 64 characters or beyond
-- 1e100 is absent, and one below 1e-99 by its exponent is 0.
/*pg
CREATE FUNCTION predicate_string(v json) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT CASE WHEN json_typeof(v) = 'string' THEN v #>> '{}' END
$$;

CREATE FUNCTION predicate_bool(v json) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT CASE WHEN json_typeof(v) = 'boolean' THEN CASE WHEN v #>> '{}' = 'true' THEN 1.0 ELSE 0.0 END END
$$;

CREATE FUNCTION predicate_number(v json) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT CASE WHEN json_typeof(v) <> 'number' OR length(t) > 64 THEN NULL
		WHEN t ~ '[eE]-0*[1-9][0-9]{2,}$' THEN 0
		WHEN t ~ '[eE][+]?0*([2-9][0-9]{2}|[0-9]{4,})$' THEN NULL
		WHEN abs(CAST(t AS double precision)) <= 1e100 THEN CAST(t AS double precision) END
	FROM (SELECT v #>> '{}' AS t) AS text_of
$$;

CREATE FUNCTION predicate_moment(v json) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT CASE WHEN p IS NULL THEN NULL
		WHEN extract(month FROM make_date(CAST(p[1] AS integer), CAST(p[2] AS integer), 1) + (CAST(p[3] AS integer) - 1)) <> CAST(p[2] AS integer) THEN NULL
		ELSE CAST((make_date(CAST(p[1] AS integer), CAST(p[2] AS integer), 1) - DATE '1970-01-01') + (CAST(p[3] AS integer) - 1) AS bigint) * 86400000000
			+ CAST(p[4] AS bigint) * 3600000000 + CAST(p[5] AS bigint) * 60000000 + CAST(p[6] AS bigint) * 1000000
			+ CAST(rpad(left(coalesce(p[7], ''), 6), 6, '0') AS bigint)
			- CASE WHEN p[8] IS NULL THEN 0 WHEN p[8] = '-' THEN -1 ELSE 1 END
				* (CAST(coalesce(p[9], '0') AS bigint) * 3600000000 + CAST(coalesce(p[10], '0') AS bigint) * 60000000) END
	FROM (SELECT CASE WHEN json_typeof(v) = 'string' THEN regexp_match(v #>> '{}',
		'^(?!0000)([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:[.]([0-9]+))?(?:Z|([-+])([01][0-9]|2[0-3]):([0-5][0-9]))$') END AS p) AS parts
$$;
*/
