package rest

import (
	"net/http"
	"slices"
	"time"
)

// Route maps an HTTP method and a path to an operation.
type Route struct {
	Method string
	// Path has its parameters in braces, as in /v1/contacts/{email}. Each must be a member
	// of the operation's input.
	Path string
	// Operation is the operation's name, which is also the operationId in the OpenAPI
	// document.
	Operation string
	// Success is the HTTP status of a successful answer.
	Success int
	// MayCreate makes status 201 the answer to a successful call that creates a record.
	// Other successful calls are answered with the status in Success.
	MayCreate bool
	// Header is the name of an additional response header, or "". The operation's result
	// provides the value, see [headerResult].
	Header string
	// Also has additional error statuses of this route for the OpenAPI document.
	Also []int
	// Items is the input member whose value is the whole body, a list of items or one item.
	// "" means that the body is an object with the input members.
	Items string
	// Archive lets a client have the answer as a zip archive, with the header Accept. The
	// operation's result provides it, see [archiveResult].
	Archive bool
	// Bundle lets the body be a zip archive, whose files become the members files and images.
	Bundle bool
	// QueryAlso has members of the input that are in the query although the route takes a body.
	QueryAlso []string
	// OptionalBody lets requests omit the body, which then counts as an empty object.
	OptionalBody bool
	// MaxBody is the maximum size of the request body, in bytes; 0 means 1 MiB.
	MaxBody int64
	// MaxAge is how long a client may cache the answer. 0 means not at all, for answers that
	// contain personal data or that a write may change.
	MaxAge time.Duration
}

// TakesBody reports whether the arguments of the route are in the body of the request (POST,
// PUT, PATCH), except those in the path. Other methods have them in the query.
func (r Route) TakesBody() bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		return true
	}
	return false
}

