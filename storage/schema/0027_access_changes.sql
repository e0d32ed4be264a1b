-- Locks on PostgreSQL: api_keys, blocked_clients, clients, denied_tokens, grants, members,
-- orgs, signing_keys (SHARE ROW EXCLUSIVE: writes wait), for milliseconds: no row is rewritten,
-- and each lock ends with the migration.

-- Processes remember callers for a few seconds. On PostgreSQL these triggers notify each
-- process of a change that ends or narrows a credential, with its commit, whatever
-- program made it: "kind id" on the channel mailhelm_access. SQLite has one process.
/*pg
CREATE FUNCTION tell_access_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('mailhelm_access',
		TG_ARGV[0] || ' ' || coalesce(to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END) ->> TG_ARGV[1], ''));
	RETURN NULL;
END
$$;

CREATE TRIGGER tell_api_keys AFTER UPDATE OR DELETE ON api_keys
	FOR EACH ROW EXECUTE FUNCTION tell_access_change('credential', 'id');
CREATE TRIGGER tell_clients AFTER UPDATE OR DELETE ON clients
	FOR EACH ROW EXECUTE FUNCTION tell_access_change('credential', 'id');
CREATE TRIGGER tell_grants AFTER UPDATE OR DELETE ON grants
	FOR EACH ROW EXECUTE FUNCTION tell_access_change('grant', 'id');
CREATE TRIGGER tell_denied_tokens AFTER INSERT ON denied_tokens
	FOR EACH ROW EXECUTE FUNCTION tell_access_change('token', 'token_id');
CREATE TRIGGER tell_members AFTER UPDATE OR DELETE ON members
	FOR EACH ROW EXECUTE FUNCTION tell_access_change('user', 'user_id');
CREATE TRIGGER tell_blocked_clients AFTER INSERT ON blocked_clients
	FOR EACH ROW EXECUTE FUNCTION tell_access_change('org', 'org_id');
CREATE TRIGGER tell_orgs AFTER UPDATE OR DELETE ON orgs
	FOR EACH ROW EXECUTE FUNCTION tell_access_change('org', 'id');
CREATE TRIGGER tell_signing_keys AFTER UPDATE OR DELETE ON signing_keys
	FOR EACH ROW EXECUTE FUNCTION tell_access_change('signing_key', 'id');
*/
