package closing

import (
	"strings"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// orgTable is a table with rows of organizations.
type orgTable struct {
	name string
	// key are the columns of the primary key other than org_id; "" for none.
	key          string
	count, erase *engine.Statement
}

// orgTables are all tables with the column org_id. A table that refers to another one stands
// before it. A test fails for a table that is missing.
var orgTables = registerOrgTables([]orgTable{
	{name: "account_notes", key: "id"},
	{name: "activities", key: "occurred_at, id"},
	{name: "activity_claims", key: "contact_id, name"},
	{name: "activity_keys", key: "key"},
	{name: "activity_properties", key: "id"},
	{name: "api_keys", key: "id"},
	{name: "asset_contents", key: "hash"},
	{name: "assets", key: "id"},
	{name: "attribute_leftovers", key: "name"},
	{name: "attribute_passes", key: ""},
	{name: "attributes", key: "id"},
	{name: "audit_events", key: "occurred_at, id"},
	{name: "authorization_codes", key: "hash"},
	{name: "blocked_clients", key: "client_id"},
	{name: "broadcast_tags", key: "broadcast_id, tag_id"},
	{name: "broadcasts", key: "id"},
	{name: "bulk_chunks", key: "job_id, first_index"},
	{name: "bulk_jobs", key: "id"},
	{name: "channels", key: "id"},
	{name: "clients", key: "id"},
	{name: "connections", key: ""},
	{name: "consent_contacts", key: "email_key"},
	{name: "consent_lists", key: ""},
	{name: "consent_topics", key: "name"},
	{name: "contact_lists", key: ""},
	{name: "contact_pushes", key: "contact_id"},
	{name: "contact_slots", key: "contact_id"},
	{name: "contact_topics", key: "contact_id, topic"},
	{name: "contact_upload_chunks", key: "upload_id, kind, position"},
	{name: "contact_uploads", key: "id"},
	{name: "domainauth_daily", key: "domain_id, day, source"},
	{name: "domainauth_domains", key: "id"},
	{name: "domainauth_events", key: "domain_id, id"},
	{name: "domainauth_files", key: "id"},
	{name: "domainauth_findings", key: "domain_id, source, code, opened_day"},
	{name: "domainauth_monthly", key: "domain_id, month, source"},
	{name: "domainauth_notices", key: "id"},
	{name: "domainauth_records", key: "domain_id, subject, first_seen_at"},
	{name: "domainauth_reporter_days", key: "domain_id, day, reporter"},
	{name: "domainauth_reporters", key: "reporter"},
	{name: "domainauth_reports", key: "id"},
	{name: "domainauth_rows", key: "domain_id, day, report, n"},
	{name: "domainauth_sources", key: "domain_id, id"},
	{name: "domainauth_subscriptions", key: "domain_id, user_id"},
	{name: "domainauth_totals", key: "domain_id, day"},
	{name: "erased_addresses", key: "hash"},
	{name: "erased_address_keys", key: "key_id"},
	{name: "git_adoptions", key: "kind, key"},
	{name: "git_connections", key: ""},
	{name: "git_proposals", key: "branch"},
	{name: "grants", key: "id"},
	{name: "handover_caps", key: "application"},
	{name: "handover_days", key: "application, day"},
	{name: "handover_rates", key: ""},
	{name: "handover_recipients", key: "send_id, recipient"},
	{name: "handover_stops", key: ""},
	{name: "identities", key: "id"},
	{name: "inbox_messages", key: "inbox_id, seq"},
	{name: "inbox_orgs", key: ""},
	{name: "inbox_tokens", key: "inbox_id, id"},
	{name: "inboxes", key: "id"},
	{name: "invitations", key: "id"},
	{name: "list_members", key: "list_id, contact_id"},
	{name: "lists", key: "id"},
	{name: "mail_settings", key: ""},
	{name: "members", key: "user_id"},
	{name: "membership_log", key: "occurred_at, id"},
	{name: "message_events", key: "occurred_at, id"},
	{name: "message_kinds", key: "span, channel, identity, template, status"},
	{name: "message_recipients", key: "recipient, sent_at, message_id"},
	{name: "messages", key: "id"},
	{name: "production_requests", key: "id"},
	{name: "received_mail", key: "id"},
	{name: "receiving_addresses", key: "id"},
	{name: "receiving_contents", key: "message_id"},
	{name: "receiving_deliveries", key: "domain_id, id"},
	{name: "receiving_domains", key: "id"},
	{name: "receiving_messages", key: "id"},
	{name: "receiving_routes", key: "domain"},
	{name: "receiving_states", key: "message, occurred_at, id"},
	{name: "refresh_tokens", key: "hash"},
	{name: "replay_records", key: "space, key"},
	{name: "report_bounce_domains", key: "day, domain"},
	{name: "report_days", key: "day, channel, identity, template"},
	{name: "report_hours", key: "hour, channel, identity, template"},
	{name: "report_marks", key: "mark"},
	{name: "retention", key: "kind"},
	{name: "segment_members", key: "segment_id, contact_id"},
	{name: "segment_sizes", key: "segment_id, day"},
	{name: "segment_touched", key: "id"},
	{name: "segments", key: "id"},
	{name: "send_approvals", key: "id"},
	{name: "send_policies", key: "application"},
	{name: "sending_claims", key: "account, kind, name"},
	{name: "sending_syncs", key: ""},
	{name: "sessions", key: "hash"},
	{name: "site_counts", key: "day, outcome, name"},
	{name: "site_keys", key: "key"},
	{name: "sites_off", key: ""},
	{name: "spent_confirmations", key: "confirmation_id"},
	{name: "suppressed_addresses", key: "email_key"},
	{name: "sync_results", key: "kind"},
	{name: "template_tags", key: "template_id, tag_id"},
	{name: "tags", key: "id"},
	{name: "template_versions", key: "template_id, version_number"},
	{name: "templates", key: "id"},
	{name: "test_sends", key: "id"},
	{name: "tool_usage", key: "client_id, user_id, operation, day"},
	{name: "topics", key: "name"},
	{name: "tracking_domains", key: "id"},
	{name: "undeliverable", key: "email_key"},
	{name: "undeliverable_rules", key: ""},
	{name: "verified_senders", key: "id"},
	{name: "visitor_ids", key: "contact_id"},
	{name: "contacts", key: "id"},
	{name: "webhook_deliveries", key: "endpoint_id, id"},
	{name: "webhook_endpoints", key: "id"},
	{name: "workflow_caps", key: ""},
	{name: "workflow_entries", key: "workflow_id, id"},
	{name: "workflow_events", key: "workflow_id, run_id, id"},
	{name: "workflow_mails", key: "send_id, id"},
	{name: "workflow_runs", key: "workflow_id, id"},
	{name: "workflow_sends", key: "id"},
	{name: "workflow_touched", key: "id"},
	{name: "workflow_versions", key: "workflow_id, number"},
	{name: "workflows", key: "id"},
	{name: "mail_buckets", key: "id"},
})

// registerOrgTables registers the statements that count and erase the rows of an organization
// in each table.
func registerOrgTables(tables []orgTable) []orgTable {
	for i, t := range tables {
		columns := "org_id"
		if t.key != "" {
			columns += ", " + t.key
		}
		tables[i].count = engine.Register("count "+t.name+" of an organization", `SELECT count(*) FROM `+t.name+` WHERE org_id = $1`)
		tables[i].erase = engine.Register("erase "+t.name+" of an organization", `
			DELETE FROM `+t.name+` WHERE (`+columns+`) IN (SELECT `+prefixed(columns)+` FROM `+t.name+` AS one WHERE one.org_id = $1 LIMIT $2)`)
	}
	return tables
}

// prefixed returns the columns with the name of the table in the subquery.
func prefixed(columns string) string {
	return "one." + strings.ReplaceAll(columns, ", ", ", one.")
}

// OrgTable is a table with rows of organizations. Key are the columns of its primary key other than
// org_id, separated by commas; "" for a table with one row for each organization.
type OrgTable struct{ Name, Key string }

// OrgTables returns all tables with the column org_id. A table that refers to another one stands
// before it.
func OrgTables() []OrgTable {
	all := make([]OrgTable, len(orgTables))
	for i, t := range orgTables {
		all[i] = OrgTable{t.name, t.key}
	}
	return all
}