// routes are all routes of the public API, in the order of the documentation.
var routes = []Route{
	{Method: http.MethodGet, Path: "/v1/_scopes", Operation: "credentials_get_scopes", Success: 200},
	{Method: http.MethodGet, Path: "/v1/account", Operation: "account_get", Success: 200, MaxAge: time.Minute},
	{Method: http.MethodGet, Path: "/v1/reports/deliverability", Operation: "reports_deliverability", Success: 200},
	{Method: http.MethodGet, Path: "/v1/reports/engagement", Operation: "reports_engagement", Success: 200},
	{Method: http.MethodGet, Path: "/v1/reports/template-performance", Operation: "reports_template_performance", Success: 200},
	{Method: http.MethodGet, Path: "/v1/suppressions", Operation: "suppressions_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/suppressions/{email}", Operation: "suppressions_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/undeliverable", Operation: "undeliverable_list", Success: 200, Header: rulesVersionHeader},
	{Method: http.MethodGet, Path: "/v1/undeliverable/rules", Operation: "undeliverable_rules", Success: 200},
	{Method: http.MethodGet, Path: "/v1/channels", Operation: "channels_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/channels/{name}", Operation: "channels_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/identities", Operation: "identities_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/identities/{identity}", Operation: "identities_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/tracking-domains", Operation: "tracking_domains_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/tracking-domains/{domain}", Operation: "tracking_domains_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/messages", Operation: "messages_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/messages/{id}", Operation: "messages_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/messages/{id}/events", Operation: "messages_events", Success: 200},
	{Method: http.MethodGet, Path: "/v1/recipients/{email}/messages", Operation: "recipients_messages", Success: 200},
	{Method: http.MethodGet, Path: "/v1/contacts", Operation: "contacts_list", Success: 200},
	{Method: http.MethodPost, Path: "/v1/contacts", Operation: "contacts_create", Success: 201},
	{Method: http.MethodPost, Path: "/v1/contacts/bulk", Operation: "contacts_bulk", Success: 202, MaxBody: 8 << 20},
	{Method: http.MethodGet, Path: "/v1/contacts/bulk/{job_id}", Operation: "contacts_bulk_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/contacts/{email}", Operation: "contacts_lookup", Success: 200},
	{Method: http.MethodPut, Path: "/v1/contacts/{email}", Operation: "contacts_replace", Success: 200, MayCreate: true},
	{Method: http.MethodPatch, Path: "/v1/contacts/{email}", Operation: "contacts_update", Success: 200},
	{Method: http.MethodDelete, Path: "/v1/contacts/{email}", Operation: "contacts_archive", Success: 204},
	{Method: http.MethodPut, Path: "/v1/contacts/by-external-id/{external_id}", Operation: "contacts_upsert_by_external_id", Success: 200, MayCreate: true},
	{Method: http.MethodDelete, Path: "/v1/contacts/by-external-id/{external_id}", Operation: "contacts_archive_by_external_id", Success: 204},
	{Method: http.MethodPost, Path: "/v1/contacts/identify", Operation: "contacts_identify", Success: 200, Also: []int{http.StatusBadRequest}},
	{Method: http.MethodGet, Path: "/v1/contacts/{id}/activities", Operation: "contacts_list_activities", Success: 200},
	{Method: http.MethodGet, Path: "/v1/contacts/{id}/activities/summary", Operation: "contacts_summarize_activities", Success: 200},
	{Method: http.MethodPost, Path: "/v1/activities", Operation: "activities_record", Success: 202, Items: "activities"},
	{Method: http.MethodGet, Path: "/v1/activities", Operation: "activities_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/activity-properties", Operation: "activity_properties_list", Success: 200},
	{Method: http.MethodPost, Path: "/v1/activity-properties", Operation: "activity_properties_create", Success: 201},
	{Method: http.MethodGet, Path: "/v1/activity-properties/{id}", Operation: "activity_properties_get", Success: 200},
	{Method: http.MethodPut, Path: "/v1/activity-properties/{id}", Operation: "activity_properties_replace", Success: 200},
	{Method: http.MethodDelete, Path: "/v1/activity-properties/{id}", Operation: "activity_properties_delete", Success: 200},
	{Method: http.MethodPost, Path: "/v1/activity-properties/{id}/preview", Operation: "activity_properties_preview", Success: 200},
	{Method: http.MethodGet, Path: "/v1/lists", Operation: "lists_list", Success: 200},
	{Method: http.MethodPost, Path: "/v1/lists", Operation: "lists_create", Success: 201},
	{Method: http.MethodGet, Path: "/v1/lists/{id}", Operation: "lists_get", Success: 200},
	{Method: http.MethodPut, Path: "/v1/lists/{id}", Operation: "lists_update", Success: 200},
	{Method: http.MethodDelete, Path: "/v1/lists/{id}", Operation: "lists_delete", Success: 204},
	{Method: http.MethodGet, Path: "/v1/lists/{id}/members", Operation: "lists_members", Success: 200},
	{Method: http.MethodGet, Path: "/v1/lists/{id}/members/{contact}", Operation: "lists_check_member", Success: 200},
	{Method: http.MethodGet, Path: "/v1/segments", Operation: "segments_list", Success: 200},
	{Method: http.MethodPost, Path: "/v1/segments/preview", Operation: "segments_preview_predicate", Success: 200},
	{Method: http.MethodGet, Path: "/v1/segments/{id}", Operation: "segments_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/segments/{id}/members", Operation: "segments_members", Success: 200},
	{Method: http.MethodGet, Path: "/v1/segments/{id}/members/{contact}", Operation: "segments_check_member", Success: 200},
	{Method: http.MethodGet, Path: "/v1/attributes", Operation: "attributes_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/contact-list", Operation: "contact_list_get", Success: 200, Also: []int{http.StatusNotFound}},
	{Method: http.MethodPost, Path: "/v1/attributes", Operation: "attributes_create", Success: 201},
	{Method: http.MethodGet, Path: "/v1/attributes/{id}", Operation: "attributes_get", Success: 200},
	{Method: http.MethodPut, Path: "/v1/attributes/{id}", Operation: "attributes_update", Success: 200},
	{Method: http.MethodDelete, Path: "/v1/attributes/{id}", Operation: "attributes_delete", Success: 200},
	{Method: http.MethodPost, Path: "/v1/attributes/{id}/preview", Operation: "attributes_preview", Success: 200},
	{Method: http.MethodGet, Path: "/v1/topics", Operation: "topics_list", Success: 200},
	{Method: http.MethodPost, Path: "/v1/topics", Operation: "topics_create", Success: 201},
	{Method: http.MethodPut, Path: "/v1/topics/{name}", Operation: "topics_update", Success: 200},
	{Method: http.MethodDelete, Path: "/v1/topics/{name}", Operation: "topics_delete", Success: 204},
	{Method: http.MethodGet, Path: "/v1/templates", Operation: "templates_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/templates/{slug}", Operation: "templates_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/tags", Operation: "tags_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/export", Operation: "bundles_export", Success: 200, Header: omittedHeader, Archive: true, Also: []int{http.StatusForbidden, http.StatusConflict}},
	{Method: http.MethodPost, Path: "/v1/import", Operation: "bundles_import", Success: 200, Bundle: true, QueryAlso: []string{"dry_run", "prune"}, MaxBody: maxBundle, Also: []int{http.StatusForbidden, http.StatusConflict}},
	{Method: http.MethodGet, Path: "/v1/assets", Operation: "assets_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/assets/{id}", Operation: "assets_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/inbound/messages", Operation: "inbound_messages_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/inbound/messages/{message_id}", Operation: "inbound_messages_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/inbound/domains", Operation: "inbound_domains_list", Success: 200},
	{Method: http.MethodPost, Path: "/v1/inbound/domains", Operation: "inbound_domains_create", Success: 201},
	{Method: http.MethodGet, Path: "/v1/inbound/domains/{domain}", Operation: "inbound_domains_get", Success: 200},
	{Method: http.MethodDelete, Path: "/v1/inbound/domains/{domain}", Operation: "inbound_domains_delete", Success: 204},
	{Method: http.MethodPost, Path: "/v1/inbound/domains/{domain}/verify", Operation: "inbound_domains_verify", Success: 200, OptionalBody: true},
	{Method: http.MethodPut, Path: "/v1/inbound/domains/{domain}/webhook", Operation: "inbound_webhook_replace", Success: 200},
	{Method: http.MethodDelete, Path: "/v1/inbound/domains/{domain}/webhook", Operation: "inbound_webhook_delete", Success: 200},
	{Method: http.MethodPost, Path: "/v1/inbound/domains/{domain}/webhook/rotate-secret", Operation: "inbound_webhook_rotate_secret", Success: 200, OptionalBody: true},
	{Method: http.MethodGet, Path: "/v1/inbound/domains/{domain}/addresses", Operation: "inbound_addresses_list", Success: 200},
	{Method: http.MethodPost, Path: "/v1/inbound/domains/{domain}/addresses", Operation: "inbound_addresses_create", Success: 201, OptionalBody: true},
	{Method: http.MethodDelete, Path: "/v1/inbound/domains/{domain}/addresses/{local_part}", Operation: "inbound_addresses_delete", Success: 204},
	{Method: http.MethodGet, Path: "/v1/domain-auth/domains", Operation: "domain_auth_domains_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/domain-auth/domains/{domain}", Operation: "domain_auth_domains_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/domain-auth/domains/{domain}/sources", Operation: "domain_auth_sources_list", Success: 200},
	{Method: http.MethodPatch, Path: "/v1/domain-auth/domains/{domain}/sources/{source_id}", Operation: "domain_auth_sources_decide", Success: 200},
	{Method: http.MethodGet, Path: "/v1/domain-auth/domains/{domain}/readiness", Operation: "domain_auth_readiness_get", Success: 200},
	{Method: http.MethodPost, Path: "/v1/domain-auth/domains/{domain}/readiness/acknowledge", Operation: "domain_auth_readiness_acknowledge", Success: 200},
	{Method: http.MethodPost, Path: "/v1/domain-auth/domains/{domain}/remeasure", Operation: "domain_auth_domains_remeasure", Success: 202, OptionalBody: true, Header: "Retry-After"},
	{Method: http.MethodGet, Path: "/v1/domain-auth/domains/{domain}/timeseries", Operation: "domain_auth_timeseries_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/domain-auth/domains/{domain}/timeline", Operation: "domain_auth_timeline_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/domain-auth/domains/{domain}/timeline/{annotation_id}/comparison", Operation: "domain_auth_comparison_get", Success: 200},
	{Method: http.MethodPost, Path: "/v1/domain-auth/domains/{domain}/timeline/notes", Operation: "domain_auth_notes_create", Success: 201},
	{Method: http.MethodGet, Path: "/v1/workflows", Operation: "workflows_list", Success: 200},
	{Method: http.MethodGet, Path: "/v1/workflows/{id}", Operation: "workflows_get", Success: 200},
	{Method: http.MethodGet, Path: "/v1/workflows/{id}/runs", Operation: "workflows_runs", Success: 200},
	{Method: http.MethodGet, Path: "/v1/workflows/{id}/exits", Operation: "workflows_exits", Success: 200},
	{Method: http.MethodGet, Path: "/v1/workflows/{id}/funnel", Operation: "workflows_funnel", Success: 200},
	{Method: http.MethodGet, Path: "/v1/workflows/{id}/runs/{run_id}/timeline", Operation: "workflows_timeline", Success: 200},
	{Method: http.MethodPost, Path: "/v1/workflows/{id}/dry-run", Operation: "workflows_dry_run", Success: 200},
	{Method: http.MethodGet, Path: "/v1/broadcasts", Operation: "broadcasts_list", Success: 200},
	{Method: http.MethodPost, Path: "/v1/broadcasts", Operation: "broadcasts_create", Success: 201, MaxBody: 4 << 20},
	{Method: http.MethodGet, Path: "/v1/broadcasts/{id}", Operation: "broadcasts_get", Success: 200},
	{Method: http.MethodDelete, Path: "/v1/broadcasts/{id}", Operation: "broadcasts_delete", Success: 204},
	{Method: http.MethodPost, Path: "/v1/broadcasts/{id}/send", Operation: "broadcasts_send", Success: 202},
	{Method: http.MethodPost, Path: "/v1/broadcasts/{id}/test", Operation: "broadcasts_test_send", Success: 200},
	{Method: http.MethodPost, Path: "/v1/broadcasts/{id}/preview", Operation: "broadcasts_preview", Success: 200},
	{Method: http.MethodGet, Path: "/v1/broadcasts/{id}/results", Operation: "broadcasts_results", Success: 200},
	{Method: http.MethodGet, Path: "/v1/inboxes", Operation: "inboxes_list", Success: 200},
	{Method: http.MethodPost, Path: "/v1/inboxes", Operation: "inboxes_create", Success: 201, OptionalBody: true},
	{Method: http.MethodGet, Path: "/v1/inboxes/{id}", Operation: "inboxes_get", Success: 200},
	{Method: http.MethodPatch, Path: "/v1/inboxes/{id}", Operation: "inboxes_update", Success: 200},
	{Method: http.MethodDelete, Path: "/v1/inboxes/{id}", Operation: "inboxes_delete", Success: 204},
	{Method: http.MethodGet, Path: "/v1/inboxes/{id}/messages", Operation: "inboxes_messages", Success: 200},
	{Method: http.MethodGet, Path: "/v1/inboxes/{id}/pull-tokens", Operation: "inbox_pull_tokens_list", Success: 200},
	{Method: http.MethodPost, Path: "/v1/inboxes/{id}/pull-tokens", Operation: "inbox_pull_tokens_create", Success: 201, OptionalBody: true},
	{Method: http.MethodDelete, Path: "/v1/inboxes/{id}/pull-tokens/{token_id}", Operation: "inbox_pull_tokens_revoke", Success: 204},
	{Method: http.MethodGet, Path: "/v1/verified-senders", Operation: "verified_senders_list", Success: 200},
	{Method: http.MethodPost, Path: "/v1/verified-senders", Operation: "verified_senders_create", Success: 202},
	{Method: http.MethodPost, Path: "/v1/verified-senders/{id}/confirm", Operation: "verified_senders_confirm", Success: 200},
	{Method: http.MethodDelete, Path: "/v1/verified-senders/{id}", Operation: "verified_senders_delete", Success: 204},
}

// Routes returns a copy of the table of all routes.
func Routes() []Route { return slices.Clone(routes) }
