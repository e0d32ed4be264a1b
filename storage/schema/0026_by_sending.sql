-- Locks on PostgreSQL: message_events, report_hours (ACCESS EXCLUSIVE: reads and writes wait);
-- message_kinds, messages, orgs, report_bounce_domains, report_days, report_marks (ROW
-- EXCLUSIVE: changed rows only), until the end of the migration. It rewrites all rows of
-- messages and computes all reports again: minutes for millions of messages. Their writes wait.

-- RenderingFailure became a status, between Send and DeliveryDelay.
UPDATE messages SET rank = rank + 1 WHERE rank > 0;
UPDATE messages SET rank = 1, status = 'RenderingFailure'
WHERE rank = 0 AND EXISTS (SELECT 1 FROM message_events AS e
	WHERE e.org_id = messages.org_id AND e.message_id = messages.id AND e.type = 'RenderingFailure');
INSERT INTO message_kinds (org_id, span, channel, identity, template, status)
SELECT DISTINCT org_id, sent_at / 2592000000000, channel, identity, template, status
FROM messages WHERE status = 'RenderingFailure'
ON CONFLICT DO NOTHING;

-- Retention follows the tier.
UPDATE orgs SET retention_days = CASE tier WHEN 'free' THEN 30 WHEN 'team' THEN 90 ELSE 365 END;

-- Figures are by the moment in which a message was sent, not by that of the event. All
-- of them are counted anew. Opens and clicks are unique for ever, so hours have them too,
-- and no part of a day is counted from the events of opens and clicks.
DROP INDEX message_events_engaged;
DELETE FROM report_marks;
DELETE FROM report_hours;
DELETE FROM report_days;
DELETE FROM report_bounce_domains;
ALTER TABLE report_hours ADD COLUMN opens bigint NOT NULL DEFAULT 0;
ALTER TABLE report_hours ADD COLUMN unique_opens bigint NOT NULL DEFAULT 0;
ALTER TABLE report_hours ADD COLUMN clicks bigint NOT NULL DEFAULT 0;
ALTER TABLE report_hours ADD COLUMN unique_clicks bigint NOT NULL DEFAULT 0;

/*pg
CREATE FUNCTION report_digest(text, text, text, text, text, text, text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
	SELECT translate(rtrim(encode(substring(sha256(
		convert_to($1, 'UTF8') || '\x00'::bytea || convert_to($2, 'UTF8') || '\x00'::bytea || convert_to($3, 'UTF8') || '\x00'::bytea
		|| convert_to($4, 'UTF8') || '\x00'::bytea || convert_to($5, 'UTF8') || '\x00'::bytea || convert_to($6, 'UTF8') || '\x00'::bytea
		|| convert_to($7, 'UTF8')) FROM 1 FOR 16), 'base64'), '='), '+/', '-_')
$$;
*/
INSERT INTO report_marks (org_id, mark)
SELECT DISTINCT e.org_id, CAST(m.sent_at / 86400000000 AS text)
	|| report_digest(e.type, e.message_id, e.recipient_key, e.channel, e.identity, e.template, CAST(m.sent_at AS text))
FROM message_events AS e JOIN messages AS m ON m.org_id = e.org_id AND m.id = e.message_id
WHERE e.type IN ('Open', 'Click') AND NOT e.test;
/*pg DROP FUNCTION report_digest(text, text, text, text, text, text, text); */

INSERT INTO report_hours (org_id, hour, channel, identity, template,
	sent, delivered, bounced, complained, suppressed, opens, unique_opens, clicks, unique_clicks)
SELECT org_id, hour, channel, identity, template,
	CAST(sum(CASE WHEN type = 'Send' THEN number ELSE 0 END) AS bigint),
	CAST(sum(CASE WHEN type = 'Delivery' THEN number ELSE 0 END) AS bigint),
	CAST(sum(CASE WHEN type = 'Bounce' THEN number ELSE 0 END) AS bigint),
	CAST(sum(CASE WHEN type = 'Complaint' THEN number ELSE 0 END) AS bigint),
	CAST(sum(CASE WHEN type = 'Reject' THEN number ELSE 0 END) AS bigint),
	CAST(sum(CASE WHEN type = 'Open' THEN number ELSE 0 END) AS bigint),
	CAST(sum(CASE WHEN type = 'Open' THEN 1 ELSE 0 END) AS bigint),
	CAST(sum(CASE WHEN type = 'Click' THEN number ELSE 0 END) AS bigint),
	CAST(sum(CASE WHEN type = 'Click' THEN 1 ELSE 0 END) AS bigint)
FROM (
	SELECT e.org_id, m.sent_at - m.sent_at % 3600000000 AS hour, e.channel, e.identity, e.template, e.type,
		e.message_id, e.recipient_key, count(*) AS number
	FROM message_events AS e JOIN messages AS m ON m.org_id = e.org_id AND m.id = e.message_id
	WHERE NOT e.test AND e.type IN ('Send', 'Delivery', 'Bounce', 'Complaint', 'Reject', 'Open', 'Click')
	AND coalesce(e.bounce_sub_type, '') <> 'OnAccountSuppressionList'
	GROUP BY e.org_id, m.sent_at, e.channel, e.identity, e.template, e.type, e.message_id, e.recipient_key
) AS once
GROUP BY org_id, hour, channel, identity, template;

INSERT INTO report_days (org_id, day, channel, identity, template,
	sent, delivered, bounced, complained, suppressed, opens, unique_opens, clicks, unique_clicks)
SELECT org_id, hour - hour % 86400000000, channel, identity, template,
	CAST(sum(sent) AS bigint), CAST(sum(delivered) AS bigint), CAST(sum(bounced) AS bigint),
	CAST(sum(complained) AS bigint), CAST(sum(suppressed) AS bigint), CAST(sum(opens) AS bigint),
	CAST(sum(unique_opens) AS bigint), CAST(sum(clicks) AS bigint), CAST(sum(unique_clicks) AS bigint)
FROM report_hours
GROUP BY org_id, hour - hour % 86400000000, channel, identity, template;

INSERT INTO report_bounce_domains (org_id, day, domain, bounced)
SELECT e.org_id, m.sent_at - m.sent_at % 86400000000,
	lower(substr(e.recipient, length(rtrim(e.recipient, replace(e.recipient, '@', ''))) + 1)), count(*)
FROM message_events AS e JOIN messages AS m ON m.org_id = e.org_id AND m.id = e.message_id
WHERE e.type = 'Bounce' AND NOT e.test AND coalesce(e.bounce_sub_type, '') <> 'OnAccountSuppressionList'
GROUP BY e.org_id, m.sent_at - m.sent_at % 86400000000,
	lower(substr(e.recipient, length(rtrim(e.recipient, replace(e.recipient, '@', ''))) + 1));
