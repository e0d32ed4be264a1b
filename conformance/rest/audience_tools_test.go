package rest_test

import "github.com/mailhelm/mailhelm/core"

// audienceToolRules are test cases for the arguments and results of the MCP tools about
// contacts, lists and topics.
var audienceToolRules = []rule{
	{"an agent finds a contact by its address, external id or id, with its lists and how many segments", []step{
		{call: "POST " + people, body: `{"email":"$a","lists":{"add":["newsletter"]}}`, status: 201, keep: "id"},
		{call: "tool contacts_upsert", body: `{"email":"$a","external_id":"$x"}`, want: `{"result":"updated"}`},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"contact":{"id":"$1","external_id":"$x","status":"active","lists":[{"key":"newsletter"}]},"segments_count":0}`, lacks: "visitor_id"},
		{call: "tool contacts_lookup", body: `{"external_id":"$x"}`, want: `{"contact":{"id":"$1"}}`},
		{call: "tool contacts_lookup", body: `{"contact_id":"$1"}`, want: `{"contact":{"email":"$a"}}`},
		{call: "tool contacts_lookup", body: `{}`, code: core.CodeValidationFailed},
		{call: "tool contacts_lookup", body: `{"email":"$a","contact_id":"$1"}`, code: core.CodeValidationFailed},
		{call: "tool contacts_lookup", body: `{"email":"$b"}`, code: core.CodeNotFound},
	}},
	{"a visitor id is issued when it is asked for, stays the same, and is shown", []step{
		{call: "tool contacts_upsert", body: `{"email":"$a"}`, want: `{"result":"created"}`, lacks: "visitor_id"},
		{call: "tool contacts_upsert", body: `{"email":"$a","issue_visitor_id":true}`, want: `{"result":"updated"}`, keep: "visitor_id"},
		{call: "tool contacts_upsert", body: `{"email":"$a","issue_visitor_id":true,"unsubscribe_all":false}`, want: `{"visitor_id":"$1"}`},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"visitor_id":"$1"}`},
		{call: "GET /v1/contacts/$A/activities", status: 200, want: `{"data":[{"name":"site_identified","source":"site"}]}`},
		{call: "GET " + people + "/$A", status: 200, lacks: "visitor_id"},
	}},
	{"an agent archives by external id too, and what was archived is told", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a","lists":["newsletter"]}`, status: 201},
		{call: "tool contacts_archive", body: `{"external_id":"$x"}`, want: `{"archived":true}`},
		{call: "tool contacts_archive", body: `{"external_id":"$x"}`, want: `{"archived":true}`},
		{call: "tool contacts_archive", body: `{}`, code: core.CodeValidationFailed},
		{call: "GET " + people + "/$A", status: 200, want: `{"status":"archived","external_id":"$x","lists":[]}`},
	}},
	{"an agent changes lists by id or key, of a contact by any of its names, and nobody is made", []step{
		{call: "POST /v1/lists", body: `{"name":"Of $x","key":"l-$x"}`, status: 201, keep: "id"},
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 201, keep: "id"},
		{call: "tool contacts_set_list_membership", body: `{"contact":"$2","add":["$1"]}`, want: `{"lists":[{"id":"$1","key":"l-$x"}]}`},
		{call: "tool contacts_set_list_membership", body: `{"contact":"$a","remove":["l-$x"],"add":["newsletter"]}`, want: `{"lists":[{"key":"newsletter"}]}`},
		{call: "tool contacts_set_list_membership", body: `{"contact":"$x","remove":["newsletter"]}`, want: `{"lists":[]}`},
		{call: "tool contacts_set_list_membership", body: `{"contact":"$b","add":["newsletter"]}`, code: core.CodeNotFound},
		{call: "GET " + people + "/$B", status: 404, code: core.CodeNotFound},
	}},
	{"an agent searches lists, and learns how many there are", []step{
		{call: "POST /v1/lists", body: `{"name":"Findable $x","key":"fa-$x"}`, status: 201},
		{call: "POST /v1/lists", body: `{"name":"Other $x","key":"fb-$x"}`, status: 201},
		{call: "tool lists_list", body: `{"query":"findable $x"}`, want: `{"items":[{"key":"fa-$x","member_count":0}],"total":1,"truncated":false}`},
		{call: "tool lists_list", body: `{"query":"$x","limit":1}`, want: `{"items":[{"key":"fb-$x"}],"total":2,"truncated":true}`},
		{call: "tool lists_list", body: `{"query":"nothing-$x"}`, want: `{"items":[],"total":0,"truncated":false}`},
	}},
	{"an agent learns the topics, properties and the language before it writes", []step{
		{call: "tool audience_get_schema", body: `{}`, want: `{"git_connected":false}`, keep: "predicate_language"},
		{call: "tool audience_get_schema", body: `{"x":1}`, code: core.CodeValidationFailed},
	}},
}
