package rest

import (
	"net/http"
	"slices"
	"time"
)

// Route binds an operation to a method and a path.
type Route struct {
	Method string
	// Path holds its parameters in braces; each is a member of the operation's
	// REST input: /v1/contacts/{email}.
	Path string
	// Operation is the operation's name, and the route's operationId.
	Operation string
	// Success is the status of an answer without a problem.
	Success int
	// MayCreate is true when an answer has status 201 if the call created a record.
	MayCreate bool
	// Header is an additional header of the answer; "" for none. The result has its value,
	// see [headed].
	Header string
	// Also are the statuses of problems that only some routes have.
	Also []int
	// Items is the member that the whole body is the value of: a list of items, or one item.
	// "" means that the body has the members themselves.
	Items string
	// MaxBody is the maximum size of the body, in bytes; zero means 1 MiB.
	MaxBody int64
	// MaxAge is how long a client may cache the answer. Zero forbids it, for answers with
	// personal data or ones that a write may change.
	MaxAge time.Duration
}

// routes is the public API, one line each, in the order of the documentation.
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
}

// Routes returns the table of routes.
func Routes() []Route { return slices.Clone(routes) }
